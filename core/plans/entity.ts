/**
 * The compiled configuration: frozen plans that a request looks up and runs. `core/config/compile-project.ts` makes
 * them once, at start, from the files and from what the database says of its tables (`column.ts`). No request changes
 * them, and no name from a request gets past them: names are looked up here.
 */
import type { AccessRules } from "./access-rules.ts";
import type { AggregatePlan } from "./aggregate-plan.ts";
import { type ChangeTables, noChanges } from "./change-tables.ts";
import type { CompositePlan } from "./composite-plan.ts";
import type { ConsolePlan } from "./console-plan.ts";
import { type DocumentTables, noDocuments } from "./document-tables.ts";
import type { ExportPlan } from "./export-plan.ts";
import type { GridPlan } from "./grid-plan.ts";
import type { Handlers } from "./hook.ts";
import type { ImportPlan } from "./import-plan.ts";
import type { LookupPlan, ReadPlan } from "./read-plan.ts";
import { type FileTables, noFileTables } from "./file-tables.ts";
import { noNumbers, type NumberTables } from "./number-tables.ts";
import type { MarkedTable, Visibility } from "./soft-delete.ts";
import { noStatuses, type StatusTables } from "./status-tables.ts";
import type { ProcedurePlan } from "./procedure-plan.ts";
import type { Messages } from "./messages.ts";
import type { QueryParams } from "./query-params.ts";
import type { RelationPlan } from "./relation.ts";
import type { WorkflowPlan } from "./workflow-plan.ts";
import type { AdjustPlan, InsertPlan, WritePlan } from "./write-plan.ts";
import type { Rules } from "../rules/compile-rules.ts";
import type { Decimals } from "../values/types/type-definition.ts";

/** The project's settings for the requests and answers of all its endpoints. */
export interface RequestSettings {
  /** How answers show decimals and 64-bit integers. */
  readonly decimals: Decimals;
  /** What becomes of members of a request that its action does not know. */
  readonly unknownMembers: "refuse" | "ignore";
  /** Longest time of a lock that a client takes. */
  readonly lockTtlSecondsMax: number;
  /** Rows that a page with a number, or a grid's start, may skip. */
  readonly offsetMax: number;
  /** Whose days and hours aggregate groups timestamps by, if a request names no other. */
  readonly timeZone: string;
  /** Records of one bulk request. */
  readonly bulkRecordsMax: number;
  /** Texts in other languages than English. */
  readonly messages: Messages;
  /** Whether messages about fields are answered as data too. */
  readonly errorDetails: boolean;
}

/** One configured endpoint, compiled. */
export interface Entity {
  readonly project: string;
  /** The endpoint: the file's name, and a segment of the URL. */
  readonly name: string;
  /** Differs when anything differs that decides what an answer holds. */
  readonly definition: string;
  /** Names of the catalog's actions that the configuration switches on. */
  readonly enabled: ReadonlySet<string>;
  readonly settings: RequestSettings;
  /** Display names of fields, by field name; most fields have no label. */
  readonly labels: ReadonlyMap<string, string>;
  /** The values that requests and claims give to its queries; null: they take none. */
  readonly params: QueryParams | null;
  /** Null: the console shows it as any other. */
  readonly console: ConsolePlan | null;
  readonly read: ReadPlan | null;
  /** By name; to the records of other endpoints, or of this one. */
  readonly relations: ReadonlyMap<string, RelationPlan>;
  readonly write: WritePlan | null;
  /** `write` itself if there is one. */
  readonly insert: InsertPlan | null;
  readonly rules: Rules;
  readonly procedure: ProcedurePlan | null;
  readonly adjust: AdjustPlan | null;
  readonly lookup: LookupPlan | null;
  readonly aggregate: AggregatePlan | null;
  readonly grid: GridPlan | null;
  readonly composite: CompositePlan | null;
  readonly workflow: WorkflowPlan | null;
  /** What each role may do; null where the project needs no credentials. */
  readonly access: AccessRules | null;
  /** The operator's own functions around the writes. */
  readonly handlers: Handlers;
  readonly export: ExportPlan | null;
  readonly importing: ImportPlan | null;
  /** Null: no table of its statements has soft delete. */
  readonly visibility: Visibility | null;
  /** How delete marks its rows, and restore takes the marks away; null = delete removes them. */
  readonly marking: MarkedTable | null;
  /** Formulas and totals of the project's tables. */
  readonly documents: DocumentTables;
  /** The tables of the project whose changes are recorded. */
  readonly changes: ChangeTables;
  /** The tables of the project whose statuses have rules. */
  readonly statuses: StatusTables;
  /** The tables of the project whose records get numbers. */
  readonly numbers: NumberTables;
  /** The tables of the project whose records have files. */
  readonly files: FileTables;
}

/** Before the rules of all endpoints of the project are known. */
export const noTableRules = {
  documents: noDocuments,
  changes: noChanges,
  statuses: noStatuses,
  numbers: noNumbers,
  files: noFileTables,
} satisfies Partial<Entity>;

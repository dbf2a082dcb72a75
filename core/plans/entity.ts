/**
 * The compiled configuration: frozen plans that a request looks up and runs. `core/config/compile-project.ts` makes
 * them once, at start, from the files and from what the database says of its tables (`column.ts`). No request changes
 * them, and no name from a request gets past them: names are looked up here.
 */
import type { Column, Columns, Source, Table } from "../values/column.ts";
import type { Key } from "../values/key.ts";
import type { AccessRules } from "./access-rules.ts";
import type { Handlers } from "./hook.ts";
import type { Rules } from "../rules/compile-rules.ts";
import type {
  AggregateFunction,
  Computation,
  Condition,
  Join,
  Output,
  ParameterQuery,
  Sort,
} from "../query/statement.ts";
import type { Decimals } from "../values/type-definition.ts";
import type { MarkedTable, Visibility } from "./soft-delete.ts";
import type { JsonTemplate, Template } from "./templates.ts";

/** The audit columns that the table really has; an absent one is skipped. */
export interface AuditColumns {
  readonly createdAt: Column | null;
  readonly createdBy: Column | null;
  readonly updatedAt: Column | null;
  readonly updatedBy: Column | null;
}

/** One field that `adjust` may change, and the smallest result that it may have. */
export interface AdjustField {
  readonly column: Column;
  /** Exact decimal text; null = no minimum beyond the column's own range. */
  readonly min: string | null;
}

export interface AdjustPlan {
  readonly reasonRequired: boolean;
  readonly fields: ReadonlyMap<string, AdjustField>;
}

/** A column of the header that is computed from its details. */
export interface HeaderTotal {
  readonly column: Column;
  readonly function: AggregateFunction;
  /** What to ask the database: of an average, the sum and the number of values. */
  readonly outputs: readonly Output[];
}

/** One table of details of a composite. */
export interface DetailPlan {
  readonly table: Table;
  /** The whole key, which may hold `foreignKey`. */
  readonly key: Key;
  /** The columns of the key that name a detail within its header: all but `foreignKey`. At least one where details are written. */
  readonly lineKey: Key;
  /** `lineKey` by name: it has its own rules and is checked separately. */
  readonly keyColumns: Columns;
  /** The column that holds the header's key. */
  readonly foreignKey: Column;
  /** See `WritePlan`. */
  readonly shown: Columns;
  /** See `InsertPlan`; about `lineKey`. */
  readonly namesRecords: boolean;
  readonly writable: Columns;
  readonly audit: AuditColumns;
  readonly rules: Rules;
  /** The operator's own query of the details; null = they are read from the table. */
  readonly query: ParameterQuery | null;
  /** Names of what the query gives that answers show. */
  readonly queryShown: readonly string[];
  /** The order of details that are read from the table. */
  readonly sort: readonly Sort[];
  /** In an order in which each finds the results that it needs. */
  readonly computed: readonly Computation[];
  readonly totals: readonly HeaderTotal[];
  /** See `InsertPlan`. */
  readonly flag: Column | null;
  /** How details are marked instead of deleted; null = they are deleted. */
  readonly marking: MarkedTable | null;
}

/** What the composite actions need besides the plans of the header. */
export interface CompositePlan {
  /** At least one. The name of its table is the member of the header's object that holds the details. */
  readonly details: readonly DetailPlan[];
  /** Fields of the header that a body may set: those of its WritePlan, less the totals. */
  readonly writable: Columns;
}

/** Details that `delete` removes before their header. */
export interface Cascade {
  readonly table: Table;
  /** The detail column that holds the header's key. */
  readonly foreignKey: Column;
  readonly key: Key;
}

/** What create needs. */
export interface InsertPlan {
  readonly table: Table;
  /** Empty: the table has no key. */
  readonly key: Key;
  /** `key` by name: it has its own rules and is checked separately. Always the same map. */
  readonly keyColumns: Columns;
  /** Columns of the table that answers show: fieldName, the key and the audit columns, less the hidden ones. */
  readonly shown: Columns;
  /** Fields that a body may set: fieldName, less the key and the computed, read-only and audit columns. */
  readonly writable: Columns;
  readonly audit: AuditColumns;
  /** The flag of soft delete, where nothing but the service fills it in a new row; null = there is nothing to fill. */
  readonly flag: Column | null;
  /** True when reading goes through a view or query, so that a written record is read back through it. */
  readonly readBack: boolean;
  /** Whether a request may name a record by its key; false for a caller from whom the key is hidden. */
  readonly namesRecords: boolean;
}

/** What the other writing actions need; present only for an entity with a table that has a key. */
export interface WritePlan extends InsertPlan {
  /** One for each table of details that goes with its header; empty = none. */
  readonly cascades: readonly Cascade[];
}

/** What the reading actions need. */
export interface ReadPlan {
  readonly source: Source;
  /** Columns that a request may name and that answers show, in order. */
  readonly columns: Columns;
  /** The columns of the key, when the source has them all; empty = none: `core/lists/order.ts` ends every order with them. */
  readonly key: Key;
  /** What the operator adds to every read; a request can only narrow it. */
  readonly scope: Condition | null;
  /** Versions in the cache that a write under the source raises, as `dependenciesOf` in `core/cache/cache.ts` names them. */
  readonly dependsOn: readonly string[];
  /** The columns that say when the row changed last; null where the source lacks them. */
  readonly updatedAt: Column | null;
  readonly createdAt: Column | null;
}

/** What lookup needs. */
export interface LookupPlan {
  readonly source: Source;
  readonly id: Column;
  /** The label; joined of several columns where the configuration says so. */
  readonly text: Column;
  /** True: a search finds labels that begin with its text; false: that contain it. */
  readonly matchesPrefix: boolean;
  /** True: a search finds labels with other accents than its text. */
  readonly ignoresAccents: boolean;
  /** Columns that a request may name. */
  readonly columns: Columns;
  /** See `ReadPlan`. */
  readonly key: Key;
  /** What the operator adds to every lookup. */
  readonly scope: Condition | null;
  /** See `ReadPlan`. */
  readonly dependsOn: readonly string[];
}

/** What the grid needs. */
export interface GridPlan {
  readonly source: Source;
  /** Columns that a request may name and that rows show, in order. */
  readonly columns: Columns;
  /** Those of them that the search over all columns looks at. */
  readonly searched: Columns;
  /** Fields whose values every answer offers to the extensions SearchPanes, SearchBuilder and ColumnControl. */
  readonly paneColumns: readonly Column[];
  readonly builderColumns: readonly Column[];
  readonly listColumns: readonly Column[];
  /** Names with dots, as `a.b`, and the path of each in a row. */
  readonly nestedNames: ReadonlyMap<string, readonly string[]>;
  /** The fields whose texts become DT_RowId, joined with `_`; empty = none. */
  readonly rowId: readonly Column[];
  /** True: searches look for each word of their text; false: for the text as it is. */
  readonly searchesWords: boolean;
  /** True: a length of -1, or above the maximum, is the maximum; false: it is refused. */
  readonly clampsLength: boolean;
  /** True: an error is answered with status 200, so that the grid shows its text. */
  readonly showsErrorsInline: boolean;
  /** See `ReadPlan`. */
  readonly dependsOn: readonly string[];
  /** See `ReadPlan`. */
  readonly key: Key;
}

/** How the file of an export shows the values of a column; the writers of `jobs/workbook` know the patterns. */
export interface ExportFormat {
  readonly type: "text" | "number" | "boolean" | "date" | "datetime";
  readonly pattern?: string;
  readonly trueLabel?: string;
  readonly falseLabel?: string;
}

export interface ExportColumn {
  readonly column: Column;
  readonly heading: string;
  /** Null: a value is written as what it is. */
  readonly format: ExportFormat | null;
}

/** What export needs. */
export interface ExportPlan {
  readonly source: Source;
  /** Columns that a request may name. */
  readonly columns: Columns;
  /** What the file holds, in order; at least one. */
  readonly exported: readonly ExportColumn[];
  /** Whether csv has an apostrophe before texts that a spreadsheet would run. */
  readonly csvFormulas: "escape" | "keep";
  /** See `ReadPlan`. */
  readonly key: Key;
  /** What the operator adds to every export. */
  readonly scope: Condition | null;
}

/** A column of the file that holds names; each stands for the key of a row in another table. */
export interface ImportLookup {
  /** What stands above the column. */
  readonly heading: string;
  /** The entity's column that gets the key. */
  readonly target: Column;
  readonly table: Table;
  /** Of `table`: where the name stands, and the key. */
  readonly name: Column;
  readonly id: Column;
  /** False: a name that is not found becomes null. */
  readonly isRequired: boolean;
}

/** What the database asks of the rows that it stores, as far as an import can look it up before. */
export interface ImportConstraints {
  readonly references: readonly ImportReference[];
  /** Columns whose values no two rows have together; the primary key among them. */
  readonly uniques: readonly (readonly Column[])[];
  /** Columns that are neither null nor filled by the database or the service. */
  readonly needed: readonly Column[];
}

/** Columns whose values must be those of a row of another table, or of the same one. */
export interface ImportReference {
  readonly columns: readonly Column[];
  readonly table: Table;
  /** Of `table`, in the order of `columns`. */
  readonly referenced: readonly Column[];
  /** True: `table` is the one that is imported into. */
  readonly isOwn: boolean;
}

/** The texts of a file that stand for true and false. */
export interface BooleanWords {
  /** In lower case. */
  readonly meanings: ReadonlyMap<string, boolean>;
  /** What a new file should say for true, and for false. */
  readonly offered: readonly [yes: string, no: string];
}

/** What import needs. */
export interface ImportPlan {
  readonly write: WritePlan;
  /** What stands above a column of the file, in lower case, and what the column is for: the writable fields, the key, and names. */
  readonly headings: ReadonlyMap<string, Column | ImportLookup>;
  /** The headings that a new file should have, in order. */
  readonly template: readonly string[];
  /** What tells whether a row is there already; none = every row is new. */
  readonly upsertKeys: Columns;
  /** No unique index keeps `upsertKeys` apart, so that a commit keeps other writers out. */
  readonly locksTable: boolean;
  readonly strategy: "update_existing" | "insert_only" | "skip_existing";
  readonly constraints: ImportConstraints;
  /** Fields that every row must fill. */
  readonly required: readonly Column[];
  /** Texts that stand for true and false, by column. */
  readonly words: ReadonlyMap<Column, BooleanWords>;
  readonly fileBytesMax: number;
  /** Rows that import-upload shows. */
  readonly previewRows: number;
}

/** A join that the configuration declares. */
export interface DeclaredJoin {
  /** `identity` of the joined table. */
  readonly identity: string;
  readonly tableName: string;
  readonly join: Join;
  /** Columns of the joined table that a request may name. */
  readonly fields: Columns;
}

/** A table of another entity, with the columns that the other one shows. */
export interface JoinableTable {
  /** The other endpoint. */
  readonly endpoint: string;
  readonly name: string;
  readonly source: Source;
  readonly columns: Columns;
}

/** What aggregate needs. */
export interface AggregatePlan {
  readonly source: Source;
  readonly columns: Columns;
  readonly joins: ReadonlyMap<string, DeclaredJoin>;
  readonly tables: readonly JoinableTable[];
}

/** A call to another service around a change of status. */
export interface StatusHook {
  /** `onBefore:<name>` or `onAfter:<name>`, as answers show it. */
  readonly label: string;
  /** Its place in the configuration's list, from 0: names may be there twice. */
  readonly index: number;
  readonly method: string;
  /** A whole URL, or a path of this service. */
  readonly url: Template;
  readonly headers: Readonly<Record<string, string>>;
  /** Null = none. */
  readonly body: JsonTemplate | null;
  /** True: the change waits for it, and is undone when it fails. */
  readonly isBlocking: boolean;
  readonly timeoutMs: number;
}

/** What change-status and next-statuses need. */
export interface WorkflowPlan {
  /** The column of the status, alone: as a body may set it. */
  readonly fields: Columns;
  readonly status: Column;
  /** As the configuration names it. */
  readonly tableName: string;
  /** For each status, those that may follow; null = any may. */
  readonly transitions: ReadonlyMap<string, readonly string[]> | null;
  /** By the status that a record changes to. */
  readonly hooks: ReadonlyMap<
    string,
    { readonly onBefore: readonly StatusHook[]; readonly onAfter: readonly StatusHook[] }
  >;
}

/** What the project's settings say of the requests and answers of all its endpoints. */
export interface RequestSettings {
  /** How answers show decimals and 64-bit integers. */
  readonly decimals: Decimals;
  /** What becomes of members of a request that its action does not know. */
  readonly unknownMembers: "refuse" | "ignore";
  /** Longest time of a lock that a client takes. */
  readonly lockTtlSecondsMax: number;
  /** Rows that a page with a number, or a grid's start, may skip. */
  readonly offsetMax: number;
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
  /** What people call a field, by its name; most fields have no label. */
  readonly labels: ReadonlyMap<string, string>;
  readonly read: ReadPlan | null;
  readonly write: WritePlan | null;
  /** `write` itself where there is one. */
  readonly insert: InsertPlan | null;
  readonly rules: Rules;
  readonly adjust: AdjustPlan | null;
  readonly lookup: LookupPlan | null;
  readonly aggregate: AggregatePlan | null;
  readonly grid: GridPlan | null;
  readonly composite: CompositePlan | null;
  readonly workflow: WorkflowPlan | null;
  /** What each role may do; null where the project asks nobody for credentials. */
  readonly access: AccessRules | null;
  /** The operator's own functions around the writes. */
  readonly handlers: Handlers;
  readonly export: ExportPlan | null;
  readonly importing: ImportPlan | null;
  /** Null: no table of its statements has soft delete. */
  readonly visibility: Visibility | null;
  /** How delete marks its rows, and restore takes the marks away; null = delete removes them. */
  readonly marking: MarkedTable | null;
}

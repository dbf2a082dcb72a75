/**
 * Checks that the database would execute the statements of an endpoint's actions: the rights of its user, and rules
 * that replace statements. A missing right is a fault at start instead of an error in a request.
 */
import { switchedOn } from "../../actions.ts";
import type { Requirement } from "../../calls/requirement.ts";
import type { AuditColumns } from "../../plans/audit-columns.ts";
import type { CompositePlan } from "../../plans/composite-plan.ts";
import type { InsertPlan } from "../../plans/write-plan.ts";
import type { ReadPlan } from "../../plans/read-plan.ts";
import type { MarkColumns } from "../../plans/soft-delete.ts";
import type { Column, Columns, Source, Table, TableRefusal } from "../../values/types/column.ts";
import type { Path } from "../reading/faults.ts";
import type { Reading } from "../compiling/plans.ts";
import type { Survey } from "../compiling/survey.ts";

export interface Used {
  readonly write: InsertPlan | null;
  readonly read: ReadPlan | null;
  readonly reading: Reading | null;
  readonly composite: CompositePlan | null;
  /** What delete and restore write; null = delete removes rows. */
  readonly marks: MarkColumns | null;
}

/** Adds a fault for each kind of statement that the database refuses on a table of the endpoint. */
export function checkRights(survey: Survey, used: Used): void {
  const { write, read, reading, composite, marks } = used;
  if (reading !== null && read !== null && reading.refusals.length > 0) {
    const path = [reading.property];
    const table = { name: nameOf(read.source), refusals: reading.refusals };
    checkStatement(survey, table, { path, statement: "select", columns: read.columns, who: "" });
  }
  if (write !== null) checkWrites(survey, write, marks);
  for (const { table, shown, writable, audit } of composite?.details ?? []) {
    const about = { path: ["masterDetail"], own: { writable, audit } };
    checkStatement(survey, table, { ...about, statement: "select", columns: shown, who: "" });
    // Details are never written through a view, which is a fault by itself.
    if (table.kind === "view") continue;
    const verbs = [
      ["insert", ["create-composite", "update-composite"]],
      ["update", ["update-composite"]],
      ["delete", ["update-composite"]],
    ] as const;
    for (const [statement, names] of verbs) {
      const who = names.filter((name) => survey.payload.action[name] === true).join(", ");
      const columns = written(statement, { writable, audit });
      if (who !== "") checkStatement(survey, table, { ...about, statement, columns, who });
    }
  }
}

const verbs: readonly (readonly [Requirement, "insert" | "update" | "delete"])[] = [
  ["inserts", "insert"],
  ["updates", "update"],
  ["deletes", "delete"],
];

/** With soft delete, rows are marked by an UPDATE. */
const markingVerbs: typeof verbs = [
  ...verbs.slice(0, 2),
  ["deletes", "update"],
  ["softDelete", "update"],
];

function checkWrites(
  survey: Survey,
  { table, writable, audit }: Pick<InsertPlan, "table" | "writable" | "audit">,
  marks: MarkColumns | null,
): void {
  for (const [requirement, statement] of marks ? markingVerbs : verbs) {
    const names = switchedOn(survey.payload.action, ({ requires }) => requires.has(requirement));
    if (names.length === 0) continue;
    const isMark = requirement === "deletes" || requirement === "softDelete";
    const columns = marks && isMark ? named(marks) : written(statement, { writable, audit });
    checkStatement(survey, table, {
      path: ["tableName"],
      statement,
      columns,
      who: names.join(", "),
    });
  }
}

const named = (marks: MarkColumns): Columns =>
  new Map(
    Object.values(marks).flatMap((column: Column | null) =>
      column === null ? [] : [[column.name, column] as const],
    ),
  );

/** The columns that our statement may set. */
function written(
  statement: "insert" | "update" | "delete",
  { writable, audit }: { readonly writable: Columns; readonly audit: AuditColumns },
): Columns {
  const own = audit.filter(({ when }) => (when === "create") === (statement === "insert"));
  return new Map([...writable, ...own.map(({ column }) => [column.name, column] as const)]);
}

interface Asked {
  readonly path: Path;
  readonly statement: TableRefusal["statement"];
  /** The columns that the statement names. */
  readonly columns: Columns;
  /** The actions that need it; empty = all of them. */
  readonly who: string;
}

function checkStatement(
  survey: Survey,
  { name, refusals = [] }: Pick<Table, "name" | "refusals">,
  { path, statement, columns, who }: Asked,
): void {
  for (const refusal of refusals) {
    if (refusal.statement !== statement) continue;
    const refused = refusal.columns?.filter((column) => columns.has(column)) ?? null;
    if (refused?.length === 0) continue;
    const all = refused === null || refused.length === columns.size;
    const found = all
      ? `${name}, ${refusal.reason}`
      : `${name}, ${refusal.reason} the columns ${refused.join(", ")}`;
    const purpose = who === "" ? "" : ` for ${who}`;
    survey.fault(path, {
      found,
      expected: `a table on which the database carries out ${statement.toUpperCase()}${purpose}`,
      ...(all ? {} : { hint: "or leave these columns out of fieldName" }),
    });
  }
}

const nameOf = (source: Source): string => (source.kind === "table" ? source.name : "the query");

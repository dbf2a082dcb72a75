/**
 * Checks an entity before it is served: the columns that its lists name exist, and each action that is switched on has
 * what it needs.
 */
import type { Requirement } from "../../calls/requirement.ts";
import { switchedOn } from "../../actions.ts";
import type { Table } from "../../values/types/column.ts";
import type { WritePlan } from "../../plans/write-plan.ts";
import type { LineColumns } from "../compiling/compile-composite.ts";
import {
  areUnique,
  type Keys,
  nameOneRow,
  keyColumns,
  takesWrites,
} from "../compiling/key-plan.ts";
import { withPathsOf } from "../compiling/named-paths.ts";
import { forEverybody, type Reading } from "../compiling/plans.ts";
import type { FoundQuery, Survey } from "../compiling/survey.ts";

/**
 * Checks that the columns in lists exist. `grid` is the datatablesQuery and `exported` the exportQuery, which may have
 * further columns.
 */
export function checkNames(
  survey: Survey,
  {
    table,
    reading,
    grid,
    exported,
    lines,
  }: {
    table: Table | null;
    reading: Reading | null;
    grid: FoundQuery | null | undefined;
    exported: FoundQuery | null | undefined;
    /** Of the details, which `hiddenFields` and `readOnlyFields` are about as well. */
    lines: LineColumns | null;
  },
): void {
  const { payload } = survey;
  const own = table?.columns ?? reading?.columns;
  const ofOwn = table ? `the table ${table.name}` : (reading?.label ?? "");
  if (own) {
    if (payload.primaryKey !== undefined) {
      keyColumns(survey, payload.primaryKey, { columns: own, path: ["primaryKey"], of: ofOwn });
    }
    const takenBySome = lines && new Map([...lines.written, ...own]);
    const of = lines?.written.size === 0 ? ofOwn : `${ofOwn} or of its details`;
    if (takenBySome)
      survey.columns(forEverybody(payload.readOnlyFields), takenBySome, ["readOnlyFields"], of);
  }
  // The columns of a refused source are not known, so names cannot be checked.
  if (!own || grid === null || exported === null) return;
  const inUse = withPathsOf(
    survey,
    new Map([
      ...(grid?.columns ?? []),
      ...(exported?.columns ?? []),
      ...(reading?.columns ?? []),
      ...own,
    ]),
  );
  const ofAll = "what the endpoint reads or writes";
  const isTableAlone = own.size === inUse.size;
  const ofFields = isTableAlone ? ofOwn : ofAll;
  survey.columns(payload.fieldName ?? [], new Map(inUse), ["fieldName"], ofFields);
  if (lines) {
    const shownBySome = new Map([...lines.shown, ...inUse]);
    survey.columns(forEverybody(payload.hiddenFields), shownBySome, ["hiddenFields"], ofAll);
  }
  survey.columns(payload.datatablesWhere ?? [], inUse, ["datatablesWhere"], ofAll);
  for (const property of ["fieldLabels", "columnFormats"] as const) {
    for (const name of Object.keys(payload[property] ?? {})) {
      survey.column(name, inUse, [property, name], ofAll);
    }
  }
}

/** What the actions that are switched on need of their entity. */
export function checkActions(
  survey: Survey,
  {
    found,
    hasReading,
    keys,
    write,
  }: { found: Table | null; hasReading: boolean; keys: Keys; write: WritePlan | null },
): void {
  const { payload } = survey;
  const needing = (...requirements: Requirement[]): string[] =>
    switchedOn(payload.action, ({ requires }) => requirements.some((one) => requires.has(one)));
  const keyed = needing("key");
  const writes = needing("key", "table");
  const who = writes.join(", ");
  if (writes.length > 0 && payload.tableName === undefined) {
    survey.fault(["tableName"], { expected: `the table for ${who}` });
  } else if (writes.length > 0 && found?.kind === "view") {
    checkView(survey, found, { who, keys });
  } else if (writes.length > 0 && found) {
    checkKey(survey, found, { who, write });
  }
  const named = keyed.length > 0 ? keyed : needing("locks");
  if (found?.kind === "table" && keys.names.length === 0)
    checkKeyless(survey, found, named.join(", "));
  // An exportQuery is a separate source.
  const reads =
    payload.exportQuery === undefined ? needing("source", "exportSource") : needing("source");
  const hasSource = (payload.viewName ?? payload.viewQuery ?? payload.tableName) !== undefined;
  if (reads.length > 0 && !hasReading && !hasSource) {
    survey.fault(["tableName"], {
      expected: `a tableName, viewName or viewQuery for ${reads.join(", ")}`,
    });
  }
  const hasGridSource = (payload.datatablesQuery ?? payload.tableName) !== undefined;
  const settings: readonly (readonly [Requirement, string, boolean, string])[] = [
    ["gridSource", "datatablesQuery", hasGridSource, "a datatablesQuery or a tableName"],
    ["adjustConfig", "adjustConfig", payload.adjustConfig !== undefined, "the fields"],
    ["masterDetail", "masterDetail", payload.masterDetail !== undefined, "the details"],
    ["procedure", "procedure", payload.procedure !== undefined, "the procedure"],
    ["numbers", "numbers", payload.numbers !== undefined, "the columns"],
    ["history", "history", payload.history, "true"],
    ["files", "files", payload.files !== undefined, "the columns"],
  ];
  for (const [requirement, property, isThere, expected] of settings) {
    const names = needing(requirement);
    if (names.length > 0 && !isThere)
      survey.fault([property], { expected: `${expected} for ${names.join(", ")}` });
  }
  const moves = needing("status");
  if (payload.workflow === undefined && moves.includes("change-status")) {
    survey.fault(["workflow"], {
      expected:
        "the statuses for change-status ({} allows every change of the column status; statusField names another)",
    });
  } else if (
    moves.length > 0 &&
    payload.workflow === undefined &&
    found &&
    !found.columns.has("status")
  ) {
    survey.fault(["workflow"], {
      expected: `a workflow.statusField for ${moves.join(", ")}, because the table has no column named status`,
    });
  }
  checkTransactions(survey, needing("transactions"), found);
}

/** The database knows no key of a view, so the configuration names one, trusted until a write finds several rows. */
function checkView(survey: Survey, view: Table, { who, keys }: { who: string; keys: Keys }): void {
  if (!takesWrites(view))
    survey.fault(["tableName"], {
      found: `the view ${view.name}, on which the database carries out no INSERT, UPDATE or DELETE`,
      expected: `a table for ${who} (the view goes into viewName)`,
    });
  else if (keys.names.length === 0)
    survey.fault(["primaryKey"], {
      expected: `the columns that tell the rows of the view ${view.name} apart, for ${who}`,
    });
}

function checkKey(
  survey: Survey,
  table: Table,
  { who, write }: { who: string; write: WritePlan | null },
): void {
  const { payload } = survey;
  if (write === null) return;
  const names = write.key.map(({ name }) => name);
  if (!nameOneRow(table, names)) {
    survey.fault(["primaryKey"], {
      found: looseKey(table, names),
      expected: `${names.length === 1 ? "a column that identifies" : "columns that together identify"} a single row, for ${who} (unique and NOT NULL in the database)`,
    });
  }
  const isView = payload.viewName !== undefined || payload.viewQuery !== undefined;
  if (isView && !write.readBack) {
    const lacks =
      names.length === 1
        ? `has no column ${names[0]}`
        : `does not have all columns of the key ${names.join(", ")}`;
    survey.notice(
      `the view or query ${lacks}: answers to writes show the columns of the table instead`,
    );
  }
}

/** A key by which one request could change several rows, or none. */
function looseKey(table: Table, names: readonly string[]): string {
  const key = names.join(", ");
  const { primaryKey } = table;
  if (areUnique(table, names)) return `${key}, which may be null in the database`;
  if (names.length >= primaryKey.length || !names.every((name) => primaryKey.includes(name)))
    return `${key}, which the database does not keep unique`;
  return `${key}, ${names.length === 1 ? "one" : "some"} of the ${primaryKey.length} columns of the primary key`;
}

/** Rows without a key can be read and exported, and added if the database returns the stored row. */
function checkKeyless(survey: Survey, { name }: Table, who: string): void {
  const found = `the table ${name}, which has no key`;
  const way = "a primary key, or a first field that is unique and NOT NULL";
  if (who !== "") survey.fault(["tableName"], { found, expected: `${way}, for ${who}` });
  else if (survey.payload.action["create"] === true && !survey.answersStoredRows)
    survey.fault(["tableName"], {
      found,
      expected: `${way}, for create: this database does not answer the row that it stored`,
    });
}

/** Storage without transactions could keep half of the rows after an error. */
function checkTransactions(survey: Survey, names: readonly string[], table: Table | null): void {
  if (!table || table.transactional) return;
  const expected = "a table whose storage has transactions";
  const found = `${table.name}, whose storage cannot roll back a change`;
  for (const name of names) survey.fault(["action", name], { found, expected });
  const details = survey.payload.masterDetail ?? [];
  const several = Array.isArray(details);
  for (const [at, { cascadeDelete }] of (several ? details : [details]).entries()) {
    if (cascadeDelete)
      survey.fault(["masterDetail", ...(several ? [at] : []), "cascadeDelete"], {
        found,
        expected,
      });
  }
}

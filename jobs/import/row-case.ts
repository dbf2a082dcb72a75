/** A row of a file while it is judged: the request body that it stands for, and the faults of its cells. */
import type { Column } from "../../core/values/column.ts";
import type { Entity, ImportPlan } from "../../core/plans/entity.ts";
import type { FieldErrors } from "../../core/values/errors.ts";
import type { FileColumn } from "../../core/jobs/import-columns.ts";
import type { Cell } from "../../core/plans/workbooks-port.ts";
import type { Scalar } from "../../core/values/scalar.ts";
import { fieldValue } from "./field-value.ts";
import type { KeyValue } from "../../core/values/key.ts";
import type { Names } from "./lookups.ts";
import type { FileRow } from "./row-batches.ts";
import type { RowFault } from "./row-fault.ts";

/** A row while it is judged. */
export interface Case {
  readonly row: FileRow;
  /** What a client would have sent, by field; undefined where the cell is empty. */
  readonly body: Record<string, unknown>;
  /** Fields whose cell is empty. */
  readonly empty: Column[];
  readonly faults: RowFault[];
  /** Names of fields about which something is said already. */
  readonly faulty: string[];
  /** Values of the upsert keys as they would be stored; null where the row has none, or a faulty one. */
  key: KeyValue | null;
  /** Columns of the file, by the fields that they fill. */
  readonly fileColumns: ReadonlyMap<string, FileColumn>;
}

/** What the cells of a row are read by. */
export interface CaseOptions {
  readonly entity: Entity;
  readonly plan: ImportPlan;
  readonly columns: readonly FileColumn[];
}

/** Gives the function that reads a row; `names` has learned the names in it. */
export function createCaseReader(
  { entity, plan, columns }: CaseOptions,
  names: Pick<Names, "find">,
): (row: FileRow) => Case {
  const fileColumns = new Map(columns.map((column) => [column.column.name, column]));
  /** Its copies share one shape, which an object that grows field by field does not. */
  const blank = Object.fromEntries(columns.map(({ column }) => [column.name, undefined]));
  return (row) => {
    const body: Record<string, unknown> = { ...blank };
    const one: Case = { row, body, empty: [], faults: [], faulty: [], key: null, fileColumns };
    for (const column of columns) readCell(one, column, { plan, names });
    for (const column of plan.required)
      if (one.empty.includes(column)) addFault(one, column, "is required");
    one.key = readKey(one, { entity, plan });
    return one;
  };
}

function readCell(
  one: Case,
  { place, column, lookup }: FileColumn,
  { plan, names }: { plan: ImportPlan; names: Pick<Names, "find"> },
): void {
  const cell = one.row.values[place] ?? null;
  if (typeof cell === "object" && cell !== null)
    return addFault(one, column, `the cell has no value: ${cell.error}`);
  const value = fieldValue(lookup ? lookup.name : column, cell, plan.words.get(column)?.meanings);
  if (value === undefined || (lookup && String(value).trim() === "")) one.empty.push(column);
  else if (!lookup) one.body[column.name] = value;
  else {
    const found = names.find(lookup, cell);
    if (found.kind === "key") one.body[column.name] = found.key;
    else if (found.kind === "none" && !lookup.isRequired) one.empty.push(column);
    else addFault(one, column, notFoundMessage(found.kind, cell));
  }
}

/** The values that tell whether the record is there, as they would be stored. */
function readKey(
  one: Case,
  { entity, plan }: Pick<CaseOptions, "entity" | "plan">,
): KeyValue | null {
  const { upsertKeys } = plan;
  if (upsertKeys.size === 0) return null;
  const { values, errors } = entity.rules.check(one.body, "update", upsertKeys);
  addFieldErrors(one, errors);
  const key: Scalar[] = [];
  for (const column of upsertKeys.values()) {
    const value = values.get(column) ?? null;
    const isFaulty = one.faulty.includes(column.name) || Object.hasOwn(errors ?? {}, column.name);
    if (value !== null) key.push(value);
    else if (!isFaulty) addFault(one, column, "is required, because it identifies the record");
  }
  return key.length === upsertKeys.size && !errors ? key : null;
}

/** Further rule errors of the field would only repeat it. */
function addFault(one: Case, column: Column, message: string): void {
  addMessage(one, column, message);
  one.faulty.push(column.name);
}

/** Adds what the rules say of the fields about which nothing is said yet. */
export function addFieldErrors(one: Case, errors: FieldErrors | null): void {
  for (const [name, texts] of Object.entries(errors ?? {})) {
    if (one.faulty.includes(name)) continue;
    for (const text of texts) addMessage(one, { name }, text);
  }
}

/** Adds a message about a field, by its heading, unless it is there. */
export function addMessage(
  { faults, fileColumns }: Case,
  { name }: Pick<Column, "name">,
  text: string,
): void {
  const { heading = name, place = null } = fileColumns.get(name) ?? {};
  const fault = { text: `${heading}: ${text}`, place };
  if (!faults.some((other) => other.text === fault.text)) faults.push(fault);
}

function notFoundMessage(kind: "none" | "several", cell: Cell): string {
  const name = String(cell).slice(0, 100);
  return kind === "none" ? `there is no "${name}"` : `there are several "${name}"`;
}

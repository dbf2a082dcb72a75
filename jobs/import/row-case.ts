/** A row of a file while it is judged: the equivalent request body, and the faults of its cells. */
import { columnTypes } from "../../core/values/types/column-types.ts";
import type { Cell } from "../../core/plans/workbooks-port.ts";
import { headingKey } from "../../core/values/text.ts";
import type { Column } from "../../core/values/types/column.ts";
import type { Entity } from "../../core/plans/entity.ts";
import type { ImportPlan } from "../../core/plans/import-plan.ts";
import type { FieldWording } from "../../core/calls/wording.ts";
import type { FieldErrors } from "../../core/values/errors.ts";
import type { FileColumn } from "../../core/jobs/import-columns.ts";
import type { Scalar } from "../../core/values/scalar.ts";
import type { KeyValue } from "../../core/values/types/key.ts";
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
  /** Names of fields that have a message already. */
  readonly faulty: string[];
  /** Values of the upsert keys as they would be stored; null where the row has none, or a faulty one. */
  key: KeyValue | null;
  readonly words: FieldWording;
  /** Columns of the file, by the fields that they fill. */
  readonly fileColumns: ReadonlyMap<string, FileColumn>;
  /** Whether the caller may know the column. */
  knows(name: string): boolean;
}

/** What is needed to read the cells of a row. */
export interface CaseOptions {
  readonly entity: Entity;
  readonly plan: ImportPlan;
  readonly columns: readonly FileColumn[];
  /** The language of messages about fields. */
  readonly words: FieldWording;
}

/** Returns the function that reads a row; `names` must know the names in it. */
export function createCaseReader(
  { entity, plan, columns, words }: CaseOptions,
  names: Pick<Names, "find">,
): (row: FileRow) => Case {
  const fileColumns = new Map(columns.map((column) => [column.column.name, column]));
  /** Copies of it share one hidden class, unlike objects that grow field by field. */
  const blank = Object.fromEntries(columns.map(({ column }) => [column.name, undefined]));
  const { shown, writable } = plan.write;
  const knows = (name: string): boolean => shown.has(name) || writable.has(name);
  return (row) => {
    const body: Record<string, unknown> = { ...blank };
    const one: Case = {
      row,
      body,
      empty: [],
      faults: [],
      faulty: [],
      key: null,
      words,
      fileColumns,
      knows,
    };
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

/** Whether the row has no values that could identify a record, and needs none. */
export const isNew = ({ empty }: Case, { upsertKeys, makesKeys }: ImportPlan): boolean =>
  makesKeys && [...upsertKeys.values()].every((column) => empty.includes(column));

/** The values that identify the record, as they would be stored. */
function readKey(
  one: Case,
  { entity, plan }: Pick<CaseOptions, "entity" | "plan">,
): KeyValue | null {
  const { upsertKeys } = plan;
  if (isNew(one, plan)) return null;
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
export function addFault(one: Case, column: Column, message: string): void {
  addMessage(one, column, message);
  one.faulty.push(column.name);
}

/** Adds the rules' errors for fields without a message. */
export function addFieldErrors(one: Case, errors: FieldErrors | null): void {
  for (const [name, texts] of Object.entries(errors ?? {})) {
    if (one.faulty.includes(name)) continue;
    for (const text of texts) addMessage(one, { name }, text);
  }
}

/** Adds a message about a field, by its heading, unless it is there. */
export function addMessage(
  { faults, fileColumns, words, knows }: Case,
  { name }: Pick<Column, "name">,
  text: string,
): void {
  const own = knows(name) ? name : "another field";
  const { heading = own, place = null } = fileColumns.get(name) ?? {};
  const fault = { text: `${heading}: ${words(name, text)}`, place };
  if (!faults.some((other) => other.text === fault.text)) faults.push(fault);
}

function notFoundMessage(kind: "none" | "several", cell: Cell): string {
  const name = String(cell).slice(0, 100);
  return kind === "none" ? `there is no "${name}"` : `there are several "${name}"`;
}

/**
 * From a cell to a value that the rules accept for its column: spreadsheets have four kinds of values, and people type
 * the others as text. Ambiguous values stay as they are, and the rules refuse them. Undefined: the cell is empty.
 * `words`: texts for true and false, in lower case; in a column of numbers they are 1 and 0.
 */
export function fieldValue(
  column: Column,
  cell: Exclude<Cell, { error: string }>,
  words: ReadonlyMap<string, boolean> | undefined,
): unknown {
  if (cell === null || cell === "") return undefined;
  const { fromCell, hasWords, arithmetic } = columnTypes[column.type];
  const value = fromCell(cell, column);
  if (value === undefined || (!hasWords && arithmetic === null)) return value;
  const meaning = words?.get(headingKey(String(value)));
  if (meaning === undefined) return value;
  return hasWords ? meaning : Number(meaning);
}

/**
 * Decides what is to become of each row of a file: a new record, a change of one that is there, nothing, or an error. Preview and commit
 * ask the same judge, so what the one says the other does. Values run through the entity's rules as in create and update.
 */
import { isScoped, past } from "../../core/callers/scoped-session.ts";
import type { Column } from "../../core/column.ts";
import type { Entity, ImportPlan } from "../../core/entity.ts";
import type { FieldErrors } from "../../core/errors.ts";
import type { FileColumn } from "../../core/jobs/import-columns.ts";
import { fieldValue } from "../../core/jobs/import-values.ts";
import type { Queries } from "../../core/callers/session.ts";
import type { Cell, NewId, Row } from "../../core/ports.ts";
import { newKey } from "../../core/writes/record.ts";
import { type Scalar, sourceOf } from "../../core/statement.ts";
import { findRows, type Key, keyText, scalarOf } from "./find-rows.ts";
import { createNames } from "./lookups.ts";
import type { RowFault } from "./row-fault.ts";

export interface FileRow {
  readonly rowIndex: number;
  readonly values: readonly Cell[];
}

export type Verdict =
  | NewRow
  | ChangedRow
  /** The record is there, and the strategy leaves it alone. */
  | { readonly kind: "skip" }
  | { readonly kind: "invalid"; readonly faults: readonly RowFault[] };

export interface NewRow {
  readonly kind: "new";
  readonly values: ReadonlyMap<Column, Scalar>;
  /** What a client would have sent, by field. */
  readonly body: Record<string, unknown>;
}

export interface ChangedRow extends Omit<NewRow, "kind"> {
  readonly kind: "change";
  readonly key: Scalar;
}

export interface JudgeOptions {
  readonly entity: Entity;
  readonly plan: ImportPlan;
  readonly columns: readonly FileColumn[];
  readonly newId: NewId;
  /** True: records that are to be changed are locked. */
  readonly lock: boolean;
}

/** A row on its way to a verdict. */
interface Case {
  readonly row: FileRow;
  /** What a client would have sent, by field; undefined where the cell is empty. */
  readonly body: Record<string, unknown>;
  /** Fields whose cell is empty. */
  readonly empty: Column[];
  readonly faults: RowFault[];
  /** Names of fields about which something is said already. */
  readonly faulty: string[];
  /** Null where the row has none, or a faulty one. */
  key: Key | null;
}

/** The batches of one file, in their order: what stood in the ones before counts. */
export function createJudge(options: JudgeOptions) {
  const { entity, plan, columns, newId, lock } = options;
  const { write, upsertKeys, strategy } = plan;
  const [firstKey] = upsertKeys.values();
  const names = createNames();
  /** Keys to the rows that they stood in first; those of records too, as two texts may mean the same record. */
  const seen = new Map<string, number>();
  const labels = new Map(columns.map(({ column, heading }) => [column.name, heading]));
  /** Its copies share one shape, which an object that grows field by field does not. */
  const blank = Object.fromEntries(columns.map(({ column }) => [column.name, undefined]));
  const places = new Map(columns.map(({ column, place }) => [column.name, place]));
  const said = ({ name }: Pick<Column, "name">, message: string): RowFault => ({
    text: `${labels.get(name) ?? name}: ${message}`,
    place: places.get(name) ?? null,
  });

  async function learnNames(queries: Queries, rows: readonly FileRow[]): Promise<void> {
    for (const { lookup, place } of columns) {
      if (!lookup) continue;
      const cells = rows.map(({ values }) => values[place] ?? null);
      await names.learn(queries, lookup, cells);
    }
  }

  function openCase(row: FileRow): Case {
    const one: Case = {
      row,
      body: { ...blank },
      empty: [],
      faults: [],
      faulty: [],
      key: null,
    };
    for (const column of columns) readCell(one, column);
    for (const column of plan.required)
      if (one.empty.includes(column)) addFault(one, column, "is required");
    one.key = keyOf(one);
    return one;
  }

  function readCell(one: Case, { place, column, lookup }: FileColumn): void {
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
      else addFault(one, column, notFoundText(found.kind, cell));
    }
  }

  /** What the rules would say of the field besides is no news. */
  function addFault({ faults, faulty }: Case, column: Column, message: string): void {
    faults.push(said(column, message));
    faulty.push(column.name);
  }

  /** The values that tell whether the record is there, as they would be stored. */
  function keyOf(one: Case): Key | null {
    if (upsertKeys.size === 0) return null;
    const checked = entity.rules.check(one.body, "update", upsertKeys);
    addErrors(one, checked.errors);
    const key: Scalar[] = [];
    for (const column of upsertKeys.values()) {
      const value = checked.values.get(column) ?? null;
      if (value !== null) key.push(value);
      else if (
        !one.faulty.includes(column.name) &&
        !Object.hasOwn(checked.errors ?? {}, column.name)
      )
        addFault(one, column, "is required: it tells which record is meant");
    }
    return key.length === upsertKeys.size && !checked.errors ? key : null;
  }

  function addErrors({ faults, faulty }: Case, errors: FieldErrors | null): void {
    for (const [name, texts] of Object.entries(errors ?? {})) {
      if (faulty.includes(name)) continue;
      for (const text of texts) {
        const fault = said({ name }, text);
        if (!faults.some((other) => other.text === fault.text)) faults.push(fault);
      }
    }
  }

  /** False, and a message, when an earlier row of the file has the key. */
  function isFirst({ row, faults }: Case, text: string): boolean {
    const first = seen.get(text);
    if (first === undefined) {
      seen.set(text, row.rowIndex);
      return true;
    }
    if (first === row.rowIndex) return true;
    faults.push(said(firstKey!, `stands in row ${first} already`));
    return false;
  }

  function verdictOf(one: Case, found: readonly Scalar[], isForeign: boolean): Verdict {
    const { faults, key } = one;
    if (firstKey === undefined) return newOf(one);
    if (key === null || !isFirst(one, keyText(key))) return invalidOf(one);
    if (isForeign) {
      faults.push(said(firstKey, "is taken already"));
      return invalidOf(one);
    }
    if (found.length === 0) return newOf(one);
    if (found.length > 1) faults.push(said(firstKey, "several records have it"));
    if (found.length > 1 || !isFirst(one, `record ${keyText(found)}`)) return invalidOf(one);
    return strategy === "update_existing" ? changeOf(one, found[0]!) : { kind: "skip" };
  }

  /** Which record is meant is not known, so only what is there can be checked. */
  function invalidOf(one: Case): Verdict {
    const { body, faults } = one;
    addErrors(one, entity.rules.check(body, "update", write.writable).errors);
    return { kind: "invalid", faults };
  }

  function newOf(one: Case): Verdict {
    const { body, faults } = one;
    const checked = entity.rules.check(body, "create", write.writable);
    const errors: FieldErrors = {};
    const made = newKey(
      { body, newId },
      { key: write.key, keyColumns: plan.keyColumns, rules: entity.rules },
      errors,
    );
    addErrors(one, checked.errors);
    addErrors(one, errors);
    if (faults.length > 0) return { kind: "invalid", faults };
    const { values } = checked;
    if (made !== null) values.set(write.key, made);
    return { kind: "new", values, body };
  }

  function changeOf(one: Case, key: Scalar): Verdict {
    const { body, empty, faults } = one;
    for (const column of empty) {
      // An empty cell empties the field, where that can be; a default is for new records.
      if (column.nullable || !column.hasDefault) body[column.name] = null;
    }
    const checked = entity.rules.check(body, "update", write.writable);
    addErrors(one, checked.errors);
    if (faults.length > 0) return { kind: "invalid", faults };
    const values = new Map(checked.values);
    for (const column of upsertKeys.values()) values.delete(column);
    return { kind: "change", key, values, body };
  }

  return async function judge(queries: Queries, rows: readonly FileRow[]): Promise<Verdict[]> {
    await learnNames(queries, rows);
    const cases = rows.map(openCase);
    const keys = cases.flatMap(({ key }) => (key === null ? [] : [key]));
    const search = {
      source: sourceOf(write.table),
      by: [...upsertKeys.values()],
      columns: [write.key],
      lock,
    };
    const none = new Map<string, Row[]>();
    const found = keys.length === 0 ? none : await findRows(queries, search, keys);
    const elsewhere =
      keys.length === 0 || !isScoped(queries)
        ? none
        : await findRows(past(queries, "importKeys"), { ...search, lock: false }, keys);
    return cases.map((one) => {
      const text = one.key === null ? "" : keyText(one.key);
      const records = found.get(text) ?? [];
      const recordKeys = records.map((row) => scalarOf(write.key, row));
      return verdictOf(one, recordKeys, records.length === 0 && elsewhere.has(text));
    });
  };
}

const notFoundText = (kind: "none" | "several", cell: Cell): string => {
  const name = String(cell).slice(0, 100);
  return kind === "none" ? `there is no "${name}"` : `there are several "${name}"`;
};

/**
 * Finds what the database would refuse of rows that the rules accept: references to missing rows, values already
 * taken, columns without a value. Works on a batch at a time, before anything is stored. What cannot be known before
 * (checks, triggers, values made by the database or a handler), the commit finds out.
 */
import { hasHandlers } from "../../core/records/events.ts";
import { isEmpty } from "../../core/numbers/number-text.ts";
import { maySendNumber } from "../../core/numbers/numbering-session.ts";
import { limitedReferences } from "../../core/callers/referred-rows.ts";
import { past } from "../../core/callers/scoped-session.ts";
import type { Queries } from "../../core/query/session.ts";
import type { ImportReference } from "../../core/plans/import-plan.ts";
import { sourceOf } from "../../core/query/statement.ts";
import type { Column } from "../../core/values/types/column.ts";
import { toBase64 } from "../../core/values/formats.ts";
import { limits } from "../../core/values/limits.ts";
import type { Scalar } from "../../core/values/scalar.ts";
import { keyText, type KeyValue } from "../../core/values/types/key.ts";
import { findRows, scalarOf } from "../../core/query/find-rows.ts";
import { createEqualTexts } from "./equal-keys.ts";
import { closedCheck } from "./foresee-closed.ts";
import { scopeCheck } from "./foresee-scope.ts";
import { addMessage, type Case } from "./row-case.ts";
import type { StoredRow, Verdict, VerdictOptions } from "./row-verdict.ts";

/** Turns verdicts on rows that the database would refuse into errors. Batches of one file come in their order. */
export type Foresee = (
  queries: Queries,
  cases: readonly Case[],
  verdicts: readonly Verdict[],
) => Promise<Verdict[]>;

type Check = (queries: Queries, stored: readonly StoredRow[]) => Promise<void>;

/** For all batches of one file. */
export function createForesight(options: VerdictOptions): Foresee {
  const { entity } = options;
  /** Whether handlers can change the row or the database: such rows are not checked. */
  const isOpen = {
    new: hasHandlers(entity, "onBeforeInsert"),
    change: hasHandlers(entity, "onBeforeUpdate"),
  };
  const { references, uniques } = options.plan.constraints;
  const checks: readonly Check[] = [
    neededCheck(options),
    ...references.flatMap((reference) => referenceCheck(reference, options) ?? []),
    ...uniques.flatMap((columns) => uniqueCheck(columns, options) ?? []),
    ...[closedCheck(options), numbersCheck(options), scopeCheck(options)].filter(
      (check) => check !== null,
    ),
  ];
  return async (queries, cases, verdicts) => {
    const stored = cases.flatMap((one, at): StoredRow[] => {
      const verdict = verdicts[at]!;
      if (verdict.kind === "skip" || verdict.kind === "invalid") return [];
      return isOpen[verdict.kind] ? [] : [{ one, verdict }];
    });
    for (const check of checks) await check(queries, stored);
    return verdicts.map((verdict, at) => {
      const { faults } = cases[at]!;
      return verdict.kind === "skip" || faults.length === 0 ? verdict : { kind: "invalid", faults };
    });
  };
}

/** Columns of a new row that the file cannot set. They are not named, as the sender does not necessarily know them. */
function neededCheck({ plan: { constraints } }: VerdictOptions): Check {
  const text = "a new record needs a value that the import cannot set";
  return async (_queries, stored) => {
    for (const { one, verdict } of stored) {
      const isWhole =
        verdict.kind === "change" ||
        constraints.needed.every((column) => verdict.values.has(column));
      if (!isWhole) one.faults.push({ text, place: null });
    }
  };
}

/** Values that must be those of another row, in the database or earlier in the file. Null if looked up by name. */
function referenceCheck(
  { columns, table, referenced, isOwn }: ImportReference,
  { plan, columns: fileColumns, scope }: VerdictOptions,
): Check | null {
  const lookup = fileColumns.find(({ column }) => column === columns[0])?.lookup;
  if (lookup && columns.length === 1 && lookup.table.identity === table.identity) return null;
  const limit = limitedReferences(plan.write.table, scope).find(
    (one) => one.columns.join() === columns.map(({ name }) => name).join(),
  );
  const where = limit?.target.rows ?? null;
  const search = { source: sourceOf(table), by: referenced, columns: [], lock: false, where };
  const upsertKeys = [...plan.upsertKeys.values()];
  const ownKeys = new Set<string>();
  let known = new Set<string>();
  return async (queries, stored) => {
    if (isOwn) {
      for (const row of stored) {
        const key = valuesOf(row, referenced, upsertKeys);
        if (key !== null) ownKeys.add(keyText(key));
      }
    }
    const asked = stored.flatMap((row) => {
      const isSet = columns.some((column) => row.verdict.values.has(column));
      const key = isSet ? valuesOf(row, columns, upsertKeys) : null;
      return key === null || ownKeys.has(keyText(key)) ? [] : [{ row, key }];
    });
    if (known.size > limits.importNamesMax) known = new Set();
    const unknown = asked.flatMap(({ key }) => (known.has(keyText(key)) ? [] : [key]));
    // As the write: a caller may refer to records of a table that no endpoint shows it.
    const found = await findRows(past(queries, "referredRows"), search, unknown);
    for (const text of found.keys()) known.add(text);
    for (const { row, key } of asked) {
      if (known.has(keyText(key))) continue;
      const texts = key.map((value) => textOf(value).slice(0, 100));
      // A value that the caller does not see is not his.
      const which = columns.every(({ name }) => row.one.knows(name))
        ? ` "${texts.join(", ")}"`
        : "";
      addMessage(row.one, columns[0]!, `there is no record${which} to refer to`);
    }
  };
}

const textOf = (value: Scalar): string =>
  value instanceof Uint8Array ? toBase64(value) : String(value);

/** Values that must be unique. Null if the file does not set them, or records are found by them. */
function uniqueCheck(
  columns: readonly Column[],
  { plan, columns: fileColumns }: VerdictOptions,
): Check | null {
  const { key: primary, table } = plan.write;
  const upsertKeys = [...plan.upsertKeys.values()];
  const given = new Set(fileColumns.map(({ column }) => column));
  const areUpsertKeys =
    columns.length === upsertKeys.length && columns.every((column) => upsertKeys.includes(column));
  if (areUpsertKeys || !columns.every((column) => given.has(column))) return null;
  const search = { source: sourceOf(table), by: columns, columns: primary, lock: false };
  const seen = new Map<string, number>();
  const equalTexts = createEqualTexts(columns);
  return async (queries, stored) => {
    const asked = stored.flatMap((row) => {
      const key = valuesOf(row, columns, upsertKeys);
      return key === null ? [] : [{ row, key }];
    });
    if (asked.length === 0) return;
    const keys = asked.map(({ key }) => key);
    // Includes records that the caller cannot see. Only the fact that the value exists is revealed.
    const found = await findRows(past(queries, "takenKeys"), search, keys);
    const texts = await equalTexts(queries, keys);
    for (const [at, { row, key }] of asked.entries()) {
      const { one, verdict } = row;
      const text = texts[at]!;
      const first = seen.get(text);
      if (first === undefined) seen.set(text, one.row.rowIndex);
      else addMessage(one, columns[0]!, `is already in row ${first}`);
      const own = verdict.kind === "change" ? keyText(verdict.key) : null;
      const records = found.get(keyText(key)) ?? [];
      if (
        records.some((record) => keyText(primary.map((column) => scalarOf(column, record))) !== own)
      )
        addMessage(one, columns[0]!, "already exists");
    }
  };
}

/** What the row will have in the columns; null where one of them will be null, or is not known. */
function valuesOf(
  { one, verdict: { values } }: StoredRow,
  columns: readonly Column[],
  upsertKeys: readonly Column[],
): KeyValue | null {
  const key = columns.map((column) => {
    const at = upsertKeys.indexOf(column);
    return values.get(column) ?? (at < 0 ? null : (one.key?.[at] ?? null));
  });
  return key.includes(null) ? null : key;
}

/**
 * Finds rows that would set a document number which the caller may not send; the session of the commit refuses them as
 * well. Null if the caller may send all numbers of the table.
 */
function numbersCheck({ entity, plan, caller }: VerdictOptions): Check | null {
  const { table, key } = plan.write;
  const numbers = entity.numbers.get(table.identity) ?? [];
  const columns = numbers.filter((one) => !maySendNumber(one, caller)).map(({ column }) => column);
  if (columns.length === 0) return null;
  const search = { source: sourceOf(table), by: key, columns, lock: false };
  return async (queries, rows) => {
    const keys = rows.flatMap(({ verdict }) => (verdict.kind === "change" ? [verdict.key] : []));
    const found = keys.length === 0 ? null : await findRows(queries, search, keys);
    for (const { one, verdict } of rows)
      for (const column of columns) {
        const sent = verdict.values.get(column);
        const record = verdict.kind === "new" ? undefined : found?.get(keyText(verdict.key))?.[0];
        // A record may be sent the number that it has.
        const isOwn = record
          ? sent === undefined || scalarOf(column, record) === sent
          : isEmpty(sent);
        if (!isOwn)
          addMessage(one, column, "is a number that the service gives; you may not set it");
      }
  };
}

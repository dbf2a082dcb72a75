/**
 * Decides about each row of a file: a new record, a change of an existing one, nothing, or an error. Preview and
 * commit use the same function, so their results agree. The preview also checks what the database would refuse.
 */
import { isScoped, past, rescoped } from "../../core/callers/scoped-session.ts";
import { seeing } from "../../core/callers/visibility.ts";
import type { Queries } from "../../core/query/session.ts";
import type { Row } from "../../core/values/row.ts";
import { sourceOf } from "../../core/query/statement.ts";
import { keyText, type KeyValue } from "../../core/values/types/key.ts";
import { filledBeside } from "../../core/records/record.ts";
import { findRows, scalarOf } from "../../core/query/find-rows.ts";
import { createEqualTexts } from "./equal-keys.ts";
import { createForesight } from "./foresee.ts";
import { changingRows, type FindHeld } from "./held-records.ts";
import { createNames, type Names } from "./lookups.ts";
import type { FileRow } from "./row-batches.ts";
import { addMessage, type Case, createCaseReader, isNew } from "./row-case.ts";
import {
  changedRow,
  invalidRow,
  newRow,
  type Verdict,
  type VerdictOptions,
} from "./row-verdict.ts";
import { refuseUnaccepted } from "./unaccepted-values.ts";

/** The options for judging rows. */
export interface JudgeOptions extends Omit<VerdictOptions, "beside"> {
  /** True: records that are to be changed are locked. */
  readonly lock: boolean;
  /** True: what the database would refuse is looked up first; false: the database refuses it. */
  readonly foresees: boolean;
  readonly findHeld: FindHeld;
}

/** Returns verdicts in the order of the rows. Batches of a file must come in order, as earlier rows count. */
export type Judge = (queries: Queries, rows: readonly FileRow[]) => Promise<Verdict[]>;

/** For all batches of one file. */
export function createJudge(options: JudgeOptions): Judge {
  const names = createNames();
  const read = createCaseReader(options, names);
  const { plan, entity, scope } = options;
  const beside = filledBeside({ fills: scope.fills, rules: entity.rules }, plan.write);
  const seen: SeenKeys = { texts: new Map(), records: new Map() };
  const judging = { ...options, beside, seen };
  const equalTexts = createEqualTexts([...plan.upsertKeys.values()]);
  const foresee = options.foresees ? createForesight(judging) : null;
  return async (queries, rows) => {
    await learnNames(names, queries, { rows, columns: options.columns });
    const cases = rows.map(read);
    if (options.foresees) await refuseUnaccepted(queries, cases, options.columns);
    const recordsOf = await findRecords(queries, cases, options);
    const keys = cases.map(({ key }) => key);
    const texts = await equalTexts(queries, keys);
    const verdicts = cases.map((one, at) =>
      verdictOf(one, { records: recordsOf(one), text: texts[at]! }, judging),
    );
    const foreseen = foresee === null ? verdicts : await foresee(queries, cases, verdicts);
    const held = await options.findHeld(queries, changingRows(rows, foreseen));
    return foreseen.map((verdict, at) => {
      const text = held.get(rows[at]!.rowIndex);
      return text === undefined ? verdict : { kind: "invalid", faults: [{ text, place: null }] };
    });
  };
}

async function learnNames(
  names: Names,
  queries: Queries,
  { rows, columns }: { rows: readonly FileRow[]; columns: JudgeOptions["columns"] },
): Promise<void> {
  for (const { lookup, place } of columns) {
    if (!lookup) continue;
    const cells = rows.map(({ values }) => values[place] ?? null);
    await names.learn(queries, lookup, cells);
  }
}

/** The existing records that match a row. */
interface Records {
  /** Keys of those that the caller can see. */
  readonly keys: readonly KeyValue[];
  /** Why the row cannot be stored: its only match is hidden from the caller or deleted. Null = it can be stored. */
  readonly refusal: string | null;
}

const unknown: Records = { keys: [], refusal: null };

/** Looks up the records of all rows. */
async function findRecords(
  queries: Queries,
  cases: readonly Case[],
  { entity, plan: { write, upsertKeys }, lock }: JudgeOptions,
): Promise<(one: Case) => Records> {
  const keys: KeyValue[] = cases.flatMap(({ key }) => (key === null ? [] : [key]));
  const by = [...upsertKeys.values()];
  const search = { source: sourceOf(write.table), by, columns: write.key };
  const none = new Map<string, Row[]>();
  const found = keys.length === 0 ? none : await findRows(queries, { ...search, lock }, keys);
  const elsewhere =
    keys.length === 0 || !isScoped(queries, search.source)
      ? none
      : await findRows(past(queries, "takenKeys"), { ...search, lock: false }, keys);
  if (found.size === 0 && elsewhere.size === 0) return () => unknown;
  // Callers are told of deletion only for their own records.
  const deleted =
    elsewhere.size === 0 || entity.marking === null
      ? none
      : await findRows(
          rescoped(queries, (scope) => seeing(scope, entity, "marked")),
          { ...search, lock: false },
          keys,
        );
  return ({ key }) => {
    const text = key === null ? "" : keyText(key);
    const records = found.get(text) ?? [];
    const isDeleted = deleted.has(text);
    const hidden = isDeleted ? "belongs to a deleted record; restore it first" : "already exists";
    return {
      keys: records.map((row) => write.key.map((column) => scalarOf(column, row))),
      refusal: records.length === 0 && elsewhere.has(text) ? hidden : null,
    };
  };
}

/** The row where each key first occurred; also by record, because two texts can identify the same record. */
interface SeenKeys {
  readonly texts: Map<string, number>;
  readonly records: Map<string, number>;
}

function verdictOf(
  one: Case,
  { records: { keys, refusal }, text }: { readonly records: Records; readonly text: string | null },
  options: VerdictOptions & { seen: SeenKeys },
): Verdict {
  const { plan, seen } = options;
  const [firstKey] = plan.upsertKeys.values();
  if (firstKey === undefined || isNew(one, plan)) return newRow(one, options);

  /** False, and a message, when an earlier row of the file has the key. */
  function isFirst(rows: Map<string, number>, text: string): boolean {
    const first = rows.get(text);
    if (first === undefined) {
      rows.set(text, one.row.rowIndex);
      return true;
    }
    addMessage(one, firstKey!, `is already in row ${first}`);
    return false;
  }

  if (text === null || !isFirst(seen.texts, text)) return invalidRow(one, options);
  if (refusal !== null) {
    addMessage(one, firstKey, refusal);
    return invalidRow(one, options);
  }
  const [key] = keys;
  if (key === undefined) return newRow(one, options);
  if (keys.length > 1) addMessage(one, firstKey, "matches several records");
  if (keys.length > 1 || !isFirst(seen.records, keyText(key))) return invalidRow(one, options);
  return plan.strategy === "update_existing" ? changedRow(one, key, options) : { kind: "skip" };
}

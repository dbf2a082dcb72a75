/**
 * The rows of the table `rowgate_numbers`: one for each counter, with its last number. A transaction that takes numbers
 * changes the row first, so others that take numbers of the same counter wait for its end: what it undoes is given
 * back.
 */
import { formsBy, LockNames } from "../locks/lock-names.ts";
import { findRows } from "../query/find-rows.ts";
import { ledgerColumns } from "../query/ledger-columns.ts";
import type { UnscopedQueries } from "../query/session.ts";
import { equals, selectFrom, sourceOf } from "../query/statement.ts";
import { insertInto } from "../query/write-statements.ts";
import type { AlikeText, Table } from "../values/types/column.ts";
import { keyText } from "../values/types/key.ts";
import { limits } from "../values/limits.ts";
import { type OpenNumber, counterPattern, countedText } from "./number-text.ts";

/** The table of counters, and SHA-256 as hexadecimal text. */
export interface Counting {
  readonly ledger: Table;
  readonly digest: (text: string) => string;
}

/** A number that a record is to get, or one that it has. */
export interface Wanted {
  readonly open: OpenNumber;
  /** False: the record has its number. Its counter is locked, so that those who take one find it in the table. */
  readonly isTaken: boolean;
}

/** A counter, and one of its numbers. */
interface Counter {
  readonly id: string;
  readonly open: OpenNumber;
}

/**
 * The numbers, in the order of the list; null for those that are not taken. Those of one counter are taken at once, and
 * several counters in the order of their ids, so that transactions do not block each other. Rejects with
 * `constraintViolation` when one is used up.
 */
export async function takeNumbers(
  own: UnscopedQueries,
  wanted: readonly Wanted[],
  { ledger, digest }: Counting,
): Promise<(string | null)[]> {
  const open = wanted.map((one) => one.open);
  const ids = await idsOf(own, open, digest);
  const places = Map.groupBy(open.keys(), (at) => ids[at]!);
  const taken: (string | null)[] = wanted.map(() => null);
  for (const id of [...places.keys()].toSorted()) {
    const counter = { id, open: open[places.get(id)![0]!]! };
    const takers = places.get(id)!.filter((at) => wanted[at]!.isTaken);
    const seqs = await takeSome(own, ledger, { counter, count: takers.length });
    // Each has its own letters, also where the column ignores their case.
    const texts = seqs.map((seq, at) => countedText(open[takers[at]!]!, seq));
    for (const [at, text] of texts.entries()) taken[takers[at]!] = text;
  }
  return taken;
}

/** The number that `takeNumbers` would give. Takes none, and locks nothing. */
export async function numberAfter(
  own: UnscopedQueries,
  open: OpenNumber,
  { ledger, digest }: Counting,
): Promise<string> {
  const [id = ""] = await idsOf(own, [open], digest);
  const { counter_id, last_number } = columnsOf(ledger);
  const row = await own.one(
    selectFrom(sourceOf(ledger), {
      columns: [last_number],
      where: equals(counter_id, id),
      limit: 1,
    }),
  );
  const last = row ? BigInt(String(row["last_number"])) : before(open);
  const [found] = await freeAfter(own, last, { open, count: 1 });
  return found!.text;
}

/** The last number of a counter from which none was taken. */
const before = ({ plan }: OpenNumber): bigint => BigInt(plan.start) - 1n;

interface Taking {
  readonly counter: Counter;
  readonly count: number;
}

async function takeSome(
  own: UnscopedQueries,
  ledger: Table,
  { counter, count }: Taking,
): Promise<bigint[]> {
  const { open } = counter;
  const last = await advance(own, ledger, { counter, count });
  const first = last - BigInt(count) + 1n;
  const seqs = Array.from({ length: count }, (_, at) => first + BigInt(at));
  const texts = seqs.map((seq) => countedText(open, seq));
  const taken = count === 0 ? new Set() : await takenAmong(own, open, texts);
  if (taken.size === 0) return seqs;
  const found = await freeAfter(own, first - 1n, { open, count });
  await own.updateOne({
    ...ofCounter(ledger, counter),
    set: [{ kind: "set", column: columnsOf(ledger).last_number, value: found.at(-1)!.seq }],
    returning: [],
  });
  return found.map(({ seq }) => seq);
}

/** Locks the counter, and resolves with its new last number. */
async function advance(
  own: UnscopedQueries,
  ledger: Table,
  { counter, count }: Taking,
): Promise<bigint> {
  const { last_number } = columnsOf(ledger);
  for (;;) {
    const row = await own.updateOne({
      ...ofCounter(ledger, counter),
      set: [{ kind: "add", column: last_number, delta: String(count) }],
      returning: [last_number],
    });
    if (row) return BigInt(String(row["last_number"]));
    await makeCounter(own, ledger, counter);
  }
}

const ofCounter = (ledger: Table, { id }: Counter) =>
  ({
    kind: "update",
    table: ledger,
    key: [columnsOf(ledger).counter_id],
    keyValue: [id],
    guard: null,
  }) as const;

/** Nothing, if another transaction has made it. */
async function makeCounter(
  own: UnscopedQueries,
  ledger: Table,
  { id, open }: Counter,
): Promise<void> {
  const { counter_id, table_name, column_name, pattern, by_values, last_number } =
    columnsOf(ledger);
  const { plan, by } = open;
  const values = Object.fromEntries(plan.by.map(({ name }, at) => [name, String(by[at])]));
  await own.insert(
    insertInto(ledger, {
      key: [counter_id],
      columns: [counter_id, table_name, column_name, pattern, by_values, last_number],
      rows: [
        [
          id,
          plan.table.identity,
          plan.column.name,
          counterPattern(open),
          plan.by.length > 0 ? JSON.stringify(values) : null,
          before(open),
        ],
      ],
      leavesTaken: true,
    }),
  );
}

interface FreeNumber {
  readonly seq: bigint;
  readonly text: string;
}

/** The first numbers after that one which no record has. */
async function freeAfter(
  own: UnscopedQueries,
  last: bigint,
  { open, count }: { open: OpenNumber; count: number },
): Promise<FreeNumber[]> {
  const found: FreeNumber[] = [];
  let next = last + 1n;
  for (let looked = 1; found.length < count; looked *= 2) {
    const wanted = Math.max(count - found.length, looked);
    const some = upTo(open, next, Math.min(wanted, limits.inValuesMax));
    const taken = await takenAmong(
      own,
      open,
      some.map(({ text }) => text),
    );
    for (const one of some) if (!taken.has(one.text) && found.length < count) found.push(one);
    next += BigInt(some.length);
  }
  return found;
}

/** Fewer where the counter ends. Rejects when it has ended. */
function upTo(open: OpenNumber, first: bigint, count: number): FreeNumber[] {
  const some: FreeNumber[] = [{ seq: first, text: countedText(open, first) }];
  try {
    for (let seq = first + 1n; some.length < count; seq++)
      some.push({ seq, text: countedText(open, seq) });
  } catch {
    // The next call begins there.
  }
  return some;
}

/** The numbers that records have, marked ones and those outside of the caller's scope among them. */
async function takenAmong(
  own: UnscopedQueries,
  { plan: { table, column, by, within }, by: values }: OpenNumber,
  texts: readonly string[],
): Promise<ReadonlySet<string>> {
  const search = { source: sourceOf(table), by: [column, ...within], columns: [], lock: false };
  const keyOf = (text: string) => [text, ...within.map((one) => values[by.indexOf(one)]!)];
  const found = await findRows(own, search, texts.map(keyOf));
  return new Set(texts.filter((text) => found.has(keyText(keyOf(text)))));
}

/** Equal for texts and values of `by` that their columns call equal. */
async function idsOf(
  own: UnscopedQueries,
  open: readonly OpenNumber[],
  digest: Counting["digest"],
): Promise<string[]> {
  const names = new LockNames({ digest, deadlineAtMs: Infinity });
  const counters = open.map((one) => ({
    resource: `${one.plan.table.identity} ${one.plan.column.name}`,
    key: [one.plan.column, ...one.plan.by],
    value: [counterPattern(one), ...one.by],
  }));
  const asked = formsBy((statement) => own.native(statement));
  return names.of("counter", counters, { equalForms: (texts) => formsOf(texts, asked.equalForms) });
}

/** Forms that a database has told before. They never change, and most numbers of a month share their texts. */
const knownForms = new Map<string, string>();

async function formsOf(
  texts: readonly AlikeText[],
  ask: (texts: readonly AlikeText[], deadlineAtMs: number) => Promise<readonly string[]>,
): Promise<readonly string[]> {
  const keyOf = ({ alike: { before, behind }, text }: AlikeText): string =>
    JSON.stringify([before, behind, text]);
  const known = texts.map((text) => knownForms.get(keyOf(text)));
  const open = texts.filter((_, at) => known[at] === undefined);
  const told = open.length > 0 ? [...(await ask(open, Infinity))] : [];
  if (knownForms.size + told.length > limits.numberFormsMax) knownForms.clear();
  for (const [at, form] of told.entries()) knownForms.set(keyOf(open[at]!), form);
  return known.map((form) => form ?? told.shift()!);
}

const names = [
  "counter_id",
  "table_name",
  "column_name",
  "pattern",
  "by_values",
  "last_number",
] as const;

const columnsOf = (ledger: Table) => ledgerColumns(ledger, names);

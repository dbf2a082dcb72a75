/**
 * The records of expanded relations to many: one statement for each relation, whatever the number of records that it
 * belongs to, and the lists put into these records.
 */
import { scopeAt } from "../callers/narrow.ts";
import { rescoped } from "../callers/scoped-session.ts";
import { comparand } from "../query/comparisons.ts";
import { keyIn } from "../query/key-conditions.ts";
import { isCounting, resultOf } from "../query/aggregate-results.ts";
import type { ReadQueries } from "../query/session.ts";
import { allOf, type Condition, noRow, type Output, type Select } from "../query/statement.ts";
import { answeredAs, type Column, type Hop, type Source } from "../values/types/column.ts";
import { invalidParameter } from "../values/errors.ts";
import { isObject, type Json } from "../values/json.ts";
import type { Key, KeyValue } from "../values/types/key.ts";
import { limits } from "../values/limits.ts";
import type { Row } from "../values/row.ts";
import type { ExpandedFigures, ExpandedList, Expansion } from "./expand.ts";
import { nestingOf, recordReader } from "./nested-rows.ts";

/** A row as it was read, and its record in the answer. */
export interface Shown {
  readonly row: Readonly<Row>;
  readonly record: Row;
}

/** Records to be filled with their related ones. */
export interface Filling {
  readonly shown: readonly Shown[];
  /** Of the statement that read them. */
  readonly source: Source;
  /** The columns by which `more` names a record; empty = the caller does not see its key. */
  readonly key: Key;
}

/** By path: the keys of the records whose list was cut. */
export type More = Record<string, Json[]>;

/** The columns that a statement must read for these expansions, beside the shown ones. */
export const columnsFor = (many: readonly Expansion[]): readonly Column[] =>
  many.flatMap(({ from, owner }) => [...from, ...(owner ?? [])]);

/** Reads the lists and puts them into the records. Rejects with Invalid parameter beyond 20,000 records in all. */
export async function fillExpanded(
  queries: ReadQueries,
  filling: Filling,
  many: readonly Expansion[],
): Promise<More> {
  const more: More = {};
  const budget = { left: limits.expandRowsMax };
  await fill(queries, filling, { many, more, budget });
  return more;
}

interface Progress {
  readonly many: readonly Expansion[];
  readonly more: More;
  readonly budget: { left: number };
}

async function fill(
  queries: ReadQueries,
  filling: Filling,
  { many, more, budget }: Progress,
): Promise<void> {
  for (const one of many) {
    const groups = groupsOf(filling.shown, one);
    const { what } = one;
    const theirs = rescoped(queries, scopeAt(one.steps.at(-1)!.endpoint));
    if (what.kind === "figures") await fillFigures(theirs, groups, { one, what, filling });
    else await fillLists(theirs, groups, { one, what, filling, more, budget });
  }
}

/** The records that share the values of the columns by which the others refer to them. */
type Groups = ReadonlyMap<string, { readonly values: KeyValue; readonly of: readonly Shown[] }>;

function groupsOf(shown: readonly Shown[], { from }: Pick<Expansion, "from">): Groups {
  const groups = new Map<string, { values: KeyValue; of: Shown[] }>();
  for (const one of shown) {
    const shownValues = from.map((column) => one.row[answeredAs(column)] ?? null);
    if (shownValues.includes(null)) continue;
    const id = JSON.stringify(shownValues);
    const group = groups.get(id);
    if (group) group.of.push(one);
    else {
      const values = from.map((column, at) => comparand(column, shownValues[at]));
      groups.set(id, { values, of: [one] });
    }
  }
  return groups;
}

/** Of the records to which a relation to many leads: those that belong to this row, which has the columns `from`. */
export function relatedTo(
  row: Readonly<Row>,
  relation: Pick<Expansion, "from" | "steps">,
  source: Source,
): Condition {
  const groups = groupsOf([{ row, record: {} }], relation);
  return groups.size === 0 ? noRow : linkTo(groups, relation, source).where;
}

/** How the statement of related records tells whose they are. */
interface Link {
  readonly columns: Key;
  readonly where: Condition;
}

/** By the columns of the related records, or of the records in between, that refer to the first ones. */
function linkTo(
  groups: Groups,
  { steps, from }: Pick<Expansion, "from" | "steps">,
  source: Source,
): Link {
  const columns = linkColumns(steps, from, source);
  const keys = [...groups.values()].map(({ values }) => values);
  const where = keyIn(columns, keys);
  // The columns of the related records themselves have an index. They compare no less loosely.
  const [{ on }, second] = steps as [Hop, Hop | undefined];
  const own = on.map(({ right }) => right);
  const helps =
    second === undefined && columns[0] !== own[0] && own.every(({ isLoose }) => isLoose === true);
  return { columns, where: helps ? allOf(keyIn(own, keys), where)! : where };
}

const known = new WeakMap<Hop["on"], Key>();

/** Always the same columns for the same relation, because statements are cached by them. */
function linkColumns(steps: readonly Hop[], from: Key, source: Source): Key {
  const [first, second] = steps as [Hop, Hop | undefined];
  let columns = known.get(first.on);
  if (columns !== undefined) return columns;
  const between = second === undefined ? null : backOver(second, first);
  columns = first.on.map(({ right }, at) =>
    between === null ? right : pathTo(between, right, `.l${at}`),
  );
  // Texts that are equal to the database can differ, so the text of the first record itself is needed.
  if (from.some(({ isLoose }) => isLoose === true)) {
    const back: Hop = {
      ...first,
      before: between,
      source: sourceBefore(first, source),
      on: first.on.map(({ left, right }) => ({ left: right, right: left })),
      isUnique: true,
      isSeen: true,
    };
    columns = first.on.map(({ left }, at) => pathTo(back, left, `.l${at}`));
  }
  known.set(first.on, columns);
  return columns;
}

const sourceBefore = ({ before }: Hop, source: Source): Source => before?.source ?? source;

/** From the related records to those in between; each one may belong to several. */
const backOver = ({ on }: Hop, between: Hop): Hop => ({
  ...between,
  before: null,
  on: on.map(({ left, right }) => ({ left: right, right: left })),
  isUnique: true,
  ...(between.repeats && {
    onceBy: [...on.map(({ left }) => left), ...between.on.map(({ right }) => right)],
  }),
});

const pathTo = (hop: Hop, column: Column, member: string): Column => ({
  ...column,
  name: member,
  nullable: true,
  via: { hop, column, member },
});

const idIn = (row: Readonly<Row>, columns: Key): string =>
  JSON.stringify(columns.map((column) => row[answeredAs(column)] ?? null));

interface Lists {
  readonly one: Expansion;
  readonly what: ExpandedList;
  readonly filling: Filling;
  readonly more: More;
  readonly budget: { left: number };
}

async function fillLists(
  queries: ReadQueries,
  groups: Groups,
  { one, what, filling, more, budget }: Lists,
): Promise<void> {
  const lists = new Map<string, Shown[]>();
  const nesting = nestingOf(what.shown);
  const recordOf = recordReader(what.shown, nesting);
  const source = one.steps.at(-1)!.source;
  if (groups.size > 0) {
    const link = linkTo(groups, one, filling.source);
    const select: Select = {
      kind: "select",
      source,
      columns: [
        ...new Set([
          ...(nesting?.columns ?? what.shown),
          ...columnsFor(what.inside),
          ...what.key,
          ...link.columns,
        ]),
      ],
      where: allOf(link.where, one.where),
      sort: what.sort,
      perGroup: { by: link.columns, rows: what.limit + 1 },
      limit: budget.left + groups.size + 1,
      offset: 0,
      lock: false,
    };
    for (const row of await queries.all(select)) {
      const id = idIn(row, link.columns);
      const list = lists.get(id) ?? [];
      lists.set(id, list);
      list.push({ row, record: recordOf(row) });
    }
  }
  const kept: Shown[] = [];
  const cut: Json[] = [];
  const naming = keyFor(one, filling.key);
  for (const [id, { of }] of groups) {
    const list = lists.get(id) ?? [];
    const shown = list.slice(0, what.limit);
    kept.push(...shown);
    budget.left -= shown.length * of.length;
    if (list.length > what.limit) cut.push(...of.map(({ row }) => keyOf(row, naming)));
  }
  // Several records can lead to the one that has the list.
  if (cut.length > 0)
    more[one.path] = [...new Map(cut.map((key) => [JSON.stringify(key), key])).values()];
  if (budget.left < 0)
    throw invalidParameter(
      `The answer would hold more than ${limits.expandRowsMax} related records with ${one.path}; ask for fewer records or a smaller limit`,
    );
  await fill(queries, { shown: kept, source, key: what.key }, { many: what.inside, more, budget });
  for (const each of filling.shown) {
    const id = idIn(each.row, one.from);
    const list = lists.get(id) ?? [];
    put(
      each.record,
      one.members,
      list.slice(0, what.limit).map(({ record }) => record),
    );
  }
}

/** The columns that name the record that holds the list; those that the others refer to, unless there is a key. */
const keyFor = ({ members, from, owner }: Expansion, key: Key): Key => {
  const named = members.length > 1 ? (owner ?? []) : key;
  return named.length === 0 ? from : named;
};

/** A key of one column as its value, another one as an object. */
function keyOf(row: Readonly<Row>, key: Key): Json {
  const values = key.map((column): [string, Json] => [
    column.via?.column.name ?? column.name,
    row[answeredAs(column)] ?? null,
  ]);
  return values.length === 1 ? values[0]![1] : Object.fromEntries(values);
}

async function fillFigures(
  queries: ReadQueries,
  groups: Groups,
  { one, what, filling }: { one: Expansion; what: ExpandedFigures; filling: Filling },
): Promise<void> {
  const found = new Map<string, Row>();
  if (groups.size > 0) {
    const link = linkTo(groups, one, filling.source);
    const outputs: Output[] = [
      ...link.columns.map((column, at) => ({
        alias: `.k${at}`,
        function: null,
        column,
        result: resultOf(null, column, what.outputs.length + at),
      })),
      ...what.outputs,
    ];
    const rows = await queries.aggregate({
      kind: "aggregate",
      source: one.steps.at(-1)!.source,
      rows: null,
      joins: [],
      outputs,
      where: allOf(link.where, one.where),
      having: null,
      sort: [],
      limit: null,
    });
    for (const row of rows)
      found.set(JSON.stringify(link.columns.map((_, at) => row[`.k${at}`] ?? null)), row);
  }
  for (const each of filling.shown) {
    const id = idIn(each.row, one.from);
    const row = found.get(id);
    const figures = what.outputs.map(({ alias, function: name }): [string, Json] => [
      alias,
      row?.[alias] ?? (isCounting(name) ? 0 : null),
    ]);
    put(each.record, one.members, Object.fromEntries(figures));
  }
}

/** Nothing where the path to it leads to no record. */
function put(record: Row, members: readonly string[], value: Json): void {
  let place: Record<string, Json> = record;
  for (const name of members.slice(0, -1)) {
    const next = place[name];
    if (!isObject(next)) return;
    place = next as Record<string, Json>;
  }
  place[members.at(-1)!] = value;
}

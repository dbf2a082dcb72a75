/** Random requests about a relation, each with what SQL says to it. */
import type { KnownColumn, Random, Value } from "./known-schemas.ts";
import {
  type Figure,
  type Group,
  type Json,
  type KnownEndpoint,
  type KnownRelation,
  type Listed,
  type OfRecord,
  type Oracle,
  type Path,
  type Question,
  type Sorted,
} from "./known-sql.ts";
import {
  type About,
  anyQuestion,
  askAbout,
  bodyOf,
  keyPaths,
  nameOf,
  own,
  pathFrom,
  questionOver,
  sortOf,
} from "./known-questions.ts";

export interface KnownRequest {
  readonly path: string;
  readonly body: object;
  /** The members of the answer, as SQL tells them. */
  expected(oracle: Oracle): Promise<Readonly<Record<string, Json>>>;
}

type Kind = (about: About) => KnownRequest;

/** Of every kind that the relation takes. */
export function randomRequest(about: About): KnownRequest {
  const kinds = about.relation.isMany ? [...both, ...ofMany] : [...both, ...ofOne];
  return about.random.pick(kinds)(about);
}

const distinct = (paths: readonly Path[]): Path[] => [
  ...new Map(paths.map((path) => [nameOf(path), path])).values(),
];

/** The paths to read for records that show these: also the key of each record on the way, which tells that it is there. */
function presences(shown: readonly Path[]): Path[] {
  return shown.flatMap(({ over }) =>
    over.map((relation, at) => ({
      over: over.slice(0, at + 1),
      column: relation.endpoint.table.key[0]!,
    })),
  );
}

/** A record of the values of these paths. */
function nested(shown: readonly Path[], values: ReadonlyMap<string, Value>): Record<string, Json> {
  const record: Record<string, Json> = {};
  for (const path of shown) {
    let place: Record<string, Json> | null = record;
    for (const [at, relation] of path.over.entries()) {
      if (place === null) break;
      const over = path.over.slice(0, at + 1);
      const isThere =
        values.get(nameOf({ over, column: relation.endpoint.table.key[0]! })) !== null;
      place[relation.name] = isThere
        ? ((place[relation.name] as Record<string, Json>) ?? {})
        : null;
      place = place[relation.name] as Record<string, Json> | null;
    }
    if (place !== null) place[path.column.name] = values.get(nameOf(path)) ?? null;
  }
  return record;
}

interface Found {
  readonly record: Record<string, Json>;
  /** Its own columns as they are stored. */
  readonly row: Readonly<Record<string, Value>>;
}

async function records(
  oracle: Oracle,
  endpoint: KnownEndpoint,
  { shown, ...listed }: Listed & { readonly shown: readonly Path[] },
): Promise<Found[]> {
  const paths = distinct([...shown, ...presences(shown), ...own(endpoint)]);
  const rows = await oracle.rows(endpoint, paths, listed);
  return rows.map((values) => {
    const byName = new Map(paths.map((path, at) => [nameOf(path), values[at]!]));
    const row = Object.fromEntries(
      endpoint.table.columns.map(({ name }) => [name, byName.get(name) ?? null]),
    );
    return { record: nested(shown, byName), row };
  });
}

const limit = 500;

interface ReadBody {
  readonly shown?: readonly Path[];
  readonly where?: Question | null;
  readonly sort?: readonly Sorted[];
}

function read(
  endpoint: KnownEndpoint,
  { shown: more = [], where = null, sort = [] }: ReadBody,
): KnownRequest {
  const shown = distinct([...keyPaths(endpoint), ...more]);
  return {
    path: `${endpoint.name}/read`,
    body: {
      select: shown.map(nameOf),
      limit,
      ...(where !== null && { where: bodyOf(where) }),
      ...(sort.length > 0 && { sort_columns: sortOf(sort) }),
    },
    expected: async (oracle) => {
      const found = await records(oracle, endpoint, { shown, where, sort });
      return { data: found.map(({ record }) => record), count: found.length };
    },
  };
}

const maybe = (endpoint: KnownEndpoint, random: Random): Question | null =>
  random.chance(0.5) ? anyQuestion(endpoint, 1, random) : null;

const isNumber = ({ kind }: KnownColumn): boolean => kind === "int" || kind === "decimal";

function figuresFor(
  endpoint: KnownEndpoint,
  begin: readonly KnownRelation[],
  random: Random,
): Figure[] {
  const figures: Figure[] = [{ name: "count", of: null }];
  for (let at = 0; at < 2; at++) {
    const of = pathFrom(endpoint, begin, random);
    if (figures.some((one) => one.of !== null && nameOf(one.of) === nameOf(of))) continue;
    const ofNumbers = isNumber(of.column) ? (["sum", "avg"] as const) : [];
    const names = ["count", "countDistinct", "min", "max", ...ofNumbers] as const;
    const name = random.pick(of.column.kind === "bool" ? names.slice(0, 2) : names);
    figures.push({
      name,
      of,
      ...(random.chance(0.3) && { where: anyQuestion(endpoint, 1, random) }),
    });
  }
  const numbers = own(endpoint).filter(
    ({ column }) => isNumber(column) && column.refersTo === null,
  );
  if (numbers.length > 1 && random.chance(0.3)) {
    figures.push({ name: "sum", of: random.pick(numbers), times: random.pick(numbers) });
  }
  return figures;
}

const operationsOf = (figures: readonly Figure[]): object[] =>
  figures.map(({ name, of, times, where }, at) => ({
    function: name,
    ...(of !== null && times
      ? { formula: `${nameOf(of)} * ${nameOf(times)}` }
      : { field: of === null ? "*" : nameOf(of) }),
    alias: `f${at}`,
    ...(where && { where: bodyOf(where) }),
  }));

const spans = ["year", "quarter", "month", "week", "day"] as const;
const parts = ["month", "weekday", "day"] as const;

/** By the value itself, or by what it lies in. */
function groupOf(of: Path, random: Random): Group {
  const { kind } = of.column;
  if (random.chance(0.3)) return { of };
  if (isNumber(of.column)) return { of, bin: random.pick([2, 5, 50]) };
  if (kind !== "date" && kind !== "timestamp") return { of };
  if (random.chance(0.6)) return { of, span: random.pick(spans) };
  return { of, part: random.pick(kind === "date" ? parts : [...parts, "hour"]) };
}

const groupBody = ({ of, span, part, bin }: Group, at: number): unknown => {
  const by = span ?? bin;
  if (by !== undefined) return { field: nameOf(of), by, alias: `g${at}` };
  return part ? { field: nameOf(of), part, alias: `g${at}` } : nameOf(of);
};
const groupName = (group: Group, at: number): string =>
  groupBody(group, at) === nameOf(group.of) ? nameOf(group.of) : `g${at}`;

/** The kinds of requests about any relation. */
const both: readonly Kind[] = [
  function where({ endpoint, relation, random }) {
    return read(endpoint, { where: questionOver({ endpoint, relation, random }) });
  },
  function many({ endpoint, relation, random }) {
    return read(endpoint, { where: askAbout([relation], 2, random) });
  },
  function count({ endpoint, relation, random }) {
    const where = questionOver({ endpoint, relation, random });
    return {
      path: `${endpoint.name}/read`,
      body: { page: 1, per_page: 1, select: keyPaths(endpoint).map(nameOf), where: bodyOf(where) },
      expected: async (oracle) => {
        const [[total]] = (await oracle.figures(
          endpoint,
          { by: [], figures: [{ name: "count", of: null }] },
          { where },
        )) as [[number]];
        return { pagination: { total_records: total } };
      },
    };
  },
  function aggregate({ endpoint, relation, random }) {
    const begin = relation.isMany ? [] : [relation];
    const where = relation.isMany
      ? questionOver({ endpoint, relation, random })
      : maybe(endpoint, random);
    const by = distinct([
      pathFrom(endpoint, begin, random),
      ...random.some(own(endpoint)).slice(0, 1),
    ]).map((path) => groupOf(path, random));
    const figures = figuresFor(endpoint, begin, random);
    const hasTotal = random.chance(0.3);
    return {
      path: `${endpoint.name}/aggregate`,
      body: {
        group_by: by.map(groupBody),
        operations: operationsOf(figures),
        ...(hasTotal && { total: true }),
        ...(where !== null && { where: bodyOf(where) }),
      },
      expected: async (oracle) => {
        const rows = await oracle.figures(endpoint, { by, figures }, { where });
        const aliases = figures.map((_, at) => `f${at}`);
        const named = (names: readonly string[], row: readonly Value[]) =>
          Object.fromEntries(names.map((name, at) => [name, row[at]!]));
        const [all] = hasTotal
          ? await oracle.figures(endpoint, { by: [], figures }, { where })
          : [];
        return {
          groups: rows.map((row) => named([...by.map(groupName), ...aliases], row)),
          ...(all && { total: named(aliases, all) }),
        };
      },
    };
  },
];

const ofOne: readonly Kind[] = [
  function select({ endpoint, relation, random }) {
    const paths = [1, 2, 3].map(() => pathFrom(endpoint, [relation], random));
    const shown = [...random.some(own(endpoint)), ...paths];
    return read(endpoint, { shown, where: maybe(endpoint, random) });
  },
  function sort({ endpoint, relation, random }) {
    const sorted = distinct([1, 2].map(() => pathFrom(endpoint, [relation], random))).map(
      (of): Sorted => ({ of, direction: random.pick(["ASC", "DESC"] as const) }),
    );
    return read(endpoint, { sort: sorted, where: maybe(endpoint, random) });
  },
  function search({ endpoint, relation, random }) {
    const texts = relation.endpoint.table.columns.filter(({ kind }) => kind === "text");
    if (texts.length === 0) return both[0]!({ endpoint, relation, random });
    const of = { over: [relation], column: random.pick(texts) };
    const term = random.pick(["e", "AR", "ir", "zz"]);
    const where: Question = {
      kind: "compare",
      of,
      operator: "LIKE",
      values: [`%${term.toLowerCase()}%`],
    };
    const { path, body, expected } = read(endpoint, { where });
    const { where: _where, ...rest } = body as { where?: object };
    return { path, body: { ...rest, search_value: term, search_by: nameOf(of) }, expected };
  },
  function expand({ endpoint, relation, random }) {
    const shown = random.chance(0.5)
      ? [...random.some(own(relation.endpoint))]
      : own(relation.endpoint);
    const paths = shown.map(({ column }): Path => ({ over: [relation], column }));
    const where = maybe(endpoint, random);
    const { path, body, expected } = read(endpoint, { shown: paths, where });
    const options =
      shown.length === relation.endpoint.table.columns.length ? {} : { select: shown.map(nameOf) };
    const select = keyPaths(endpoint).map(nameOf);
    return { path, body: { ...body, select, expand: { [relation.name]: options } }, expected };
  },
];

/** The list of each record, and the keys of those whose list was cut. */
interface List {
  readonly options: object;
  fill(oracle: Oracle, found: readonly Found[], more: Record<string, Json[]>): Promise<void>;
}

function listOf(
  relation: KnownRelation,
  { path, key, random }: { path: string; key: readonly KnownColumn[]; random: Random },
): List {
  const { endpoint } = relation;
  const where = maybe(endpoint, random);
  const isFigures = random.chance(0.3);
  if (isFigures) {
    const figures = figuresFor(endpoint, [], random);
    return {
      options: {
        operations: operationsOf(figures),
        ...(where !== null && { where: bodyOf(where) }),
      },
      async fill(oracle, found) {
        for (const { record, row } of found) {
          const of: OfRecord = { relation, row };
          const [values] = await oracle.figures(endpoint, { by: [], figures }, { where, of });
          record[relation.name] = Object.fromEntries(values!.map((value, at) => [`f${at}`, value]));
        }
      },
    };
  }
  const shown = distinct([
    ...keyPaths(endpoint),
    pathFrom(endpoint, [], random),
    pathFrom(endpoint, [], random),
  ]);
  const sort = random.chance(0.5)
    ? [{ of: pathFrom(endpoint, [], random), direction: random.pick(["ASC", "DESC"] as const) }]
    : [];
  const most = random.pick([1, 2, 5, 100]);
  const further = endpoint.relations.filter(({ isMany }) => isMany);
  const inside =
    !path.includes(".") && further.length > 0 && random.chance(0.3) ? random.pick(further) : null;
  const list =
    inside && listOf(inside, { path: `${path}.${inside.name}`, key: endpoint.table.key, random });
  return {
    options: {
      select: shown.map(nameOf),
      limit: most,
      ...(where !== null && { where: bodyOf(where) }),
      ...(sort.length > 0 && { sort_columns: sortOf(sort) }),
      ...(inside && { expand: { [inside.name]: list!.options } }),
    },
    async fill(oracle, found, more) {
      const kept: Found[] = [];
      for (const { record, row } of found) {
        const of: OfRecord = { relation, row };
        const all = await records(oracle, endpoint, { shown, where, sort, of });
        const some = all.slice(0, most);
        record[relation.name] = some.map((one) => one.record);
        kept.push(...some);
        if (all.length > most) (more[path] ??= []).push(keyOf(key, row));
      }
      await list?.fill(oracle, kept, more);
      // A record can stand in several lists.
      for (const name of Object.keys(more))
        more[name] = [...new Map(more[name]!.map((one) => [JSON.stringify(one), one])).values()];
    },
  };
}

const keyOf = (key: readonly KnownColumn[], row: Readonly<Record<string, Value>>): Json =>
  key.length === 1
    ? row[key[0]!.name]!
    : Object.fromEntries(key.map(({ name }) => [name, row[name]!]));

const ofMany: readonly Kind[] = [expandMany, expandMany];

function expandMany({ endpoint, relation, random }: About): KnownRequest {
  const { key } = endpoint.table;
  const list = listOf(relation, { path: relation.name, key, random });
  const some = [1, 2, 3].map(() => random.pick(endpoint.table.rows)[key[0]!.name]!);
  const where: Question = {
    kind: "compare",
    of: { over: [], column: key[0]! },
    operator: "IN",
    values: some,
  };
  const shown = keyPaths(endpoint);
  return {
    path: `${endpoint.name}/read`,
    body: {
      select: shown.map(nameOf),
      where: bodyOf(where),
      expand: { [relation.name]: list.options },
    },
    expected: async (oracle) => {
      const found = await records(oracle, endpoint, { shown, where });
      const more: Record<string, Json[]> = {};
      await list.fill(oracle, found, more);
      return {
        data: found.map(({ record }) => record),
        ...(Object.keys(more).length > 0 && { more }),
      };
    },
  };
}

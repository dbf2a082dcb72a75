/** Random paths and conditions from an endpoint on, and how requests write them. */
import type { ColumnKind, Random, Value } from "./known-schemas.ts";
import {
  instantOf,
  type KnownEndpoint,
  type KnownRelation,
  type Path,
  type Question,
  type Sorted,
} from "./known-sql.ts";

export interface About {
  readonly endpoint: KnownEndpoint;
  readonly relation: KnownRelation;
  readonly random: Random;
}

const allPaths = ({
  over,
  endpoint,
}: {
  over: readonly KnownRelation[];
  endpoint: KnownEndpoint;
}): Path[] => endpoint.table.columns.map((column) => ({ over, column }));
export const own = (endpoint: KnownEndpoint): Path[] => allPaths({ over: [], endpoint });
export const keyPaths = (endpoint: KnownEndpoint): Path[] =>
  endpoint.table.key.map((column) => ({ over: [], column }));
export const nameOf = ({ over, column }: Path): string =>
  [...over.map(({ name }) => name), column.name].join(".");
const toOne = ({ relations }: KnownEndpoint): KnownRelation[] =>
  relations.filter(({ isMany }) => !isMany);

/** Relations to one from the endpoint on, beginning with these; four at most. */
function walk(
  endpoint: KnownEndpoint,
  begin: readonly KnownRelation[],
  random: Random,
): readonly KnownRelation[] {
  const over = [...begin];
  let at = over.at(-1)?.endpoint ?? endpoint;
  while (over.length < 4 && random.chance(0.5)) {
    const further = toOne(at);
    if (further.length === 0) break;
    over.push(random.pick(further));
    at = over.at(-1)!.endpoint;
  }
  return over;
}

export function pathFrom(
  endpoint: KnownEndpoint,
  begin: readonly KnownRelation[],
  random: Random,
): Path {
  const over = walk(endpoint, begin, random);
  return { over, column: random.pick((over.at(-1)?.endpoint ?? endpoint).table.columns) };
}

const valuesOf = (endpoint: KnownEndpoint, { over, column }: Path): readonly Value[] => {
  const { rows } = (over.at(-1)?.endpoint ?? endpoint).table;
  return [...new Set(rows.map((row) => row[column.name] ?? null))].filter(
    (value) => value !== null,
  );
};

const orders: Readonly<Record<ColumnKind, readonly string[]>> = {
  int: ["<", ">=", "BETWEEN"],
  decimal: [">", "<=", "NOT BETWEEN"],
  date: ["<", ">", "BETWEEN"],
  timestamp: [">=", "<"],
  text: ["LIKE", "NOT LIKE", "IN"],
  bool: [],
};

function comparison(endpoint: KnownEndpoint, of: Path, random: Random): Question {
  const known = valuesOf(endpoint, of);
  const operators = [
    "=",
    "!=",
    "IN",
    "NOT IN",
    ...orders[of.column.kind],
    "IS NULL",
    "IS NOT NULL",
  ];
  const operator = known.length === 0 ? "IS NULL" : random.pick(operators);
  if (operator.startsWith("IS")) return { kind: "compare", of, operator, values: [] };
  if (operator.endsWith("LIKE"))
    return { kind: "compare", of, operator, values: [random.pick(["%e%", "a%", "_i%", "%r"])] };
  const values = operator.endsWith("IN")
    ? [random.pick(known), random.pick(known)]
    : operator.endsWith("BETWEEN")
      ? [random.pick(known), random.pick(known)].toSorted((one, other) => (one! < other! ? -1 : 1))
      : [random.pick(known)];
  return { kind: "compare", of, operator, values };
}

/** Any question to records of the endpoint. */
export function anyQuestion(endpoint: KnownEndpoint, depth: number, random: Random): Question {
  const over = walk(endpoint, [], random);
  const { relations } = over.at(-1)?.endpoint ?? endpoint;
  if (depth > 0 && relations.length > 0 && random.chance(0.35))
    return askAbout([...over, random.pick(relations)], depth - 1, random);
  if (depth > 0 && random.chance(0.25)) {
    const logic = random.pick(["AND", "OR"] as const);
    const members = [1, 2].map(() => anyQuestion(endpoint, depth - 1, random));
    return { kind: "group", logic, members };
  }
  return comparison(endpoint, pathFrom(endpoint, over, random), random);
}

export function askAbout(over: readonly KnownRelation[], depth: number, random: Random): Question {
  const quantifier = random.pick(["ANY", "NONE", "ALL"] as const);
  const where =
    quantifier !== "ALL" && random.chance(0.3)
      ? null
      : anyQuestion(over.at(-1)!.endpoint, depth, random);
  return { kind: "related", over, quantifier, where };
}

/** About the relation: by it, by a path over it, or by what is behind it. */
export function questionOver({ endpoint, relation, random }: About): Question {
  return relation.isMany || random.chance(0.4)
    ? askAbout([relation], 2, random)
    : comparison(endpoint, pathFrom(endpoint, [relation], random), random);
}

const sent = (kind: ColumnKind, value: Value): Value =>
  kind === "timestamp" && typeof value === "string" ? instantOf(value) : value;

function conditionOf(asked: Question): object {
  if (asked.kind === "group") return bodyOf(asked);
  if (asked.kind === "related") {
    const key = asked.over.map(({ name }) => name).join(".");
    return {
      key,
      operator: asked.quantifier,
      ...(asked.where !== null && { where: bodyOf(asked.where) }),
    };
  }
  const { of, operator } = asked;
  const key = nameOf(of);
  const values = asked.values.map((value) => sent(of.column.kind, value));
  if (values.length === 0) return { key, operator };
  return { key, operator, value: /IN$|BETWEEN$/.test(operator) ? values : values[0] };
}

export const bodyOf = (asked: Question): object =>
  asked.kind === "group"
    ? { logic: asked.logic, conditions: asked.members.map(conditionOf) }
    : { conditions: [conditionOf(asked)] };

export const sortOf = (sort: readonly Sorted[]): object[] =>
  sort.map(({ of, direction }) => ({ column: nameOf(of), direction }));

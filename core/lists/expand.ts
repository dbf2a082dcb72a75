/**
 * The client's `expand`: related records inside of each record. Those to one are columns of the same statement; each
 * relation to many is a statement of its own (`expanded-rows.ts`).
 */
import {
  type Grammar,
  list,
  type Meaning,
  object,
  optional,
  text,
  type UnknownMember,
  whatever,
} from "../grammar/grammar.ts";
import type { RelatedNames } from "../query/hops.ts";
import { unknownRelation } from "../query/comparisons.ts";
import { PathColumns } from "../query/paths.ts";
import { selectColumns } from "../query/select.ts";
import { sortColumns } from "../query/sort.ts";
import { allOf, type Condition, type Output, type Sort } from "../query/statement.ts";
import { where } from "../query/where.ts";
import type { Column, Columns, Hop } from "../values/types/column.ts";
import type { Key } from "../values/types/key.ts";
import { AppError, invalidParameter } from "../values/errors.ts";
import { isObject } from "../values/json.ts";
import { type JsonSchema, orNull } from "../values/json-schema.ts";
import { anyOf, closedObject } from "../values/json-shapes.ts";
import { limits } from "../values/limits.ts";
import { figuresOf } from "./operations.ts";
import { orderedBy } from "./order.ts";

/** A relation to many that is expanded. */
export interface Expansion {
  /** From the record of the request, as answers and messages name it: `lines`, `customer.orders`. */
  readonly path: string;
  /** The names of the members that lead to its list, from the record of its statement on. */
  readonly members: readonly string[];
  /** The columns of the statement of the records that `steps` begin at. */
  readonly from: Key;
  /** The key of the record that a path to one leads to before; null = there is no such path, or the caller lacks it. */
  readonly owner: Key | null;
  readonly steps: readonly Hop[];
  readonly where: Condition | null;
  readonly what: ExpandedList | ExpandedFigures;
}

export interface ExpandedList {
  readonly kind: "list";
  readonly shown: readonly Column[];
  readonly sort: readonly Sort[];
  /** Records of each list, at most. */
  readonly limit: number;
  readonly inside: readonly Expansion[];
  /** The columns of the key; empty = the caller does not see it. */
  readonly key: Key;
}

export interface ExpandedFigures {
  readonly kind: "figures";
  readonly outputs: readonly Output[];
}

/** What an expand adds to the statement of its records, and to the statements after it. */
export interface Expanded {
  /** Columns of related records to one. */
  readonly columns: readonly Column[];
  readonly many: readonly Expansion[];
}

const nothing: Expanded = { columns: [], many: [] };

/** What the statements of the expansions name. */
export const namedIn = (many: readonly Expansion[]): readonly RelatedNames[] =>
  many.flatMap(({ steps, where: filter, what }): readonly RelatedNames[] =>
    what.kind === "list"
      ? [{ steps, where: filter, columns: what.shown, sort: what.sort }, ...namedIn(what.inside)]
      : what.outputs.map(({ column, where: counted = null }) => ({
          steps,
          where: allOf(filter, counted),
          columns: column === null ? [] : [column],
          sort: [],
        })),
  );

const notAnExpand = () =>
  invalidParameter("expand must be an array of relations, or an object of them with their options");
const notALimit = () =>
  invalidParameter(`limit must be a whole number from 1 to ${limits.expandLimitMax}`);

const options = object(
  {
    select: whatever,
    where: whatever,
    sort_columns: whatever,
    limit: whatever,
    expand: whatever,
    operations: whatever,
  },
  { fault: () => invalidParameter("The options of an expanded relation must be an object") },
);
type Options = Meaning<typeof options>;

/** Rejects with Invalid parameter, and with Invalid field (unknown relation or column). */
export const expand = (columns: Columns): Grammar<Expanded> => ({
  ...optional(
    {
      read: (sent) => expandedIn(sent, columns, { left: limits.expandRelationsMax }),
      schema: () => expandSchema(columns),
    },
    nothing,
  ),
  unknownIn: (sent, path) => unknownIn(sent, columns, path),
});

/** Deeper levels than the last one are refused when they are read. */
function* unknownIn(
  sent: unknown,
  columns: Columns,
  path: string,
  depth = 1,
): Iterable<UnknownMember> {
  if (!isObject(sent) || depth > limits.expandDepthMax) return;
  for (const [name, one] of Object.entries(sent)) {
    if (!isObject(one)) continue;
    const at = `${path}.${name}`;
    yield* options.unknownIn?.(one, at) ?? [];
    const related = columns instanceof PathColumns ? columns.relation(name)?.columns : undefined;
    if (related === undefined) continue;
    yield* where(related).unknownIn?.(one["where"], `${at}.where`) ?? [];
    yield* sortColumns(related).unknownIn?.(one["sort_columns"], `${at}.sort_columns`) ?? [];
    yield* figuresOf(related).unknownIn?.(one["operations"], `${at}.operations`) ?? [];
    yield* unknownIn(one["expand"], related, `${at}.expand`, depth + 1);
  }
}

/** The first level with its options, and the second with any. */
function expandSchema(columns: Columns): JsonSchema {
  const names = namesIn(columns);
  const byName = names.map((name) => [name, optionsSchema(columns as PathColumns, name)] as const);
  return {
    anyOf: [
      namesSchema(names),
      { ...closedObject(Object.fromEntries(byName)), maxProperties: limits.expandRelationsMax },
    ],
  };
}

const namesIn = (columns: Columns): readonly string[] =>
  columns instanceof PathColumns ? columns.relationNames() : [];

const namesSchema = (names: readonly string[]): JsonSchema =>
  names.length === 0
    ? { type: "array", maxItems: 0 }
    : {
        type: "array",
        items: { enum: names },
        // Those of the first level count too.
        maxItems: limits.expandRelationsMax,
        uniqueItems: true,
      };

function optionsSchema(columns: PathColumns, name: string): JsonSchema {
  const { isMany, columns: all } = columns.relation(name)!;
  // Paths from there on are taken too, and would make documents long.
  const related = new Map(all);
  const select = selectColumns(related).schema();
  const inside = orNull(anyOf(insideSchemas(namesIn(all))));
  if (!isMany) return closedObject({ select, expand: inside });
  const limit = { type: ["integer", "null"], minimum: 1, maximum: limits.expandLimitMax } as const;
  const sort_columns = sortColumns(related).schema();
  const filter = where(related).schema();
  const operations = figuresOf(related).schema();
  return {
    anyOf: [
      closedObject({ select, limit, sort_columns, where: filter, expand: inside }),
      closedObject({ operations, where: filter }, ["operations"]),
    ],
  };
}

const insideSchemas = (names: readonly string[]): JsonSchema[] => [
  namesSchema(names),
  ...(names.length > 0
    ? [closedObject(Object.fromEntries(names.map((name) => [name, { type: "object" }])))]
    : []),
];

const relationNames = list(text(notAnExpand), { fault: notAnExpand });

function expandedIn(
  sent: unknown,
  columns: Columns,
  budget: { left: number },
  place: Place = { depth: 1, path: "", prefix: "" },
): Expanded {
  const asked = isObject(sent)
    ? Object.entries(sent)
    : [...new Set(relationNames.read(sent))].map((name): [string, unknown] => [name, {}]);
  const found = asked.map(([name, one]) => {
    if (--budget.left < 0)
      throw invalidParameter(`expand takes at most ${limits.expandRelationsMax} relations`);
    return oneExpanded(name, options.read(one ?? {}), { columns, budget, place });
  });
  return {
    columns: [...new Set(found.flatMap((one) => one.columns))],
    many: found.flatMap(({ many }) => many),
  };
}

/** Where an expand stands. */
interface Place {
  readonly depth: number;
  /** As in `Expansion`, with a dot at its end. */
  readonly path: string;
  /** The same within the statement of the records. */
  readonly prefix: string;
}

interface About {
  readonly columns: Columns;
  readonly budget: { left: number };
  readonly place: Place;
}

function oneExpanded(name: string, asked: Options, { columns, budget, place }: About): Expanded {
  if (place.depth > limits.expandDepthMax)
    throw invalidParameter(`expand nests at most ${limits.expandDepthMax} levels`);
  const named = `${place.prefix}${name}`;
  if (!(columns instanceof PathColumns)) throw noRelation(named, columns);
  const relation = name.includes(".") ? undefined : columns.relation(named);
  if (relation === undefined) throw noRelation(named, columns);
  const path = `${place.path}${name}`;
  const inside = { depth: place.depth + 1, path: `${path}.`, prefix: "" };
  if (!relation.isMany) {
    refuse(asked, ["where", "limit", "sort_columns", "operations"], `${path} leads to one record`);
    const shown = selectColumns(columns, named).read(asked.select);
    const further =
      asked.expand === undefined || asked.expand === null
        ? nothing
        : expandedIn(asked.expand, columns, budget, { ...inside, prefix: `${named}.` });
    return { columns: [...shown, ...further.columns], many: further.many };
  }
  const before = relation.steps[0]!.before === null ? "" : place.prefix.slice(0, -1);
  const from = relation.steps[0]!.on.map(({ left }) => {
    const column = columns.behind(before, left.name);
    if (column === undefined) throw noRelation(named, columns);
    return column;
  });
  const rest = {
    path,
    members: named.split("."),
    from,
    owner: ownerOf(before, columns),
    steps: relation.steps,
    where: where(relation.columns).read(asked.where),
  };
  if (asked.operations !== undefined && asked.operations !== null) {
    refuse(asked, ["select", "sort_columns", "limit", "expand"], `${path} has operations`);
    const outputs = asParameter(() => figuresOf(relation.columns).read(asked.operations));
    return { columns: [], many: [{ ...rest, what: { kind: "figures", outputs } }] };
  }
  const select = selectColumns(relation.columns).read(asked.select);
  const further =
    asked.expand === undefined || asked.expand === null
      ? nothing
      : expandedIn(asked.expand, relation.columns, budget, inside);
  const { key } = relation;
  const what: ExpandedList = {
    kind: "list",
    shown: [...new Set([...select, ...further.columns])],
    sort: orderedBy(sortColumns(relation.columns).read(asked.sort_columns), {
      columns: relation.columns,
      key,
    }),
    limit: limitOf(asked.limit),
    inside: further.many,
    key: key.every(({ name }) => relation.columns.has(name)) ? key : [],
  };
  return { columns: [], many: [{ ...rest, what }] };
}

function ownerOf(before: string, columns: PathColumns): Key | null {
  const key = columns.relation(before)?.key ?? [];
  const found = key.flatMap(({ name }) => columns.behind(before, name) ?? []);
  return found.length > 0 && found.length === key.length ? found : null;
}

function noRelation(name: string, columns: Columns): AppError {
  if (columns.has(name))
    return invalidParameter(`"${name.slice(0, 100)}" in expand is no relation`);
  return unknownRelation(name, namesIn(columns), "expand");
}

function refuse(asked: Options, names: readonly (keyof Options)[], reason: string): void {
  const sent = names.find((name) => asked[name] !== undefined && asked[name] !== null);
  if (sent !== undefined) throw invalidParameter(`${reason}, so it takes no ${sent}`);
}

function limitOf(sent: unknown): number {
  if (sent === undefined || sent === null) return limits.expandLimitDefault;
  const isFit =
    Number.isInteger(sent) && Number(sent) >= 1 && Number(sent) <= limits.expandLimitMax;
  if (!isFit) throw notALimit();
  return Number(sent);
}

/** What would be a fault of aggregate's body is one of a parameter here. */
function asParameter<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof AppError && error.kind === "validationError")
      throw invalidParameter(error.message);
    throw error;
  }
}

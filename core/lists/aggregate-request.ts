/**
 * What a request of aggregate may contain. Its parts are read in order: `joins` defines the available columns, then
 * `group_by` and `operations` name the results, which `having` and `sort_columns` use. The schema cannot list such
 * names and takes any text.
 */
import {
  type Grammar,
  type Meaning,
  meaning,
  object,
  optional,
  schemasOf,
  text,
  value,
  wholeNumber,
} from "../grammar/grammar.ts";
import type { AggregatePlan } from "../plans/aggregate-plan.ts";
import type { RequestSettings } from "../plans/entity.ts";
import { describedColumns } from "../query/paths.ts";
import { sortColumns, sortTermsSchema } from "../query/sort.ts";
import type { Aggregate, Condition, Output, Sort } from "../query/statement.ts";
import { namedWhereSchema, treeOrPairs, where } from "../query/where.ts";
import type { Column, Columns } from "../values/types/column.ts";
import { AppError, validationError } from "../values/errors.ts";
import type { JsonSchema } from "../values/json-schema.ts";
import { closedObject } from "../values/json-shapes.ts";
import { limits } from "../values/limits.ts";
import { timeZoneNamed } from "../values/time-zones.ts";
import { bucketSchemas, groupBy, isFillable, namedGroupSchema } from "./group-by.ts";
import { joinsOf, namedJoinsSchema } from "./joins.ts";
import {
  namedOperationSchema,
  namedTreeOrPairsSchema,
  operations,
  outputsOf,
} from "./operations.ts";
import type { NumberedPage } from "./page.ts";

/** A request whose time zones are not looked up yet: that takes the first and last value of its times. */
export interface FiguresRequest {
  /** Without its page. */
  readonly statement: Aggregate;
  /** For buckets of timestamps. */
  readonly zone: string;
  /** Empty buckets are answered too. */
  readonly isFilled: boolean;
  readonly page: NumberedPage | null;
  /** The operations over all rows are answered too. */
  readonly withTotal: boolean;
}

/** Rejects with Validation error, and for names and values of columns as `where` does. */
export function aggregateGrammar(
  plan: AggregatePlan,
  settings: RequestSettings,
): Grammar<FiguresRequest> {
  const joins = joinsOf(plan);
  return {
    read(sent) {
      const { joins: joined } = object({ joins }).read(sent);
      const named = object(resultMembers(joined.columns)).read(sent);
      const outputs = outputsOf([...named.group_by, ...named.operations]);
      const groups = outputs.slice(0, named.group_by.length);
      const rest = object(filterMembers(joined.columns, outputs, groups)).read(sent);
      const { time_zone, fill, total, ...paging } = object(showingMembers(settings)).read(sent);
      if (fill) mustBeFillable(groups);
      return {
        statement: {
          kind: "aggregate",
          source: plan.source,
          rows: null,
          joins: joined.joins,
          outputs,
          where: rest.where,
          having: rest.having,
          sort: rest.sort_columns,
          // A single row needs no limit.
          limit: groups.length > 0 ? (paging.limit ?? limitMax) : null,
        },
        zone: time_zone,
        isFilled: fill,
        page: pageOf(paging, groups),
        withTotal: total,
      };
    },
    schema() {
      const noJoins: JsonSchema = { type: ["array", "null"], maxItems: 0 };
      const { named } = plan;
      const own = { ...schemasOf(membersOf(named, settings)), joins: noJoins };
      const alone = requestSchema(own, bucketSchemas(named));
      const joinable = plan.joins.size + plan.tables.length;
      if (joinable === 0) return alone;
      const all = withJoined(plan);
      const known = schemasOf({ ...membersOf(all, settings), joins });
      const isKnown = joinable <= limits.joinsDescribedMax;
      return {
        anyOf: [
          alone,
          isKnown ? requestSchema(known, bucketSchemas(all), ["joins"]) : joinedRequestSchema,
        ],
      };
    },
    unknownIn: object({ joins, ...membersOf(plan.named, settings) }).unknownIn!,
  };
}

/** What decides about the results. */
const resultMembers = (columns: Columns) => ({
  group_by: groupBy(columns),
  operations: operations(columns),
});

const filterMembers = (
  columns: Columns,
  results: readonly Output[],
  groups: readonly Output[],
) => ({
  where: treeOrPairs(columns, { single: true }),
  having: having(results, groups.length > 0),
  sort_columns: order(results, groups),
});

/** Which of the results are answered, and what beside them. */
const showingMembers = ({ timeZone }: Pick<RequestSettings, "timeZone">) => ({
  time_zone: optional(zone, timeZone),
  fill: optional(truth("fill"), false),
  total: optional(truth("total"), false),
  limit: optional(numberUpTo("limit", limitMax), null),
  page: optional(numberUpTo("page", Number.MAX_SAFE_INTEGER), null),
  per_page: optional(numberUpTo("per_page", limits.groupsPerPageMax), limits.perPageDefault),
});

const membersOf = (columns: Columns, settings: Pick<RequestSettings, "timeZone">) => ({
  ...resultMembers(columns),
  ...filterMembers(columns, [], []),
  ...showingMembers(settings),
});

/** `buckets`: the schemas of groups that can be filled, among others. */
function requestSchema(
  members: Record<string, JsonSchema>,
  buckets: readonly JsonSchema[],
  required: readonly string[] = [],
): JsonSchema {
  const no: JsonSchema = { enum: [false, null] };
  const none: JsonSchema = { type: "null" };
  const spans = buckets.filter(({ properties }) => properties?.["by"] !== undefined);
  const group_by: JsonSchema = { type: "array", minItems: 1 };
  const plain: JsonSchema = { properties: { having: none, page: none, fill: no } };
  const grouped = (properties: Record<string, JsonSchema>): JsonSchema[] =>
    (["page", "limit"] as const).map((other) => ({
      required: ["group_by"],
      properties: { ...properties, [other]: none },
    }));
  return {
    ...closedObject(members, required),
    anyOf: [
      plain,
      ...grouped({ group_by, fill: no }),
      ...(spans.length > 0
        ? grouped({ group_by: { ...group_by, maxItems: 1, items: { anyOf: spans } } })
        : []),
    ],
  };
}

const limitMax = limits.aggregateLimitMax;
const fault = (message: string) => () => validationError(message);

function numberUpTo(name: string, max: number): Grammar<number> {
  const notANumber = fault(`${name} must be a whole number from 1 to ${max}`);
  return wholeNumber({ min: 1, max }, notANumber);
}

const truth = (name: string): Grammar<boolean> =>
  value(
    (sent): sent is boolean => typeof sent === "boolean",
    fault(`${name} must be true or false`),
    () => ({ type: "boolean" }),
  );

const notAZone = fault("time_zone must be the name of an IANA time zone, such as Europe/Vienna");

const zone: Grammar<string> = meaning(
  text(notAZone, () => ({
    type: "string",
    description: "An IANA time zone, for buckets of timestamps.",
    examples: ["Europe/Vienna"],
  })),
  (name) => {
    const found = timeZoneNamed(name);
    if (found === null) throw notAZone();
    return found;
  },
);

function mustBeFillable(groups: readonly Output[]): void {
  if (groups.length !== 1 || !isFillable(groups[0]!.column!))
    throw validationError("fill needs exactly one group, by a span of time or the width of a bin");
}

type SentPage = Pick<Meanings, "page" | "per_page" | "limit">;
type Meanings = {
  readonly [Name in keyof ReturnType<typeof showingMembers>]: Meaning<
    ReturnType<typeof showingMembers>[Name]
  >;
};

function pageOf(
  { page, per_page: size, limit }: SentPage,
  groups: readonly Output[],
): NumberedPage | null {
  if (page === null) return null;
  if (groups.length === 0) throw validationError("page can only be used with group_by");
  if (limit !== null)
    throw validationError("page and limit cannot be combined; leave one of them out");
  // All groups are computed for each page, so none lies too far.
  return { page, size, offset: Math.min((page - 1) * size, Number.MAX_SAFE_INTEGER) };
}

const having = (outputs: readonly Output[], isGrouped: boolean): Grammar<Condition | null> =>
  optional(isGrouped ? byAlias(outputs, "having", where) : noHaving, null, namedWhereSchema);

const noHaving: Grammar<Condition | null> = {
  ...where(new Map()),
  read() {
    throw validationError("having can only be used with group_by");
  },
};

/** Ends with the grouped columns, so that the order is total. */
const order = (outputs: readonly Output[], groups: readonly Output[]): Grammar<Sort[]> =>
  meaning(
    byAlias(outputs, "sort_columns", sortColumns),
    (sort) => {
      const rest = groups.filter(({ result }) => !sort.some(({ column }) => column === result));
      return [
        ...sort,
        ...rest.map(({ result }) => ({ column: result, direction: "asc" as const })),
      ];
    },
    () => sortTermsSchema({ type: "string" }),
  );

/** A grammar of `read` over the results. Its messages use the names that the client sent. */
function byAlias<T>(
  outputs: readonly Output[],
  place: string,
  of: (results: Columns) => Grammar<T>,
): Grammar<T> {
  const grammar = of(new Map(outputs.map(({ alias, result }) => [alias, result] as const)));
  return {
    ...grammar,
    read(sent) {
      try {
        return grammar.read(sent);
      } catch (error) {
        if (!(error instanceof AppError)) throw error;
        const isShape = error.kind === "invalidPayload" || place === "sort_columns";
        const kind = isShape && error.kind !== "invalidField" ? "validationError" : error.kind;
        throw new AppError(kind, inOwnWords(error.message, outputs, place));
      }
    },
  };
}

const inOwnWords = (message: string, outputs: readonly Output[], place: string): string =>
  message.replace(/(?<!")\bwhere\b(?!")/, place).replace(/(?<=column )"(v\d+)"/i, (whole, name) => {
    const output = outputs.find(({ result }) => result.name === name);
    return output ? `"${output.alias}"` : whole;
  });

/** The columns of the entity, of related records and of all possible joins, under the names that a request uses. */
function withJoined({ columns, named, joins, tables }: AggregatePlan): Columns {
  const all = new Map<string, Column>();
  const add = (table: string, fields: Columns): void => {
    for (const [name, column] of fields) {
      all.set(`${table}.${name}`, column);
      all.set(name, column);
    }
  };
  for (const { name, columns: fields } of tables) add(name, fields);
  for (const [name, { fields }] of joins) add(name, fields);
  return new Map([...describedColumns(named), ...all, ...columns]);
}

/**
 * A request with joins if there are too many tables to list their names: otherwise the schema of each endpoint would
 * name the columns of all others.
 */
export const joinedRequestSchema: JsonSchema = requestSchema(
  {
    ...schemasOf(membersOf(new Map(), { timeZone: "UTC" })),
    group_by: { ...groupBy(new Map()).schema(), items: namedGroupSchema() },
    operations: { ...operations(new Map()).schema(), items: namedOperationSchema() },
    where: namedTreeOrPairsSchema(),
    joins: namedJoinsSchema,
  },
  namedGroupSchema().anyOf!,
  ["joins"],
);

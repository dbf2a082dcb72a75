/**
 * The client's `joins` -> tables beside the entity's own, and the names that they add. A name of a table from a request
 * is only looked up: among the joins that the configuration declares, and among the tables of the project's other
 * entities with the columns that those show.
 */
import {
  absentOr,
  choice,
  described,
  type Grammar,
  list,
  type Meaning,
  meaning,
  object,
  optional,
  text,
  word,
} from "../grammar/grammar.ts";
import type { Column, Columns } from "../values/types/column.ts";
import type { AggregatePlan, DeclaredJoin } from "../plans/aggregate-plan.ts";
import { validationError } from "../values/errors.ts";
import type { JsonSchema } from "../values/json-schema.ts";
import { anyOf } from "../values/json-shapes.ts";
import { limits } from "../values/limits.ts";
import { nameSchema } from "../query/condition-schema.ts";
import { type FoundRelation, PathColumns } from "../query/paths.ts";
import type { Join } from "../query/statement.ts";
import { columnTypes } from "../values/types/column-types.ts";

export interface Joined {
  readonly joins: readonly Join[];
  /** The columns of the entity and the joins: as `table.field`, and as `field` if only one column has that name. */
  readonly columns: Columns;
}

const fault = (message: string) => () => validationError(message);
const notAJoin = fault(
  "joins must be an array of declared names or of objects {tableName, joinType, sourceField, targetField, fields}",
);
const incomplete = fault(
  "A join needs tableName, sourceField, targetField and fields, a non-empty array of column names",
);

const joinParts = object(
  {
    joinType: described(
      absentOr(
        word(["LEFT", "INNER", "RIGHT"], fault("joinType must be LEFT, INNER or RIGHT")),
        "LEFT",
      ),
      { default: "LEFT" },
    ),
    tableName: text(incomplete),
    sourceField: text(incomplete),
    targetField: text(incomplete),
    fields: list(text(incomplete), { fault: incomplete, min: 1 }),
  },
  { fault: notAJoin, required: ["tableName", "sourceField", "targetField", "fields"] },
);

type Wanted = Meaning<typeof joinParts>;

/** Rejects with Validation error; forbidden and unknown joins get the same answer. */
export function joinsOf(plan: AggregatePlan): Grammar<Joined> {
  const declared = meaning(text(notAJoin), (name) => named(name, plan));
  const asked = meaning(joinParts, (wanted) => requested(wanted, plan));
  const item = choice([declared, asked], (sent) => (typeof sent === "string" ? declared : asked));
  return meaning(
    optional(
      list(item, {
        fault: notAJoin,
        max: limits.aggregateJoinsMax,
        tooMany: fault(`joins takes at most ${limits.aggregateJoinsMax} items`),
      }),
      [],
    ),
    (resolved) => {
      const names = new Set<string>();
      for (const { name } of resolved) {
        if (names.has(name)) throw validationError(`"${name.slice(0, 100)}" is joined twice`);
        names.add(name);
      }
      const joins = resolved.map(({ join }) => join);
      if (new Set(joins.map(({ right }) => right)).size < joins.length)
        throw validationError("The same join is requested twice, by name and as an object");
      return { joins, columns: namedBeside(plan, resolved) };
    },
    () => joinsSchema(knownJoins(plan)),
  );
}

const joinsSchema = (items: readonly JsonSchema[]): JsonSchema => ({
  type: "array",
  items: anyOf(items),
  minItems: 1,
  maxItems: limits.aggregateJoinsMax,
});

/** Joins whose tables and columns are known only as texts. */
export const namedJoinsSchema: JsonSchema = joinsSchema([{ type: "string" }, joinParts.schema()]);

function knownJoins({ columns, joins, tables }: AggregatePlan): JsonSchema[] {
  const asked = tables.flatMap(({ name, columns: fields }) => {
    // Columns that can be joined to the same ones share a branch.
    const sources = Map.groupBy(columns.values(), (left) =>
      JSON.stringify([...fields.values()].filter((right) => canJoin(left, right)).map(nameOf)),
    );
    return [...sources].flatMap(([targets, lefts]) =>
      targets === "[]"
        ? []
        : joinSchema({
            tableName: { const: name },
            sourceField: nameSchema(lefts),
            targetField: { enum: JSON.parse(targets) as string[] },
            fields: { type: "array", items: nameSchema(fields.values()), minItems: 1 },
          }),
    );
  });
  return joins.size > 0 ? [{ enum: [...joins.keys()] }, ...asked] : asked;
}

const nameOf = ({ name }: Column): string => name;

function joinSchema(names: Record<string, JsonSchema>): JsonSchema {
  const schema = joinParts.schema();
  return { ...schema, properties: { ...schema.properties, ...names } };
}

interface Resolved {
  /** The part before the dot in `table.field`. */
  readonly name: string;
  readonly join: Join;
  readonly fields: Columns;
}

function named(name: string, plan: AggregatePlan): Resolved {
  const declared = plan.joins.get(name);
  if (!declared) throw validationError(`Unknown join "${name.slice(0, 100)}"`);
  return { name, join: declared.join, fields: declared.fields };
}

function requested(wanted: Wanted, plan: AggregatePlan): Resolved {
  const { tableName: name, sourceField, targetField } = wanted;
  const declared = [...plan.joins.values()].find((one) => isSame(one, wanted));
  if (declared) return { name, join: declared.join, fields: only(declared.fields, wanted.fields) };
  const left = plan.columns.get(sourceField);
  const table = plan.tables.find(
    (one) =>
      one.name === name && [targetField, ...wanted.fields].every((field) => one.columns.has(field)),
  );
  const right = table?.columns.get(targetField);
  if (!left || !table || !right)
    throw validationError(
      "This join is not allowed: use a table and fields that another endpoint shows, or a declared join",
    );
  if (!canJoin(left, right))
    throw validationError(
      `"${sourceField}" and "${targetField}" cannot be compared: their types differ`,
    );
  const columns = [...table.columns.values()];
  const join = { type: typeOf(wanted), source: table.source, columns, left, right, rows: null };
  return { name, join, fields: only(table.columns, wanted.fields) };
}

const typeOf = ({ joinType }: Wanted): Join["type"] => joinType.toLowerCase() as Join["type"];

const isSame = (declared: DeclaredJoin, wanted: Wanted): boolean =>
  declared.tableName === wanted.tableName &&
  declared.join.type === typeOf(wanted) &&
  declared.join.left.name === wanted.sourceField &&
  declared.join.right.name === wanted.targetField &&
  wanted.fields.every((field) => declared.fields.has(field));

/** Whether values of the two columns can be compared on every engine. */
export const canJoin = (left: Column, right: Column): boolean =>
  left.type === right.type && columnTypes[left.type].isJoined;

const only = (columns: Columns, names: readonly string[]): Columns =>
  new Map(names.map((name) => [name, columns.get(name)!]));

/** A column of the very name comes first, then one of a join, then a path. */
function namedBeside(
  { columns, named: paths }: AggregatePlan,
  resolved: readonly Resolved[],
): Columns {
  if (resolved.length === 0) return paths;
  const joined = allColumns(columns, resolved);
  return paths instanceof PathColumns ? new JoinedColumns(joined, paths) : joined;
}

/** Columns of joins, and the paths of the entity, which are always the same objects. */
class JoinedColumns extends PathColumns {
  readonly #paths: PathColumns;

  constructor(joined: Columns, paths: PathColumns) {
    super(joined, () => new Map());
    this.#paths = paths;
  }

  override get(name: string): Column | undefined {
    return super.get(name) ?? this.#paths.get(name);
  }

  override relation(path: string): FoundRelation | undefined {
    return this.#paths.relation(path);
  }

  override relationNames(): readonly string[] {
    return this.#paths.relationNames();
  }
}

function allColumns(own: Columns, joined: readonly Resolved[]): Columns {
  const columns = new Map(own);
  const times = new Map<string, number>();
  for (const { fields } of joined)
    for (const name of fields.keys()) times.set(name, (times.get(name) ?? 0) + 1);
  for (const { name: table, fields } of joined) {
    for (const [name, column] of fields) {
      if (!own.has(`${table}.${name}`)) columns.set(`${table}.${name}`, column);
      if (!own.has(name) && times.get(name) === 1) columns.set(name, column);
    }
  }
  return columns;
}

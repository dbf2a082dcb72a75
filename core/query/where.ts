/**
 * The two grammars of conditions: `where` reads read's tree of groups and operators, `equalities` the `{key, value}`
 * pairs of first and delete. Only columns that the caller can see are accepted, and every value is converted to its
 * column's type before it reaches a statement.
 */
import {
  choice,
  type MakeError,
  type Grammar,
  list,
  meaning,
  object,
  optional,
  present,
  recursive,
  text,
  value,
  whatever,
} from "../grammar/grammar.ts";
import type { Columns } from "../values/types/column.ts";
import { invalidPayload } from "../values/errors.ts";
import { isObject } from "../values/json.ts";
import { anyOf, closedObject } from "../values/json-shapes.ts";
import { type JsonSchema, orNull } from "../values/json-schema.ts";
import { limits } from "../values/limits.ts";
import { conditionSchema, equalitySchema, sensitiveSchema } from "./condition-schema.ts";
import {
  columnOf,
  equalTo,
  type Operand,
  operators,
  operatorsWith,
  unknownRelation,
} from "./comparisons.ts";
import { describedColumns, PathColumns } from "./paths.ts";
import { type Condition, equals, type Quantified } from "./statement.ts";

/**
 * read's filter: `{logic?, conditions: [{key, operator, value, sensitive?} | group]}`; null when there is none.
 * Rejects with Invalid payload (shape, operator), Invalid field (unknown column) or Invalid parameter (value).
 */
export const where = (columns: Columns): Grammar<Condition | null> =>
  optional(meaning(treeOf(columns), wholeTree), null, () =>
    treeSchema(conditionSchema(describedColumns(columns)), ofManySchemas(columns)),
  );

/** The same for a filter that must be there. Null: it has no condition. */
export const neededWhere = (columns: Columns): Grammar<Condition | null> =>
  meaning(treeOf(columns), wholeTree, () => {
    const single = conditionSchema(describedColumns(columns));
    const { properties, ...tree } = wholeTreeSchema(single, ofManySchemas(columns));
    const conditions = { ...properties!["conditions"], minItems: 1 };
    return { ...tree, properties: { ...properties, conditions } };
  });

/** A group over the columns and, where there are relations, over the records to which they lead. */
const treeOf = (columns: Columns): Grammar<Group> => groupOf(singleOf(columns));

/** The same tree over names that the request itself defines, as JSON Schema. */
export const namedWhereSchema = (): JsonSchema => treeSchema(namedConditionSchema());

/** One condition of it. */
export const namedConditionSchema = (): JsonSchema =>
  closedObject(
    {
      key: { type: "string" },
      operator: { enum: operands.flatMap(operatorsWith) },
      value: {},
      sensitive: sensitiveSchema,
    },
    ["key", "operator"],
  );

const operands: readonly Operand[] = ["any", "value", "pair", "list", "pattern", "member", "none"];

/** A group as it was sent, before the limits of the whole tree are checked. */
interface Group {
  readonly logic: string;
  readonly conditions: readonly Member[];
}

/** A condition on related records, before the limits of the whole tree are checked. */
interface AskedOfMany {
  readonly quantifier: Quantified["quantifier"];
  readonly steps: Quantified["steps"];
  readonly group: Group | null;
}

type Single = Condition | AskedOfMany;
type Member = Single | Group;

const notAWhere = () =>
  invalidPayload("where must be an object with a conditions array and a logic of AND or OR");
const tooManyConditions = () =>
  invalidPayload(`where takes at most ${limits.whereConditionsMax} conditions`);

/** What joins the members of a group. */
export const logicSchema: JsonSchema = { enum: ["AND", "OR", "and", "or", null], default: "AND" };

const logic = optional(
  value(
    (sent): sent is string => typeof sent === "string" && /^(and|or)$/i.test(sent),
    notAWhere,
    () => logicSchema,
  ),
  "and",
);

function groupOf(single: Grammar<Single>): Grammar<Group> {
  const group: Grammar<Group> = object(
    {
      logic,
      conditions: list(
        recursive(() => member),
        { fault: notAWhere, max: limits.whereConditionsMax, tooMany: tooManyConditions },
      ),
    },
    { fault: notAWhere, required: ["conditions"] },
  );
  const member = choice<Member>([single, group], (sent) =>
    isObject(sent) && Object.hasOwn(sent, "conditions") ? group : single,
  );
  return group;
}

const isGroup = (member: Member): member is Group => "logic" in member;

/** Null: it filters nothing. */
function wholeTree(group: Group): Condition | null {
  const budget = { conditions: limits.whereConditionsMax };
  const whole = conditionIn(group, 1, budget);
  return whole.kind === "and" && whole.members.length === 0 ? null : whole;
}

function conditionIn(
  { logic: joined, conditions }: Group,
  depth: number,
  budget: { conditions: number },
): Condition {
  if (depth > limits.whereDepthMax)
    throw invalidPayload(`where is nested deeper than ${limits.whereDepthMax} groups`);
  const members = conditions.map((member) => {
    if (isGroup(member)) return conditionIn(member, depth + 1, budget);
    if (--budget.conditions < 0) throw tooManyConditions();
    if ("kind" in member) return member;
    const { quantifier, steps, group } = member;
    const where = group && conditionIn(group, depth + 1, budget);
    return { kind: "quantified" as const, quantifier, steps, where };
  });
  // An empty group filters nothing, whatever its logic: a client without conditions means all rows.
  return members.length === 0
    ? { kind: "and", members }
    : { kind: joined.toLowerCase() as "and" | "or", members };
}

const notACondition = () =>
  invalidPayload("A where condition must be an object {key, operator, value}");

const conditionParts = object(
  {
    key: text(notACondition),
    operator: text(notACondition),
    value: whatever,
    sensitive: optional(
      value(
        (sent) => typeof sent === "boolean",
        () => invalidPayload("sensitive must be true or false"),
        () => ({ type: "boolean" }),
      ),
      true,
    ),
  },
  { fault: notACondition },
);

const quantifiers: ReadonlyMap<string, Quantified["quantifier"]> = new Map([
  ["ANY", "any"],
  ["NONE", "none"],
  ["ALL", "all"],
]);

const quantifierIn = (sent: unknown): string | null => {
  const word = isObject(sent) && typeof sent["operator"] === "string" ? sent["operator"] : "";
  const name = word.toUpperCase();
  return quantifiers.has(name) ? name : null;
};

/** `{key, operator, value}`, or `{key, operator: ANY | NONE | ALL, where?}` of a relation. */
function singleOf(columns: Columns): Grammar<Single> {
  const plain = condition(columns);
  if (!(columns instanceof PathColumns)) return plain;
  const ofMany = recursive(() => askedOfMany(columns));
  return choice<Single>([plain, ofMany], (sent) => (quantifierIn(sent) === null ? plain : ofMany));
}

function askedOfMany(columns: PathColumns): Grammar<AskedOfMany> {
  const notOfMany = () =>
    invalidPayload("A condition on related records must be an object {key, operator, where}");
  const parts = object(
    { key: text(notOfMany), operator: text(notOfMany), where: whatever },
    { fault: notOfMany },
  );
  const relatedTree = (key: unknown): Grammar<Group> | null => {
    const found = typeof key === "string" ? columns.relation(key) : undefined;
    return found === undefined ? null : treeOf(found.columns);
  };
  return {
    read(sent) {
      const { key, operator, where: asked } = parts.read(sent);
      const name = operator.toUpperCase();
      const found = columns.relation(key);
      if (found === undefined) {
        if (columns.has(key)) throw invalidPayload(`Operator ${name} needs a relation`);
        throw unknownRelation(key, columns.relationNames(), "where");
      }
      const isWhole = asked === undefined || asked === null;
      if (isWhole && name === "ALL") throw invalidPayload("Operator ALL needs a where");
      const group = isWhole ? null : treeOf(found.columns).read(asked);
      return { quantifier: quantifiers.get(name)!, steps: found.steps, group };
    },
    schema: () => anyOf(ofManySchemas(columns)),
    *unknownIn(sent, path) {
      yield* parts.unknownIn?.(sent, path) ?? [];
      if (!isObject(sent)) return;
      const tree = relatedTree(sent["key"]);
      yield* tree?.unknownIn?.(sent["where"], `${path}.where`) ?? [];
    },
  };
}

/** Conditions on each relation, by conditions on the columns of its records alone. */
function ofManySchemas(columns: Columns): readonly JsonSchema[] {
  if (!(columns instanceof PathColumns)) return [];
  const names = columns.relationNames();
  if (names.length === 0) return [];
  const operator: JsonSchema = { enum: [...quantifiers.keys()] };
  return [
    closedObject({ key: { enum: names }, operator: { enum: ["ANY", "NONE"] } }, [
      "key",
      "operator",
    ]),
    ...names.map((name) => {
      const where = groupSchema(conditionSchema(new Map(columns.relation(name)!.columns)));
      return closedObject({ key: { const: name }, operator, where }, ["key", "operator", "where"]);
    }),
  ];
}

/** One `{key, operator, value}`. Rejects like `where`. */
export const condition = (columns: Columns): Grammar<Condition> =>
  meaning(
    conditionParts,
    ({ key, operator: word, value: operand, sensitive }) => {
      const name = word.toUpperCase();
      const operator = operators.get(name);
      if (!operator) throw invalidPayload(`Unknown operator "${word.slice(0, 100)}" in where`);
      const column = columnOf(key, columns, "where");
      if (operator.operand !== "none" && operand === undefined)
        throw invalidPayload(`Operator ${name} needs a value`);
      return operator.read(column, operand, sensitive);
    },
    () => conditionSchema(columns),
  );

/**
 * The filter of first and delete: an array of `{key, value}`; a null value means IS NULL. `single`: one such object is
 * accepted too. `min` 1: required, and not empty. Rejects like `where`.
 */
export function equalities(
  columns: Columns,
  { single = false, min = 1 }: { single?: boolean; min?: 0 | 1 } = {},
): Grammar<Condition[]> {
  const fault = () =>
    invalidPayload(
      `where must be ${single ? "an object {key, value} or " : ""}a non-empty array of {key, value}`,
    );
  const pair = equality(columns, fault);
  const pairs = list(pair, {
    fault,
    min,
    max: limits.whereConditionsMax,
    tooMany: tooManyConditions,
  });
  const one = meaning(pair, (condition) => [condition]);
  return {
    ...choice(single ? [one, pairs] : [pairs], (sent) => (single && isObject(sent) ? one : pairs)),
    read(sent) {
      if (sent === undefined || sent === null) throw invalidPayload("where is required");
      return single && isObject(sent) ? one.read(sent) : pairs.read(sent);
    },
  };
}

/**
 * The tree of `where`, or its conditions alone, which are joined by AND; those without an operator are equalities.
 * `single`: one condition is accepted too. Rejects like `where`.
 */
export function treeOrPairs(columns: Columns, { single = false } = {}): Grammar<Condition | null> {
  const tree = where(columns);
  const asked = conditionOrPair(columns);
  const some = list(asked, {
    fault: notACondition,
    max: limits.whereConditionsMax,
    tooMany: tooManyConditions,
  });
  const allOfThem = (conditions: readonly Single[]) => wholeTree({ logic: "and", conditions });
  const listed = meaning(some, allOfThem);
  const one = meaning(asked, (condition) => allOfThem([condition]));
  const isOne = (sent: unknown): boolean => single && isObject(sent) && Object.hasOwn(sent, "key");
  const either = choice(single ? [tree, one, listed] : [tree, listed], (sent) =>
    Array.isArray(sent) ? listed : isOne(sent) ? one : tree,
  );
  const isNone = (sent: unknown): boolean =>
    isObject(sent) ? !Object.hasOwn(sent, "conditions") && !isOne(sent) : !Array.isArray(sent);
  return {
    ...either,
    read(sent) {
      if (sent !== undefined && sent !== null && isNone(sent))
        throw invalidPayload(
          `where must be ${single ? "an object {key, value}, " : ""}an array of {key, value}, or an object with conditions`,
        );
      return either.read(sent);
    },
  };
}

function conditionOrPair(columns: Columns): Grammar<Single> {
  const pair = equality(columns, () =>
    invalidPayload("A where condition must be an object {key, value} or {key, operator, value}"),
  );
  const full = singleOf(columns);
  return choice<Single>([pair, full], (sent) =>
    isObject(sent) && Object.hasOwn(sent, "operator") ? full : pair,
  );
}

/** One `{key, value}`. */
export function equality(columns: Columns, fault: MakeError): Grammar<Condition> {
  const parts = object({ key: text(fault), value: present(fault), operator: whatever }, { fault });
  return meaning(
    parts,
    ({ key, value: operand, operator }) => {
      if (operator !== undefined && operator !== "=")
        throw invalidPayload("where only supports equality here; leave the operator out");
      const column = columnOf(key, columns, "where");
      return operand === null ? equals(column, null) : equalTo(column, "=", operand);
    },
    () => equalitySchema(describedColumns(columns)),
  );
}

/** `ofMany`: conditions that count as a level of nesting. */
const treeSchema = (condition: JsonSchema, ofMany: readonly JsonSchema[] = []): JsonSchema =>
  orNull(wholeTreeSchema(condition, ofMany));

function wholeTreeSchema(condition: JsonSchema, ofMany: readonly JsonSchema[]): JsonSchema {
  let group = groupSchema(condition);
  for (let depth = 1; depth < limits.whereDepthMax; depth++)
    group = groupSchema({ anyOf: [condition, ...ofMany, group] });
  return {
    ...group,
    description: `Groups nest ${limits.whereDepthMax} deep, and hold ${limits.whereConditionsMax} conditions in all.`,
  };
}

const groupSchema = (member: JsonSchema): JsonSchema =>
  closedObject(
    {
      logic: logicSchema,
      conditions: { type: "array", items: member, maxItems: limits.whereConditionsMax },
    },
    ["conditions"],
  );

/**
 * `relations` of an endpoint's file -> steps from its records to those of other endpoints. Known only after all
 * endpoints are compiled.
 */
import { wholeRelated } from "../../callers/access.ts";
import { namedExport, namedGrid, namedLookup } from "../../callers/entity-views.ts";
import { namingFrom } from "../../callers/related-views.ts";
import { canJoin } from "../../lists/joins.ts";
import type { Entity } from "../../plans/entity.ts";
import type { RelationPlan } from "../../plans/relation.ts";
import type { RelationStep } from "../../query/paths.ts";
import type { Column, Columns } from "../../values/types/column.ts";
import { didYouMean } from "../reading/did-you-mean.ts";
import type { Path } from "../reading/faults.ts";
import { areUnique } from "./key-plan.ts";
import type { RelationConfig } from "../reading/relation-schema.ts";
import type { CompiledEndpoint, Survey } from "./survey.ts";

type Endpoints = ReadonlyMap<string, CompiledEndpoint>;

export const noRelations: ReadonlyMap<string, RelationPlan> = new Map();

/** The relations of each entity. Adds faults to the surveys. */
export function declaredRelations(
  compiled: readonly CompiledEndpoint[],
): ReadonlyMap<Entity, ReadonlyMap<string, RelationPlan>> {
  const endpoints: Endpoints = new Map(compiled.map((one) => [one.entity.name, one]));
  return new Map(compiled.map((one) => [one.entity, relationsFrom(one, endpoints)]));
}

/** Without relations to endpoints that are left out. */
export function onlyTo(
  good: readonly { readonly entity: Entity }[],
  relations: Entity["relations"],
): Entity["relations"] {
  const isThere = ({ endpoint }: { readonly endpoint: string }): boolean =>
    good.some(({ entity }) => entity.name === endpoint);
  return relations.size === 0
    ? relations
    : new Map([...relations].filter(([, { steps }]) => steps.every(isThere)));
}

/** The entity with the paths that a caller with all rights may name. */
export function withPaths(entity: Entity, entities: ReadonlyMap<string, Entity>): Entity {
  const naming = namingFrom(entity, wholeRelated, entities);
  const { read, lookup, grid, aggregate, export: exported } = entity;
  return {
    ...entity,
    read: read && { ...read, named: naming(read.columns) },
    lookup: lookup && namedLookup(lookup, naming),
    grid: grid && namedGrid(grid, naming),
    export: exported && namedExport(exported, naming),
    aggregate: aggregate && { ...aggregate, named: naming(aggregate.columns) },
  };
}

function relationsFrom(
  own: CompiledEndpoint,
  endpoints: Endpoints,
): ReadonlyMap<string, RelationPlan> {
  const declared = Object.entries(own.survey.payload.relations ?? {});
  if (declared.length === 0) return noRelations;
  return new Map(
    declared.flatMap(([name, config]): [string, RelationPlan][] => {
      // The operator left out what init would write.
      if (config === false || !isName(own, name)) return [];
      const steps = stepsOf(own, endpoints, { name, config });
      if (steps === null) return [];
      const { endpoint } = config;
      return [[name, { name, endpoint, isMany: config.column === undefined, steps }]];
    }),
  );
}

/** Whether JavaScript's objects or functions have a member of that name, so that clients could trip over it. */
export const isObjectMember = (name: string): boolean =>
  name in Object.prototype || name === "prototype";

const nameForm = /^[A-Za-z_][A-Za-z0-9_]{0,62}$/;

function isName({ survey, entity, table }: CompiledEndpoint, name: string): boolean {
  const fault = (expected: string): false => {
    survey.fault(["relations", name], { found: JSON.stringify(name), expected });
    return false;
  };
  if (!nameForm.test(name))
    return fault("a name of letters, digits and underscores, at most 63 of them, no digit first");
  if (isObjectMember(name)) return fault("a name that objects do not have already");
  const sources = [entity.read, entity.grid, entity.export].map((plan) => plan?.source.columns);
  return [table?.columns, ...sources].some((columns) => columns?.has(name))
    ? fault("a name that no column has")
    : true;
}

interface Declared {
  readonly name: string;
  readonly config: Exclude<RelationConfig, false>;
}

/** Null, and a fault, if the relation cannot be used. */
function stepsOf(
  own: CompiledEndpoint,
  endpoints: Endpoints,
  { name, config }: Declared,
): readonly RelationStep[] | null {
  const path = ["relations", name];
  const { survey } = own;
  const target = readable(survey, endpoints, {
    name: config.endpoint,
    path: [...path, "endpoint"],
  });
  if (own.entity.read === null)
    survey.fault(path, { expected: "no relations where nothing is read" });
  if (target === null || own.entity.read === null) return null;
  if (config.column !== undefined) {
    const step = stepBetween(survey, { path, from: own, to: target }, [
      { names: listOf(config.column), property: "column" },
      { names: keyNames(target, config.key), property: "key" },
    ]);
    return step && isKey(survey, path, target, step) ? [step] : null;
  }
  if (config.foreignColumn !== undefined) {
    const step = stepBetween(survey, { path, from: own, to: target }, [
      { names: keyNames(own, config.key), property: "key" },
      { names: listOf(config.foreignColumn), property: "foreignColumn" },
    ]);
    return step && [step];
  }
  const { endpoint, column, foreignColumn } = config.through!;
  const between = readable(survey, endpoints, {
    name: endpoint,
    path: [...path, "through", "endpoint"],
  });
  if (between === null) return null;
  const inThrough = [...path, "through"];
  const there = stepBetween(survey, { path: inThrough, from: own, to: between }, [
    { names: keyNames(own, undefined), property: "key" },
    { names: listOf(column), property: "column" },
  ]);
  const onwards = stepBetween(survey, { path: inThrough, from: between, to: target }, [
    { names: listOf(foreignColumn), property: "foreignColumn" },
    { names: keyNames(target, config.key), property: "key" },
  ]);
  if (there === null || onwards === null) return null;
  if (!isKey(survey, path, target, onwards)) return null;
  const linking = [...there.on.map(({ right }) => right), ...onwards.on.map(({ left }) => left)];
  const isOnce = tellsApart(
    between,
    linking.map(({ name: one }) => one),
  );
  return [isOnce ? there : { ...there, repeats: true }, onwards];
}

const listOf = (names: string | readonly string[]): readonly string[] => [names].flat();

/** The other unique column that the file names, or the key. */
const keyNames = (
  { entity }: CompiledEndpoint,
  key: string | readonly string[] | undefined,
): readonly string[] =>
  key === undefined ? (entity.read?.key ?? []).map(({ name }) => name) : listOf(key);

/** The endpoint, if read or first is switched on there. Null without a fault where its own file has the fault. */
function readable(
  survey: Survey,
  endpoints: Endpoints,
  { name, path }: { readonly name: string; readonly path: Path },
): CompiledEndpoint | null {
  const found = endpoints.get(name);
  if (found === undefined) {
    if (survey.endpointNames.has(name)) return null;
    survey.fault(path, {
      found: JSON.stringify(name),
      expected: "an endpoint of the project",
      hint: didYouMean(name, survey.endpointNames),
    });
    return null;
  }
  const { enabled, read, params } = found.entity;
  const [needed] = params?.rules.neededOf(params.sent) ?? [];
  if (needed !== undefined) {
    survey.fault(path, {
      found: `${JSON.stringify(name)}, whose parameter ${needed} is required`,
      expected: "an endpoint that can be read without parameters; give it a default",
    });
    return null;
  }
  if (read !== null && (enabled.has("read") || enabled.has("first"))) return found;
  if (read !== null || found.survey.faults.length === 0)
    survey.fault(path, {
      found: JSON.stringify(name),
      expected: "an endpoint where read or first is switched on",
    });
  return null;
}

interface Side {
  readonly names: readonly string[];
  /** The property of the relation that names them. */
  readonly property: string;
}

/** The step over equal columns of both sides. */
function stepBetween(
  survey: Survey,
  { path, from, to }: { path: Path; from: CompiledEndpoint; to: CompiledEndpoint },
  [left, right]: readonly [Side, Side],
): RelationStep | null {
  const lefts = columnsOf(survey, path, from, left);
  const rights = columnsOf(survey, path, to, right);
  if (lefts === null || rights === null) return null;
  if (lefts.length !== rights.length || lefts.length === 0) {
    survey.fault([...path, left.property === "key" ? right.property : left.property], {
      found: `${left.names.length} and ${right.names.length} columns`,
      expected: "as many columns as the key has",
    });
    return null;
  }
  const on = lefts.map((column, at) => ({ left: column, right: rights[at]! }));
  const odd = on.find((pair) => !canRelate(pair.left, pair.right));
  if (odd !== undefined) {
    survey.fault(path, {
      found: `${kindOf(odd.left)} and ${kindOf(odd.right)}`,
      expected: "columns that can be compared",
    });
    return null;
  }
  const { source, dependsOn } = to.entity.read!;
  const names = rights.map(({ name }) => name);
  return { endpoint: to.entity.name, source, on, isUnique: tellsApart(to, names), dependsOn };
}

/** Whether the database can compare the two columns, and finds the same rows as a key of either does. */
export const canRelate = (left: Column, right: Column): boolean =>
  canJoin(left, right) &&
  (left.isLooselyCollated === right.isLooselyCollated || isUntold(left) || isUntold(right)) &&
  (left.comparedIn ?? right.comparedIn) === (right.comparedIn ?? left.comparedIn);

/** The database does not tell the collation of an expression. */
const isUntold = ({ alike }: Column): boolean => alike === "loosely";

const kindOf = ({ name, type, comparedIn }: Column): string =>
  `${name} (${comparedIn === undefined ? type : `${type}, ${comparedIn}`})`;

function columnsOf(
  survey: Survey,
  path: Path,
  { entity }: CompiledEndpoint,
  { names, property }: Side,
): readonly Column[] | null {
  const columns: Columns = entity.read!.source.columns;
  const found = names.flatMap(
    (name) =>
      survey.column(name, columns, [...path, property], `the endpoint ${entity.name}`) ?? [],
  );
  return found.length === names.length ? found : null;
}

/** Whether the database lets no two rows of the endpoint have the same values in the columns. */
function tellsApart({ entity, table }: CompiledEndpoint, names: readonly string[]): boolean {
  const source = entity.read?.source;
  return (
    table !== null &&
    source?.kind === "table" &&
    source.identity === table.identity &&
    areUnique(table, names)
  );
}

/** Whether the columns name one record: as the database says of a table, as the file says of a view or query. */
function isKey(
  survey: Survey,
  path: Path,
  { entity, table }: CompiledEndpoint,
  { on, isUnique }: RelationStep,
): boolean {
  if (isUnique) return true;
  const names = on.map(({ right }) => right.name);
  const { source, key } = entity.read!;
  const isTable =
    source.kind === "table" && table?.kind === "table" && source.identity === table.identity;
  if (!isTable && key.length > 0 && key.every(({ name }) => names.includes(name))) return true;
  survey.fault(path, {
    found: `${names.join(", ")} of the endpoint ${entity.name}`,
    expected: isTable ? "columns that are unique together" : "the primaryKey of that endpoint",
  });
  return false;
}

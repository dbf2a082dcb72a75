/**
 * `rowScope` by path: rules about related records -> steps to their tables. They are the operator's, so they look at all
 * stored records but those marked as deleted, whatever callers may see there. What is read within such a scope depends
 * on those tables, too.
 */
import { asNarrowed } from "../../callers/narrow.ts";
import { wholeScope } from "../../callers/scope.ts";
import { seeing } from "../../callers/visibility.ts";
import type { RowRule, RulePath } from "../../plans/access-rules.ts";
import type { Entity } from "../../plans/entity.ts";
import { namesIn } from "../../plans/query-params.ts";
import type { RelationPlan } from "../../plans/relation.ts";
import { hopsMax } from "../../query/paths.ts";
import type { JoinedHop } from "../../query/statement.ts";
import type { Columns, Hop } from "../../values/types/column.ts";
import { fits } from "./access-plan.ts";
import type { Path } from "../reading/faults.ts";
import type { CompiledEndpoint, Survey } from "./survey.ts";

type Related = ReadonlyMap<Entity, Entity["relations"]>;

/** The endpoints and their relations. Adds faults to the surveys. */
export function withScopePaths<One extends CompiledEndpoint>(
  compiled: readonly One[],
  related: Related,
): { readonly all: readonly One[]; readonly related: Related } {
  const named = new Map(compiled.map(({ entity }) => [entity.name, entity]));
  const scoped = new Map(
    compiled.map((one) => [one.entity, withRules(one, { entities: named, related })]),
  );
  if (compiled.every(({ entity }) => scoped.get(entity) === entity))
    return { all: compiled, related };
  const all = compiled.map((one) => ({ ...one, entity: scoped.get(one.entity)! }));
  const dependsOn = new Map(all.map(({ entity }) => [entity.name, entity.read?.dependsOn ?? []]));
  const anew = (plan: RelationPlan): RelationPlan => ({
    ...plan,
    steps: plan.steps.map((step) => ({ ...step, dependsOn: dependsOn.get(step.endpoint)! })),
  });
  return {
    all,
    related: new Map(
      [...related].map(([entity, plans]) => [
        scoped.get(entity)!,
        new Map([...plans].map(([name, plan]) => [name, anew(plan)])),
      ]),
    ),
  };
}

interface World {
  readonly entities: ReadonlyMap<string, Entity>;
  readonly related: Related;
}

/** The entity itself if it has no rule with a path. */
function withRules({ survey, entity }: CompiledEndpoint, world: World): Entity {
  const { access } = entity;
  const sources = sourcesOf(entity);
  const isPath = ({ column }: RowRule): boolean =>
    column.includes(".") && !sources.some(({ columns }) => columns.has(column));
  if (access === null || ![...access.rows.values()].flat().some(isPath)) return entity;
  const tables = new Set<string>();
  const ruleAt = (role: string, rule: RowRule): RowRule => {
    if (!isPath(rule)) return rule;
    const at = ["rowScope", role, rule.column];
    const path = pathOf(rule.column, entity, world);
    if (path?.steps.some(({ hop }) => namesIn(hop.source) !== null)) {
      survey.fault(at, { expected: "a path over endpoints whose queries take no params" });
      return rule;
    }
    if (path === null) {
      survey.fault(at, {
        found: JSON.stringify(rule.column),
        expected: "a column, or a path over relations to one that ends with a column",
      });
      return rule;
    }
    for (const { hop } of path.steps) for (const name of hop.dependsOn) tables.add(name);
    mustBegin(survey, at, path, sources);
    const columns = new Map([[rule.column, path.column]]);
    fits(survey, { path: at, rule, source: { columns, label: "the related records" } });
    return { ...rule, path };
  };
  const rows = new Map(
    [...access.rows].map(([role, rules]) => [role, rules.map((rule) => ruleAt(role, rule))]),
  );
  const { read, lookup, grid } = entity;
  const deeper = <Plan extends { readonly dependsOn: readonly string[] }>(plan: Plan): Plan => ({
    ...plan,
    dependsOn: [...new Set([...plan.dependsOn, ...tables])],
  });
  return {
    ...entity,
    access: { ...access, rows },
    read: read && deeper(read),
    lookup: lookup && deeper(lookup),
    grid: grid && deeper(grid),
  };
}

/** What requests read and write, where the first step has to begin. */
const sourcesOf = ({ access, read, grid, export: exported }: Entity): { columns: Columns }[] =>
  [access?.table, read?.source, grid?.source, exported?.source].flatMap((one) =>
    one ? [{ columns: one.columns }] : [],
  );

/** Null: the path leads nowhere. */
function pathOf(text: string, from: Entity, { entities, related }: World): RulePath | null {
  const names = text.split(".");
  const steps: RulePath["steps"][number][] = [];
  let entity: Entity | undefined = from;
  for (let at = 0; entity !== undefined && at <= hopsMax; at++) {
    const column = entity.read?.source.columns.get(names.slice(at).join("."));
    if (column !== undefined) return at === 0 ? null : { steps, column };
    const relation: RelationPlan | undefined = related.get(entity)?.get(names[at] ?? "");
    if (relation === undefined || relation.isMany) return null;
    const [step] = relation.steps as [RelationPlan["steps"][number]];
    entity = entities.get(step.endpoint);
    if (entity === undefined) return null;
    const hop: Hop = { ...step, before: null, member: "" };
    const rows = seeing(wholeScope, entity, "active").visibleRows(step.source);
    steps.push(asNarrowed<JoinedHop>({ hop, rows }));
  }
  return null;
}

function mustBegin(
  survey: Survey,
  at: Path,
  { steps }: RulePath,
  sources: readonly { readonly columns: Columns }[],
): void {
  const { on } = steps[0]!.hop;
  const missing = on.find(({ left }) =>
    sources.some(({ columns }) => columns.get(left.name)?.type !== left.type),
  );
  if (missing === undefined) return;
  survey.fault(at, {
    found: `a path that begins at ${missing.left.name}`,
    expected: "a relation whose columns all tables, views and queries of the endpoint have",
  });
}

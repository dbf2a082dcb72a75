/** `mcp` of project.json -> the endpoints as agents see them, and the writing actions that they can use. */
import { actions } from "../../actions.ts";
import type { AgentPlan } from "../../plans/agent-plan.ts";
import type { Entity } from "../../plans/entity.ts";
import { deepFreeze } from "../../values/freeze.ts";
import { agentLimits } from "../../values/agent-limits.ts";
import type { McpSettings } from "../reading/mcp-schema.ts";
import { didYouMean } from "../reading/did-you-mean.ts";
import { faultAt } from "../reading/document.ts";
import type { Fault, Path } from "../reading/faults.ts";
import type { ProjectConfig } from "../reading/read-config.ts";
import { onlyTo, withPaths } from "./compile-relations.ts";

/** Writes that take one JSON body and answer at once. */
const writingActions: ReadonlySet<string> = new Set(
  actions.flatMap(({ name, mode, takesUpload }) => (mode === "writes" && !takesUpload ? name : [])),
);

/**
 * `entities`: those without a fault. Null: the project has no `mcp`. Names of endpoints that are left out for a fault of
 * their own are no further fault.
 */
export function agentsOf(
  config: Pick<ProjectConfig, "mcp" | "document" | "endpoints" | "endpointNames">,
  entities: ReadonlyMap<string, Entity>,
): { readonly plan: AgentPlan | null; readonly faults: readonly Fault[] } {
  const { mcp } = config;
  if (mcp === undefined) return { plan: null, faults: [] };
  const faults: Fault[] = [];
  const fault = (path: Path, about: Parameters<typeof faultAt>[2]): void =>
    void faults.push(faultAt(config.document, ["mcp", ...path], about));
  const known = config.endpointNames;
  for (const [at, name] of mcp.endpoints.entries()) {
    if (mcp.endpoints.indexOf(name) < at)
      fault(["endpoints", at], { expected: "each endpoint once" });
    else if (!known.has(name))
      fault(["endpoints", at], {
        expected: "an endpoint of the project",
        hint: didYouMean(name, known),
      });
  }
  const listed = mcp.endpoints.flatMap((name) => entities.get(name) ?? []);
  const narrowed = new Map(listed.map((entity) => [entity.name, narrowedTo(listed, entity)]));
  for (const [name, entity] of narrowed)
    narrowed.set(name, deepFreeze(withPaths(entity, narrowed)));
  return { plan: { entities: narrowed, writes: writesOf(mcp, { entities, fault }) }, faults };
}

function narrowedTo(listed: readonly Entity[], entity: Entity): Entity {
  const { definition, settings, relations, aggregate } = entity;
  const names = listed.map(({ name }) => name);
  return {
    ...entity,
    // Answers that are cached for others can hold what is narrowed here.
    definition: JSON.stringify([definition, "agents", names]),
    settings: {
      ...settings,
      // An agent guesses names, and would take a filter that was passed over for one that was applied.
      unknownMembers: "refuse",
      bulkRecordsMax: Math.min(settings.bulkRecordsMax, agentLimits.recordsMax),
    },
    relations: onlyTo(
      listed.map((one) => ({ entity: one })),
      relations,
    ),
    aggregate: aggregate && {
      ...aggregate,
      tables: aggregate.tables.filter(({ endpoint }) => names.includes(endpoint)),
    },
  };
}

interface Writing {
  readonly entities: ReadonlyMap<string, Entity>;
  fault(path: Path, about: Parameters<typeof faultAt>[2]): void;
}

function writesOf(
  { endpoints, write }: McpSettings,
  { entities, fault }: Writing,
): AgentPlan["writes"] {
  const writes = new Map<string, Set<string>>();
  for (const [at, text] of write.entries()) {
    const [name = "", action] = text.split(/\/(.*)/s);
    const path = ["write", at];
    if (!endpoints.includes(name)) {
      fault(path, {
        expected: "an endpoint of mcp.endpoints, or one of its actions as in orders/create",
        hint: didYouMean(name, endpoints),
      });
      continue;
    }
    const entity = entities.get(name);
    if (entity === undefined) continue;
    const own = [...entity.enabled].filter((one) => writingActions.has(one));
    const chosen = action === undefined ? own : own.filter((one) => one === action);
    if (chosen.length === 0)
      fault(path, {
        expected:
          own.length === 0
            ? `an endpoint with a writing action; ${name} has none`
            : `a writing action that is switched on for ${name}: ${own.join(", ")}`,
        hint: action === undefined ? undefined : didYouMean(action, own),
      });
    writes.set(name, (writes.get(name) ?? new Set()).union(new Set(chosen)));
  }
  return writes;
}

/** What AI agents can use of a project: `mcp` of its project.json, compiled. */
import type { Entity } from "./entity.ts";

export interface AgentPlan {
  /** The endpoints, by name. Relations and joins lead only to these, and unknown members of requests are refused. */
  readonly entities: ReadonlyMap<string, Entity>;
  /** The writing actions, by endpoint. */
  readonly writes: ReadonlyMap<string, ReadonlySet<string>>;
}

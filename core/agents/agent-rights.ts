/** What one caller can use of what agents can use. */
import type { BoundAction, Routes } from "../dispatch.ts";
import type { Caller } from "../plans/caller.ts";

export type Agents = NonNullable<Routes["agents"]>;

/** The tools that are an action of the same name. */
export const readingTools = ["read", "first", "lookup", "aggregate"] as const;

export type ReadingTool = (typeof readingTools)[number];

export interface AgentRights {
  /** By endpoint, in the order of the configuration; endpoints with neither tools nor writes are missing. */
  readonly endpoints: ReadonlyMap<string, EndpointRights>;
}

export interface EndpointRights {
  /** The reading tools that take it. */
  readonly reads: ReadonlyMap<ReadingTool, BoundAction>;
  /** The actions of it that `write` takes. */
  readonly writes: ReadonlyMap<string, BoundAction>;
}

export function rightsOf({ routes, writes }: Agents, caller: Caller): AgentRights {
  const endpoints = [...routes.endpoints].flatMap(([name, actions]) => {
    const usable = <Name extends string>(names: Iterable<Name>): Map<Name, BoundAction> =>
      new Map(
        [...names].flatMap((action) => {
          const bound = actions.get(action);
          return bound?.mayUse(caller) === true ? [[action, bound] as const] : [];
        }),
      );
    const rights = { reads: usable(readingTools), writes: usable(writes.get(name) ?? []) };
    return rights.reads.size + rights.writes.size === 0 ? [] : [[name, rights] as const];
  });
  return { endpoints: new Map(endpoints) };
}

/** The endpoints that a reading tool, or `write`, takes. */
export const endpointsOf = ({ endpoints }: AgentRights, tool: ReadingTool | "write"): string[] =>
  [...endpoints]
    .filter(([, { reads, writes }]) => (tool === "write" ? writes.size > 0 : reads.has(tool)))
    .map(([name]) => name);

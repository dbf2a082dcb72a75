/** What is known of the projects at the moment when somebody reads the metrics. */
import type { ConnectionCounts } from "../../core/plans/observer.ts";
import type { ServiceMetrics } from "./service-metrics.ts";

/** Of a project, as it is served. */
interface ServedProject {
  readonly name: string;
  /** Null: its database was not reached yet. */
  readonly routes: object | null;
  readonly db: { connections(): ConnectionCounts };
}

export function gaugeProjects(
  { projectUp, connections, callersWaiting }: ServiceMetrics,
  projects: readonly ServedProject[],
): void {
  projectUp.set(
    projects.map(({ name, routes }) => ({ values: [name], value: routes === null ? 0 : 1 })),
  );
  const counted = projects.map(({ name, db }) => ({ name, ...db.connections() }));
  connections.set(
    counted.flatMap(({ name, busy, idle, opening }) => [
      { values: [name, "busy"], value: busy },
      { values: [name, "idle"], value: idle },
      { values: [name, "opening"], value: opening },
    ]),
  );
  callersWaiting.set(counted.map(({ name, waiting }) => ({ values: [name], value: waiting })));
}

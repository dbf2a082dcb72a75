/**
 * Tracks whether the tables of the projects may have changed, for a runtime where nothing runs between requests. If so,
 * the routes are dropped, and the next request compiles the project again over its own connections.
 */
import type { SchemaWatch } from "../../../core/plans/db-port.ts";
import { createLastingFailures, type LastingFailures } from "../reloading/lasting-failures.ts";

/** Pause between two looks at the tables of a project: for a failure that is new, and otherwise. */
const pauseMs = { new: 1_000, other: 5_000 };

interface Known {
  /** The tables that the routes were compiled from. */
  shape: string;
  droppedAtMs: number;
  readonly failures: LastingFailures;
}

export interface Doubts {
  /** Whether the project was compiled before. */
  knows(project: string): boolean;
  /** To be called when the project was compiled. */
  saw(project: string, shape: string): void;
  watchOf(project: string, dropRoutes: () => void): SchemaWatch;
}

export function createDoubts(): Doubts {
  const known = new Map<string, Known>();
  return {
    knows: (project) => known.has(project),
    saw(project, shape) {
      const one = known.get(project);
      if (!one) {
        const failures = createLastingFailures();
        known.set(project, { shape, droppedAtMs: -Infinity, failures });
        return;
      }
      if (one.shape === shape) one.failures.sawSame();
      else one.failures.sawChange();
      one.shape = shape;
    },
    watchOf: (project, dropRoutes) => ({
      doubt(failure) {
        const one = known.get(project);
        if (!one) return;
        if (failure !== undefined) one.failures.failed(failure);
        const isNew = failure !== undefined && !one.failures.isLasting(failure);
        const nowMs = performance.now();
        if (nowMs - one.droppedAtMs < (isNew ? pauseMs.new : pauseMs.other)) return;
        one.droppedAtMs = nowMs;
        one.failures.beginLook();
        dropRoutes();
      },
      mayPass: (failure) => known.get(project)?.failures.isLasting(failure) !== true,
    }),
  };
}

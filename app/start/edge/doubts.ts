/**
 * Whether the tables of the projects may have changed, for a runtime where nothing runs between requests: the routes are dropped, and
 * the next request compiles the project again over its own connections.
 */
import type { SchemaWatch } from "../../../core/dispatch.ts";

/** Pause between two looks at the tables of a project. */
const pauseMs = 5_000;

interface Known {
  /** The tables that the routes were compiled from. */
  shape: string;
  droppedAtMs: number;
  /** The last look found what was there before. */
  isSame: boolean;
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
  const isRecent = (one: Known): boolean => performance.now() - one.droppedAtMs < pauseMs;
  return {
    knows: (project) => known.has(project),
    saw(project, shape) {
      const before = known.get(project);
      const isSame = before?.shape === shape;
      known.set(project, { shape, droppedAtMs: before?.droppedAtMs ?? -Infinity, isSame });
    },
    watchOf: (project, dropRoutes) => ({
      doubt() {
        const one = known.get(project);
        if (!one || isRecent(one)) return;
        one.droppedAtMs = performance.now();
        one.isSame = false;
        dropRoutes();
      },
      isUnsettled() {
        const one = known.get(project);
        return one !== undefined && isRecent(one) && !one.isSame;
      },
    }),
  };
}

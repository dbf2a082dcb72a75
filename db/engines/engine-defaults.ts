/** What most engines have in common. An engine's `open` overrides what differs. */
import type { Engine } from "./engine.ts";

export const engineDefaults = {
  singleWriter: false,
  connectionsMax: Infinity,
  longReadsMax: 0,
  isLong: () => false,
  pipelines: null,
  localSettings: () => null,
  beginFinding: [],
  commit: "commit",
  rollback: "rollback",
  // Every constraint is checked by its statement.
  foreseeCommit: async () => null,
  resettle: [],
  reset: async () => {},
  savepoint: {
    set: "savepoint rowgate_part",
    undo: "rollback to savepoint rowgate_part",
    release: "release savepoint rowgate_part",
  },
  signals: null,
  replication: null,
  probe: "select 1",
  computes: () => true,
  schemasQuery: null,
  // Results do not describe how their values must be read.
  kinds: { expected: () => null, answered: () => null },
} satisfies Partial<Engine>;

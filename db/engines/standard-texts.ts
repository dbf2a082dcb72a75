/** The texts of `Engine` that PostgreSQL, MySQL, MariaDB and SQLite have in common. */
import type { Engine } from "./engine.ts";

export const standardTexts: Pick<Engine, "commit" | "rollback" | "savepoint" | "probe"> = {
  commit: "commit",
  rollback: "rollback",
  savepoint: {
    set: "savepoint rowgate_part",
    undo: "rollback to savepoint rowgate_part",
    release: "release savepoint rowgate_part",
  },
  probe: "select 1",
};

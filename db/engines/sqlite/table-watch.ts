/**
 * Notices changes of tables, also by other programs: SQLite re-prepares statements silently, and its results do not
 * contain the types of their columns. A check costs as much as reading a record, so it is done once per pause.
 */
import type { Database } from "better-sqlite3";

const pauseMs = 250;

export interface TableWatch {
  /** To be called with each new connection. */
  begin(database: Database): void;
  /** Whether the pause is over. */
  isDue(): boolean;
  /** To be called with a connection that has just run a statement: whether tables were changed since the last call. */
  hasChanged(database: Database): boolean;
}

export function createTableWatch(): TableWatch {
  let askedMs = -Infinity;
  let known: unknown;
  const versionOf = (database: Database): unknown =>
    database.pragma("schema_version", { simple: true });
  return {
    begin: (database) => void (known ??= versionOf(database)),
    isDue: () => performance.now() - askedMs >= pauseMs,
    hasChanged(database) {
      if (database.inTransaction) return false;
      askedMs = performance.now();
      const before = known;
      try {
        known = versionOf(database);
      } catch {
        // The statement was stored. The next look tells of the change, and the next statement of what is wrong.
        return false;
      }
      return before !== known;
    },
  };
}

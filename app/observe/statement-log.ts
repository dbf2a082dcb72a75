/** Log lines about single statements: all of them for developers, and the slow ones for operators. Never their values. */
import type { StatementReport } from "../../core/plans/observer.ts";
import type { Log } from "../../core/plans/ports.ts";
import { limits } from "../../core/values/limits.ts";
import { taskFields } from "./current-task.ts";
import type { Origin, Watcher } from "./watcher.ts";

/** Logs each statement, at level debug. */
export function watchStatements(log: Log): Watcher {
  return {
    statement: (report, origin) => log.debug(fieldsOf(report, origin), "statement"),
  };
}

/** Logs statements that took longer, at level warn. `slowMs`: by project; one that is not in it has no slow ones. */
export function watchSlowStatements(slowMs: ReadonlyMap<string, number>, log: Log): Watcher {
  return {
    projects: new Set(slowMs.keys()),
    statement(report, origin) {
      if (report.durationMs >= slowMs.get(origin.project)!)
        log.warn(fieldsOf(report, origin), "A statement was slow");
    },
  };
}

const fieldsOf = (
  { text, durationMs, rows, failure }: StatementReport,
  { project, task }: Origin,
): object => ({
  ...taskFields(task),
  project,
  durationMs: Math.round(durationMs * 10) / 10,
  rows,
  ...(failure !== null && { failure }),
  sql:
    text.length > limits.loggedSqlLengthMax ? `${text.slice(0, limits.loggedSqlLengthMax)}…` : text,
});

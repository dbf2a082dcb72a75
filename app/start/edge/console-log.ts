/**
 * Structured logs where there is no standard output: one JSON line per event on the console, in the form that the
 * service writes on the other runtimes.
 */
import { errorFields } from "../../../core/values/error-fields.ts";
import type { Log } from "../../../core/plans/log-port.ts";

const levels = { trace: 10, debug: 20, info: 30, warn: 40, error: 50, fatal: 60, silent: Infinity };

type Level = keyof typeof levels;
type Written = "debug" | "info" | "warn" | "error";

/** `level`: trace, debug, info, warn, error, fatal or silent; what is below it is not written. */
export function createConsoleLog(level: string): Log {
  const least = levels[level as Level];
  const at = (name: Written) => (fields: object, message: string) => {
    if (levels[name] >= least) console[name](lineOf(levels[name], fields, message));
  };
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}

function lineOf(level: number, fields: object, message: string): string {
  const time = new Date().toISOString();
  const shown = Object.entries(fields).map(([name, value]) => [name, shownValue(value)]);
  return JSON.stringify({ level, time, ...Object.fromEntries(shown), msg: message });
}

/** JSON.stringify would omit the message of an error. */
function shownValue(value: unknown): unknown {
  if (typeof value === "bigint") return String(value);
  return value instanceof Error ? errorFields(value) : value;
}

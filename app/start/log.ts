/** Structured logs on standard output: a JSON line for each event (pino), or lines for people on a terminal. */
import { isMainThread } from "node:worker_threads";
import { type DestinationStream, pino, type Logger } from "pino";
import { errorFields } from "../../core/values/error-fields.ts";
import { limits } from "../../core/values/limits.ts";
import type { LogFormat, Settings } from "./env.ts";

export type { Logger };

/** `level`: trace, debug, info, warn, error, fatal or silent. `destination`: absent = standard output. */
export function createLog(level: string, destination?: DestinationStream): Logger {
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: errorFields },
  };
  return destination ? pino(options, destination) : pino(options);
}

/** Somebody's own logger, which shows errors as ours does. */
export const withSafeErrors = (log: Logger): Logger =>
  log.child({}, { serializers: { err: errorFields } });

/** `pretty`: lines for people, which is the default on a terminal. */
export const logFormatOf = ({ logFormat }: Pick<Settings, "logFormat">): LogFormat =>
  logFormat ?? (process.stdout.isTTY ? "pretty" : "json");

/** What makes lines for people is loaded only for them. */
export async function openLog(settings: Pick<Settings, "logLevel" | "logFormat">): Promise<Logger> {
  const { logLevel } = settings;
  if (logFormatOf(settings) === "json") return createLog(logLevel, openOutput());
  const { prettyLine } = await import("./pretty-log.ts");
  const out = pino.destination(1);
  const isColored = process.stdout.isTTY && !process.env["NO_COLOR"];
  return createLog(logLevel, {
    write: (line) => void out.write(prettyLine(line, { isColored })),
  });
}

let output: DestinationStream | null = null;

/**
 * Standard output, written in batches and not waited for: a write for each line takes a quarter of a small request's time. Lines are out after
 * `limits.logFlushMs` at the latest, and when the process exits; one that is killed takes the last of them along. What nobody
 * reads is dropped beyond `limits.logWaitingBytesMax`.
 */
function openOutput(): DestinationStream {
  // A thread ends without the event in which the rest would be written.
  if (!isMainThread) return pino.destination(1);
  if (output !== null) return output;
  const batched = pino.destination({
    dest: 1,
    sync: false,
    minLength: limits.logBatchBytes,
    maxLength: limits.logWaitingBytesMax,
  });
  setInterval(() => batched.flush(), limits.logFlushMs).unref();
  output = batched;
  return batched;
}

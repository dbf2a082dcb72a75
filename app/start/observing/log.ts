/** Structured logs on standard output: a JSON line for each event (pino), or lines for people on a terminal. */
import { isMainThread } from "node:worker_threads";
import { type DestinationStream, pino, type Logger } from "pino";
import { systemClock } from "../../../core/values/clock.ts";
import { errorFields } from "../../../core/values/error-fields.ts";
import { limits } from "../../../core/values/limits.ts";
import type { LogFormat, Settings } from "../settings/env.ts";
import { createLogOutput } from "./log-output.ts";

export type { Logger };

/**
 * `level`: trace, debug, info, warn, error, fatal or silent. `destination`: absent = standard output. `base`: fields of
 * every line.
 */
export function createLog(
  level: string,
  destination?: DestinationStream,
  base: object | null = null,
): Logger {
  const options = {
    level,
    base,
    timestamp: () => `,"time":"${systemClock()}"`,
    serializers: { err: errorFields },
  };
  return destination ? pino(options, destination) : pino(options);
}

/** A logger from outside, with the service's way to show errors. */
export const withSafeErrors = (log: Logger): Logger =>
  log.child({}, { serializers: { err: errorFields } });

/** `pretty`: lines for people, which is the default on a terminal. */
export const logFormatOf = ({ logFormat }: Pick<Settings, "logFormat">): LogFormat =>
  logFormat ?? (process.stdout.isTTY ? "pretty" : "json");

/**
 * The code of the format for people is loaded only if it is used. `number`: of this process among several under one
 * parent, where 0 is the parent; null: there is one process.
 */
export async function openLog(
  settings: Pick<Settings, "logLevel" | "logFormat">,
  number: number | null = null,
): Promise<Logger> {
  const { logLevel } = settings;
  const base = number === null ? null : { process: number };
  const pieceBytes = number === null ? Infinity : pipeBytes;
  if (logFormatOf(settings) === "json") return createLog(logLevel, openOutput(pieceBytes), base);
  const { prettyLine } = await import("./pretty-log.ts");
  const out = openOutput(pieceBytes);
  const isColored = process.stdout.isTTY && !process.env["NO_COLOR"];
  const pretty: DestinationStream = {
    write: (line) => void out.write(prettyLine(line, { isColored })),
  };
  return createLog(logLevel, pretty, base);
}

/** Of the lines that are written at once by several processes: what a pipe takes as a whole, less a line of losses. */
const pipeBytes = 3_900;

let output: DestinationStream | null = null;

/**
 * Standard output (`log-output.ts`), in batches, because one write per line takes a quarter of a small request's time.
 * Lines are written after at most `limits.logFlushMs`, and when the process exits; a killed process loses the last
 * ones. Lines that nothing reads are dropped beyond `limits.logWaitingBytesMax`.
 */
function openOutput(pieceBytes: number): DestinationStream {
  if (output !== null) return output;
  const batched = createLogOutput(1, { pieceBytes });
  if (isMainThread) {
    // Makes the pipe non-blocking: a write to a full pipe then fails instead of waiting for the reader.
    process.stdout.on("error", () => undefined);
    setInterval(() => batched.flush(), limits.logFlushMs).unref();
    process.on("exit", () => batched.flushSync());
    output = batched;
  } else {
    // A thread ends without the event in which the rest would be written.
    output = {
      write(line) {
        batched.write(line);
        batched.flushSync(0);
      },
    };
  }
  return output;
}

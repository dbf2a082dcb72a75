/** Structured logs on standard output: a JSON line for each event (pino), or lines for people on a terminal. */
import { type DestinationStream, pino, type Logger } from "pino";
import { errorFields } from "../../core/values/error-fields.ts";
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
  if (logFormatOf(settings) === "json") return createLog(logLevel);
  const { prettyLine } = await import("./pretty-log.ts");
  const out = pino.destination(1);
  const isColored = process.stdout.isTTY && !process.env["NO_COLOR"];
  return createLog(logLevel, {
    write: (line) => void out.write(prettyLine(line, { isColored })),
  });
}

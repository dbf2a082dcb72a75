/** Structured logs: one JSON line per event on standard output (pino). */
import { pino, type Logger } from "pino";

export type { Logger };

/** `level`: trace, debug, info, warn, error, fatal or silent. */
export function createLog(level: string): Logger {
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime });
}

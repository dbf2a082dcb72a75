/** A log whose lines name the project that they are about. */
import type { Log } from "../../core/plans/ports.ts";

export const projectLog = (log: Log, project: string): Log => ({
  debug: (fields, message) => log.debug({ project, ...fields }, message),
  info: (fields, message) => log.info({ project, ...fields }, message),
  warn: (fields, message) => log.warn({ project, ...fields }, message),
  error: (fields, message) => log.error({ project, ...fields }, message),
});

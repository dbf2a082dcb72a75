/** A server's error as its cause is logged: without values, and without what the driver attaches to it. */
import type { Engine } from "../engines/engine.ts";

/** The code is the server's own. */
export class DatabaseError extends Error {
  override readonly name = "DatabaseError";
  readonly code: string;

  constructor(message: string, code: string) {
    super(message);
    this.code = code;
  }
}

/** What is kept of an error of the driver. Errors that are not the server's own stay as they are. */
export function loggable(engine: Pick<Engine, "loggedMessage">, error: unknown): unknown {
  const message = engine.loggedMessage(error);
  if (message === null) return error;
  const { code, errno } = error as { code?: unknown; errno?: unknown };
  return new DatabaseError(message, String(code ?? errno));
}

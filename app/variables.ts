/** What the middleware of `http.ts` leaves in Hono's context for the routes. */
import type { Log } from "../core/ports.ts";

export interface Variables {
  /** Goes out as X-Request-Id. */
  requestId: string;
  /** Writes lines that carry the request's id. */
  log: Log;
}

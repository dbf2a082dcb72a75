/** How a project identifies its callers, and what they may do. */
import type { Access } from "./access.ts";
import { type Caller, nobody } from "../plans/caller.ts";

export interface Callers {
  /**
   * The caller, identified by the request headers (looked up by names in lower case). Throws or rejects with
   * `unauthorized`, or with `unavailable` while credentials cannot be checked.
   */
  authenticate(headers: Pick<Headers, "get">): Caller | Promise<Caller>;
  /** Whether a caller that was identified before the last reload still has these rights. Absent: yes. */
  knows?(caller: Caller): boolean;
  /** Absent: as configured. */
  readonly access?: Access;
}

/** A project without credentials, in which every caller may do everything. */
export const openToAll: Callers = Object.freeze({ authenticate: () => nobody });

/** How a project knows its callers, and what it lets them do. */
import type { Access } from "./access.ts";
import { type Caller, nobody } from "../plans/caller.ts";

export interface Callers {
  /** Who sends the request, by its headers. Throws or rejects with `unauthorized`, or `unavailable` while that cannot be told. */
  authenticate(headers: Headers): Caller | Promise<Caller>;
  /** Absent: what the configuration says. */
  readonly access?: Access;
}

/** A project that asks for no credentials and lets everybody do everything. */
export const openToAll: Callers = Object.freeze({
  authenticate: () => nobody,
});

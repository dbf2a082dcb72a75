/** How a project knows its callers, and what it lets them do. */
import { type Access, openAccess } from "./access.ts";
import { type Caller, nobody } from "../plans/caller.ts";

export interface Callers {
  /** Who sends the request, by its headers. Rejects with an AppError for credentials that are none. */
  authenticate(headers: Headers): Caller | Promise<Caller>;
  readonly access: Access;
}

/** A project that asks for no credentials and lets everybody do everything. */
export const openToAll: Callers = Object.freeze({
  authenticate: () => nobody,
  access: openAccess,
});

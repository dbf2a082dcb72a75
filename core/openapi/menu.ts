/** The endpoints as menus show them to a caller, for the index at `/`. */
import type { BoundAction } from "../dispatch.ts";
import { consoleIn } from "../calls/wording.ts";
import { menuNotes } from "./console-notes.ts";
import type { Caller } from "../plans/caller.ts";
import { usableActions, usableEndpoints } from "../route-hints.ts";
import type { Json } from "../values/json.ts";

/** An endpoint with the actions that the caller may use. */
export interface MenuEntry {
  readonly name: string;
  readonly actions: readonly string[];
  /** What its file says of its place in menus; absent: nothing. */
  readonly console?: Json;
  /** The endpoint of the documents whose lines these records are; absent: they are none, or not for this caller. */
  readonly lines_of?: string;
  /** Its own SQL takes values of requests. */
  readonly takes_params?: true;
}

const composites = ["read-composite", "create-composite", "update-composite"];

/** Those of which the caller may use an action. */
export function menuFor(
  endpoints: ReadonlyMap<string, ReadonlyMap<string, BoundAction>>,
  { caller, language }: { readonly caller: Caller; readonly language: string },
): MenuEntry[] {
  const usable = usableEndpoints(endpoints, { caller }).map((name) => {
    const bound = endpoints.get(name)!;
    const [first] = bound.values();
    return { name, actions: usableActions(bound, caller), entity: first?.entity ?? null };
  });
  const headers = new Map(
    usable.flatMap(({ name, actions, entity }) =>
      actions.some((action) => composites.includes(action))
        ? (entity?.composite?.details ?? []).map(({ table }) => [table.identity, name] as const)
        : [],
    ),
  );
  return usable.map(({ name, actions, entity }) => {
    const notes = menuNotes(entity && consoleIn(language, entity));
    const header = headers.get(entity?.insert?.table.identity ?? "");
    return {
      name,
      actions,
      ...(Object.keys(notes).length > 0 && { console: notes }),
      ...(header !== undefined && header !== name && { lines_of: header }),
      ...((entity?.params?.sent.size ?? 0) > 0 && { takes_params: true as const }),
    };
  });
}

/**
 * The headers that the configuration gives a hook. They can be secrets, so no queue stores them: they are removed from
 * a call before it is stored, and added again when it is made.
 */
import type { ProjectConfig } from "../../core/config/reading/read-config.ts";
import type { HookCall } from "../../core/plans/hook-call.ts";
import type { HookPlace } from "../../core/plans/outbound-port.ts";

type Headers = Readonly<Record<string, string>>;

/** Null: the hook is not, or no longer, configured. */
export type HeadersOf = (place: HookPlace) => Headers | null;

export function createHeadersOf(projects: readonly ProjectConfig[]): HeadersOf {
  return ({ project, endpoint, status, hook, index }) => {
    const endpoints = projects.find(({ name }) => name === project)?.endpoints;
    const payload = endpoints?.find(({ name }) => name === endpoint)?.payload;
    const hooks = payload?.workflow?.hooks ?? {};
    const at = Object.hasOwn(hooks, status) ? hooks[status] : undefined;
    const listed = (["onBefore", "onAfter"] as const).flatMap((when) =>
      (at?.[when] ?? []).map(({ name, headers }, place) => ({
        name: `${when}:${name}`,
        headers,
        place,
      })),
    );
    const named = listed.filter(({ name }) => name === hook);
    // The list can have changed since then; names identify hooks more reliably than positions.
    const found = named.find(({ place }) => place === index) ?? named[0];
    return found ? (found.headers ?? {}) : null;
  };
}

/** The call without its headers, for storing. */
export function withoutHeaders(call: HookCall, headers: Headers | null): HookCall {
  const secret = new Set(Object.keys(headers ?? {}));
  const own = Object.entries(call.request.headers).filter(([name]) => !secret.has(name));
  return { ...call, request: { ...call.request, headers: Object.fromEntries(own) } };
}

/** The call with its headers, for sending. */
export function withHeaders(call: HookCall, headers: Headers): HookCall {
  const { request } = call;
  return { ...call, request: { ...request, headers: { ...headers, ...request.headers } } };
}

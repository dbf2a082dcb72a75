/**
 * The headers that the configuration gives a hook. They may be secrets, so no queue keeps them: they are taken off a
 * call before it is kept, and put on it again when it is made.
 */
import type { ProjectConfig } from "../../core/config/read-config.ts";
import type { HookCall, HookPlace } from "../../core/plans/ports.ts";

type Headers = Readonly<Record<string, string>>;

/** Null: the configuration has no such hook, or no longer. */
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
    // The list may have changed since; its names then tell more.
    const found = named.find(({ place }) => place === index) ?? named[0];
    return found ? (found.headers ?? {}) : null;
  };
}

/** The call as it may be kept. */
export function withoutHeaders(call: HookCall, headers: Headers | null): HookCall {
  const secret = new Set(Object.keys(headers ?? {}));
  const own = Object.entries(call.request.headers).filter(([name]) => !secret.has(name));
  return { ...call, request: { ...call.request, headers: Object.fromEntries(own) } };
}

/** The call as it is made. */
export function withHeaders(call: HookCall, headers: Headers): HookCall {
  const { request } = call;
  return { ...call, request: { ...request, headers: { ...headers, ...request.headers } } };
}

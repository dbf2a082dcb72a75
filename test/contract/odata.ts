/** Requests to `/odata/test/` of a fixture. */
import type { Answer, Fixture } from "./harness.ts";

/** GETs a path below the service document; it is written as people read it, and encoded here. */
export const odataOver =
  (fixture: () => Fixture) =>
  (path: string, headers: Record<string, string> = {}, method = "GET"): Promise<Answer> =>
    fixture().request(`/odata/test/${encodedQuery(path)}`, { method, headers });

/** The address of an answer (`@odata.nextLink`), without its origin. */
export const pathIn = (address: string): string =>
  new URL(address).href.replace(/^http:\/\/[^/]+/, "");

/** Signs that a query gives a meaning of their own are encoded where they are part of a value: `%26`, `%2B`. */
const encodedQuery = (path: string): string => encodeURI(path).replaceAll("%25", "%");

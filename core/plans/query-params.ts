/**
 * `params` of an endpoint: values that requests, or the claims of callers, give to the operator's own SQL. It names
 * them `:from`; the database gets them as values of their type, never as text of the statement.
 */
import type { Rules } from "../rules/compile-rules.ts";
import { type FieldErrors, validationFailed } from "../values/errors.ts";
import { closest } from "../values/closest.ts";
import { ExactNumber, isObject, type Json } from "../values/json.ts";
import type { Scalar } from "../values/scalar.ts";
import { accept } from "../values/types/accept.ts";
import { columnTypes } from "../values/types/column-types.ts";
import type { Column, Columns, Source } from "../values/types/column.ts";
import { type Caller, claimAt } from "./caller.ts";

export interface QueryParams {
  readonly endpoint: string;
  /** Those that requests send, by name. */
  readonly sent: Columns;
  readonly rules: Rules;
  /** Those that come from a claim of the caller, by name. */
  readonly claims: ReadonlyMap<string, { readonly column: Column; readonly path: string }>;
}

/** The values of one call. */
export interface BoundParams {
  readonly endpoint: string;
  readonly values: ReadonlyMap<string, Scalar>;
  /** Parameters whose claim the caller lacks: a query that names one has no rows. */
  readonly lacking: ReadonlySet<string>;
}

/** The parameters that the source names; null: none. */
export const namesIn = (source: Source): ReadonlySet<string> | null =>
  source.kind === "query" && source.parameters !== undefined
    ? new Set(source.parameters.columns.map(({ name }) => name))
    : null;

/**
 * The values of a request. Null and the empty text count as absent: the default applies. `needed`: those that the query
 * names; only these have to be there. Rejects with Validation failed on `params.<name>`.
 */
export function checkParams(
  { sent: columns, claims, rules }: QueryParams,
  params: unknown,
  needed: ReadonlySet<string>,
): ReadonlyMap<string, Scalar> {
  if (params !== undefined && params !== null && params !== "" && !isObject(params))
    throw validationFailed({ params: ["must be an object"] });
  const given = Object.entries(isObject(params) ? params : {});
  const body = Object.fromEntries(given.filter(([, one]) => one !== null && one !== ""));
  const errors: FieldErrors = {};
  for (const [name] of given) {
    if (columns.has(name)) continue;
    const near = closest(name, columns.keys());
    errors[`params.${name}`] = [
      claims.has(name)
        ? "cannot be sent"
        : `is unknown${near === null ? "" : `; did you mean ${JSON.stringify(near)}?`}`,
    ];
  }
  const checked = rules.check(body, "create", columns);
  for (const [name, messages] of Object.entries(checked.errors ?? {}))
    if (needed.has(name) || Object.hasOwn(body, name)) errors[`params.${name}`] = messages;
  for (const [{ name, type }, one] of checked.values)
    if (type === "decimal" && isBeyondDoubles(one))
      errors[`params.${name}`] = ["is too large, or too close to zero"];
  if (Object.keys(errors).length > 0) throw validationFailed(errors);
  return new Map([...checked.values].map(([{ name }, one]) => [name, one]));
}

/** A query can compare it with a floating-point number, and PostgreSQL then fails at a number that none can hold. */
const isBeyondDoubles = (digits: Scalar): boolean =>
  digits !== null && digits !== "0" && [0, Infinity].includes(Math.abs(Number(digits)));

/** Defaults, as related records and the other actions have them. */
export const defaultParams = ({ rules, sent }: QueryParams): ReadonlyMap<string, Scalar> =>
  new Map([...rules.check({}, "create", sent).values].map(([{ name }, one]) => [name, one]));

/** These values, and those of the caller's claims. */
export function boundParams(
  params: QueryParams,
  given: ReadonlyMap<string, Scalar>,
  { claims }: Pick<Caller, "claims">,
): BoundParams {
  const values = new Map(given);
  const lacking = new Set<string>();
  for (const [name, { column, path }] of params.claims) {
    const value = claimFor(column, claimAt(claims, path));
    if (value === null) lacking.add(name);
    else values.set(name, value);
  }
  return { endpoint: params.endpoint, values, lacking };
}

/** Null: the claim is none that the parameter could have. */
function claimFor(column: Column, claim: Json | undefined): Scalar {
  const isPlain =
    typeof claim === "string" ||
    typeof claim === "number" ||
    typeof claim === "boolean" ||
    (claim as unknown) instanceof ExactNumber;
  if (!isPlain || claim === "") return null;
  const read = accept(column, columnTypes[column.type].isText ? String(claim) : claim);
  return read.ok ? read.value : null;
}

/** The source with a value for each place of a parameter; those that are not there are null. */
export function withValues(source: Source, bound: BoundParams | null): Source {
  if (source.kind !== "query" || source.parameters === undefined) return source;
  const { endpoint, columns } = source.parameters;
  const values = bound?.endpoint === endpoint ? bound.values : undefined;
  return { ...source, values: columns.map(({ name }) => values?.get(name) ?? null) };
}

/** Whether the source names a parameter whose claim the caller lacks. */
export const lacksClaim = (source: Source, bound: BoundParams | null): boolean =>
  bound !== null &&
  bound.lacking.size > 0 &&
  source.kind === "query" &&
  source.parameters?.endpoint === bound.endpoint &&
  source.parameters.columns.some(({ name }) => bound.lacking.has(name));

/** A text that differs for different values. */
export const paramsKey = ({ values, lacking }: BoundParams): string =>
  JSON.stringify([[...values].map(([name, one]) => [name, typeof one, String(one)]), [...lacking]]);

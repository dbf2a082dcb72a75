/** The places of an endpoint's `params` in its own SQL, and the types of their values. */
import { aroundNames, stretchesOf } from "../../query/query-text.ts";
import {
  type Column,
  type Columns,
  derivedColumn,
  type QueryParameters,
} from "../../values/types/column.ts";
import { ruleTypes } from "../../values/types/column-types.ts";
import { didYouMean } from "../reading/did-you-mean.ts";

/** A column that no table has, for the values of each parameter. */
export const paramColumns = (
  params: Readonly<Record<string, { readonly type: string }>> | undefined,
): Columns =>
  new Map(Object.entries(params ?? {}).map(([name, { type }]) => [name, valueColumn(name, type)]));

/** For a value of a type, as the configuration names types. */
export const valueColumn = (name: string, type: string): Column =>
  derivedColumn(name, ruleTypes.get(type)!, {
    ...(type === "integer" && { range: { min: -(2n ** 63n), max: 2n ** 63n - 1n } }),
    fractionDigits: 6,
  });

interface ParameterFault {
  readonly found?: string;
  readonly expected: string;
  readonly hint?: string | undefined;
}

/** The places in the text; null: it has none. A name that `params` lack is a fault. */
export function parametersIn(
  text: string,
  endpoint: string,
  params: Columns,
): QueryParameters | ParameterFault | null {
  if (params.size === 0) return null;
  const stretches = stretchesOf(text);
  if (stretches === null) return { expected: "a query without a backslash before a quote" };
  const { texts, names } = aroundNames(stretches);
  const unknown = names.find((name) => !params.has(name));
  if (unknown !== undefined) {
    const hint = didYouMean(unknown, params.keys());
    return { found: `:${unknown}`, expected: "a parameter that params has", hint };
  }
  const columns = names.map((name) => params.get(name)!);
  return names.length === 0 ? null : { endpoint, texts, columns };
}

/**
 * Compiles detailQuery into a query with one parameter, the header's key, and the columns that the database reports for
 * it.
 */
import type { Column } from "../../values/types/column.ts";
import type { FieldRule } from "../../rules/rule-definition.ts";
import type { ParameterQuery } from "../../query/statement.ts";
import type { Path } from "../reading/faults.ts";
import { aroundHeaderKey, stretchesOf } from "../../query/query-text.ts";
import { refineColumns } from "./rule-plan.ts";
import type { Survey } from "./survey.ts";

/** The configured text and its path. */
export interface DetailQuery {
  readonly sql: string;
  readonly path: Path;
}

/** `rules`: the rules of the details, which may describe a column more precisely than the database does. */
export async function detailQueryOf(
  survey: Survey,
  query: DetailQuery,
  { headerKey, rules }: { headerKey: Column | null; rules: readonly FieldRule[] },
): Promise<ParameterQuery | null> {
  const texts = headerKeyTexts(survey, query);
  if (!texts || !headerKey) return null;
  const columns = await survey.parameterQuery(
    texts,
    texts.slice(1).map(() => headerKey),
    query.path,
  );
  if (!columns) return null;
  const refined = refineColumns(new Map(columns.map((one) => [one.name, one])), rules);
  return { texts, parameter: headerKey, columns: [...refined.values()] };
}

/** The SQL around the header's key. Null, with a fault, if it has no such parameter. */
export function headerKeyTexts(survey: Survey, { sql, path }: DetailQuery): string[] | null {
  const text = survey.queryText(sql, path);
  if (text === null) return null;
  const stretches = stretchesOf(text);
  if (stretches === null) {
    survey.fault(path, { expected: "a query without a backslash before a quote" });
    return null;
  }
  const texts = aroundHeaderKey(stretches);
  if (texts.length > 1) return texts;
  survey.fault(path, { expected: "a query with the parameter :header_id" });
  return null;
}

/** Rows -> the records of an answer, with what belongs to them: nested records, and lists of expanded relations. */
import type { ReadQueries } from "../query/session.ts";
import { type Grammar, optional, value } from "../grammar/grammar.ts";
import { etagOf } from "./etag.ts";
import type { ReadPlan } from "../plans/read-plan.ts";
import type { Column, Source } from "../values/types/column.ts";
import { invalidParameter } from "../values/errors.ts";
import { closedObject } from "../values/json-shapes.ts";
import type { Key } from "../values/types/key.ts";
import type { Row } from "../values/row.ts";
import type { Expanded, Expansion } from "../lists/expand.ts";
import { columnsFor, fillExpanded, type More } from "../lists/expanded-rows.ts";
import { versionName } from "../lists/shown-schema.ts";
import { type Nesting, nestingOf, recordReader } from "../lists/nested-rows.ts";

/** What an answer shows of related records. */
export interface Showing {
  /** All columns to read. */
  readonly columns: readonly Column[];
  readonly shown: readonly Column[];
  readonly nesting: Nesting | null;
  readonly many: readonly Expansion[];
  /** The plan whose version each record shows; null = none is asked for. */
  readonly versions: ReadPlan | null;
  /** Names the records whose lists were cut; empty = the caller does not see it. */
  readonly key: Key;
}

/** Whether each record shows its version. Rejects with Invalid parameter. */
export const versions: Grammar<boolean> = optional(
  value(
    (sent): sent is boolean => typeof sent === "boolean",
    () => invalidParameter("versions must be true or false"),
    () => ({ type: "boolean" }),
  ),
  false,
);

interface SentShowing {
  readonly select: readonly Column[];
  readonly expand: Expanded;
  readonly versions: boolean;
}

/** Null: the answer shows rows as they are. Rejects with Invalid parameter. */
export function showingOf(sent: SentShowing, plan: ReadPlan): Showing | null {
  const { many } = sent.expand;
  const isPlain = sent.expand.columns.length === 0 && !sent.versions && many.length === 0;
  if (isPlain && sent.select.every(({ via }) => via === undefined)) return null;
  const shown = [...new Set([...sent.select, ...sent.expand.columns])];
  if (sent.versions && shown.some(({ name }) => name === versionName))
    throw invalidParameter(
      `versions needs the name "${versionName}", which is a column here; leave it out of select`,
    );
  const nesting = nestingOf(shown);
  const key = plan.key.every(({ name }) => plan.columns.has(name)) ? plan.key : [];
  const columns = new Set(nesting?.columns ?? shown);
  if (many.length > 0) for (const column of [...key, ...columnsFor(many)]) columns.add(column);
  // A version can be a hash of the whole record.
  if (sent.versions) for (const column of plan.columns.values()) columns.add(column);
  return {
    columns: [...columns],
    shown,
    nesting,
    many,
    versions: sent.versions ? plan : null,
    key,
  };
}

/** The records, and the keys of those whose lists were cut. Rejects with Invalid parameter if they hold too many. */
export async function recordsOf(
  queries: ReadQueries,
  rows: readonly Readonly<Row>[],
  { shown, nesting, many, versions: plan, key, source }: Showing & { readonly source: Source },
): Promise<{ readonly records: readonly Row[]; readonly more?: More }> {
  const recordOf = recordReader(shown, nesting);
  const both = rows.map((row) => {
    const record = recordOf(row);
    if (plan !== null) record[versionName] = etagOf(row, plan);
    return { row, record };
  });
  const records = both.map(({ record }) => record);
  if (many.length === 0) return { records };
  const more = await fillExpanded(queries, { shown: both, source, key }, many);
  return { records, ...(Object.keys(more).length > 0 && { more }) };
}

/** `more` of an answer. */
export const moreSchema = {
  ...closedObject({}),
  additionalProperties: { type: "array" },
  description: "By relation, the keys of the records whose list was cut.",
} as const;

/**
 * `columns` of the grid's request: what the library says about each of its columns, with the field that the column
 * shows.
 */
import { type Grammar, list, meaning, value } from "../grammar/grammar.ts";
import type { Column, Columns } from "../values/types/column.ts";
import { invalidPayload } from "../values/errors.ts";
import { isObject } from "../values/json.ts";
import type { JsonSchema } from "../values/json-schema.ts";
import { limits } from "../values/limits.ts";
import { blankOr, isFalse, maybeByPlace, notAList, type Sent } from "./grid-parameters.ts";

export interface SentColumn {
  /** Null if the grid's column is not a field of the entity. */
  readonly column: Column | null;
  /** The field that it names, known or not; null if only the page knows what the column shows. */
  readonly name: string | null;
  readonly isSearchable: boolean;
  readonly isOrderable: boolean;
  readonly search: unknown;
  /** What the extension ColumnControl adds. */
  readonly control: unknown;
}

/** Rejects with Invalid payload. */
export const sentColumns = (columns: Columns): Grammar<readonly SentColumn[]> =>
  blankOr(
    meaning(
      maybeByPlace(
        list(value(isObject, fault("columns must be an array of objects"), columnSchema), {
          fault: notAList("columns"),
          max: limits.gridColumnsMax,
          tooMany: fault(`columns takes at most ${limits.gridColumnsMax} columns`),
        }),
        withoutGaps,
      ),
      (sent) => {
        const byPosition = [...columns.values()];
        return sent.map((one, at) => sentColumn(one, columns, byPosition[at]));
      },
    ),
    [],
  );

const fault = (message: string) => () => invalidPayload(message);

/** One column too many is enough for a refusal, however large the last place is. */
function withoutGaps(sent: Sent): unknown[] {
  const count = Object.keys(sent).reduce((most, place) => Math.max(most, Number(place) + 1), 0);
  return Array.from({ length: Math.min(count, limits.gridColumnsMax + 1) }, (_, at) =>
    Object.hasOwn(sent, at) ? sent[at] : unsentColumn,
  );
}

/** An order can name it by its place; only columns that were sent are searched. */
const unsentColumn: Sent = { searchable: false };

/** What the library says about its own columns may concern no field of the entity. */
const columnSchema = (): JsonSchema => ({
  type: "object",
  properties: { data: {}, searchable: {}, orderable: {}, search: {} },
  additionalProperties: true,
});

/** A column that names no field gets one by its place only if it has no `data` at all. */
function sentColumn(one: Sent, columns: Columns, placed: Column | undefined): SentColumn {
  const { data, searchable, orderable, search, columnControl: control } = one;
  const named = typeof data === "string" ? columns.get(data) : undefined;
  return {
    name: typeof data === "string" && !isNameless.test(data) ? data : null,
    column: (data === undefined ? placed : named) ?? null,
    isSearchable: !isFalse(searchable),
    isOrderable: !isFalse(orderable),
    search,
    control,
  };
}

/** Missing names in forms: null `data`, a function of the page, or a place in an array. */
const isNameless = /^(function|\d*)$/;

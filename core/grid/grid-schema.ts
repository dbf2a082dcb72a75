/**
 * Requests and answers of the grid as JSON Schemas of one entity. The library and its extensions send much that is about the page alone, so
 * requests are open to further members. In a form each value comes as its text, and an empty text stands for nothing.
 */
import type { Entity, GridPlan } from "../plans/entity.ts";
import { type JsonSchema, orNull } from "../values/json-schema.ts";
import { closedObject } from "../values/json-shapes.ts";
import { limits } from "../values/limits.ts";
import { namesOfTexts, countModeSchema, sortSchema } from "../lists/list-schema.ts";
import { onlyPage } from "../lists/order.ts";
import { recordSchema } from "../lists/shown-schema.ts";
import { logicSchema, patternSchema, whereSchema } from "../lists/where-schema.ts";

/** The parameters that filter, sort and page, as `request.ts` reads them. */
export function gridSchema(plan: GridPlan, { settings }: Entity): JsonSchema {
  const { columns, clampsLength } = plan;
  const search = orNull(patternSchema);
  const length: JsonSchema = clampsLength
    ? { anyOf: [{ const: -1 }, wholeNumber(1)] }
    : wholeNumber(1, limits.gridLengthMax);
  return {
    type: "object",
    properties: {
      draw: wholeNumber(Number.MIN_SAFE_INTEGER),
      start:
        onlyPage(plan) === null ? wholeNumber(0, settings.offsetMax) : { enum: [0, "0", null] },
      length,
      search: orNull(open({ value: search })),
      searchValue: search,
      search_value: search,
      searchBy: { enum: ["", ...new Set(["all", ...namesOfTexts(columns)]), null] },
      // A form cannot say that a group is empty: its logic alone is left.
      where: {
        anyOf: [
          whereSchema(columns),
          closedObject({ logic: logicSchema }, ["logic"]),
          { const: "" },
        ],
      },
      sort_columns: sortSchema(columns),
      count: countModeSchema,
      order: list(
        open({ column: wholeNumber(0), dir: { enum: ["asc", "desc", "", null] } }, ["column"]),
      ),
      columns: list(
        // What the library says of its own columns may be about no field of ours.
        open({ data: {}, searchable: {}, orderable: {}, search: {} }),
        limits.gridColumnsMax,
      ),
    },
    additionalProperties: true,
  };
}

/** The whole answer: it has no envelope. */
export function gridAnswerSchema(plan: GridPlan, { settings }: Entity): JsonSchema {
  const count: JsonSchema = { type: "integer", minimum: 0 };
  const isPlain = plan.nestedNames.size === 0 && plan.rowId.length === 0;
  const rows = recordSchema(plan.columns, settings);
  const options: JsonSchema = { type: "object" };
  return closedObject(
    {
      draw: { type: "integer" },
      recordsTotal: count,
      recordsFiltered: count,
      count_mode: { enum: ["exact", "estimated"] },
      data: { type: "array", items: isPlain ? rows : { type: "object" } },
      searchPanes: options,
      searchBuilder: options,
      columnControl: options,
    },
    ["draw", "recordsTotal", "recordsFiltered", "data"],
  );
}

const open = (
  properties: Record<string, JsonSchema>,
  required: readonly string[] = [],
): JsonSchema => ({
  type: "object",
  properties,
  ...(required.length > 0 && { required }),
  additionalProperties: true,
});

const list = (items: JsonSchema, maxItems?: number): JsonSchema => ({
  anyOf: [{ type: ["array", "null"], items, ...(maxItems && { maxItems }) }, { const: "" }],
});

const wholeNumber = (minimum: number, maximum: number = Number.MAX_SAFE_INTEGER): JsonSchema => ({
  type: "integer",
  minimum,
  maximum,
});

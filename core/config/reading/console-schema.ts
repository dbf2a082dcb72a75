/** `console` of an endpoint's file. */
import { z } from "zod";
import { iconNames, viewOperators } from "../../plans/console-plan.ts";
import { filledText, offByDefault } from "./usual-schemas.ts";

const text = filledText.max(100);
const names = z.array(filledText).min(1);
const scalar = z.union([z.string(), z.number(), z.boolean()]);

const view = z.strictObject({
  where: z
    .array(
      z.strictObject({
        key: filledText.describe("Column, or path over relations."),
        operator: z.enum(viewOperators).default("=").describe("A comparison, as of read."),
        value: z
          .union([scalar, z.tuple([scalar, scalar])])
          .optional()
          .describe("Value of the column's type; two of them for BETWEEN, none for IS NULL."),
      }),
    )
    .default([])
    .describe("Conditions that all hold, at most one for each column."),
  search_value: filledText.max(1000).optional().describe("Text to search for."),
  order: names.default([]).describe("Order of the records; absent: that of the list."),
  columns: names.default([]).describe("Columns that are shown; absent: those of the list."),
  params: z.record(z.string(), scalar).default({}).describe("Values of the endpoint's params."),
});

export const consoleSchema = z.strictObject({
  label: text.optional().describe("Name of the endpoint for people; absent: made of its name."),
  group: text.optional().describe("Heading in the menu below which the endpoint stands."),
  icon: z.enum(iconNames).optional().describe("Icon in the menu and on the home page."),
  order: names
    .default([])
    .describe(
      'First order of its list, such as ["-created_at"], by columns and paths; absent: newest first.',
    ),
  columns: names
    .default([])
    .describe("Columns, and paths over relations, that its list shows first, in this order."),
  steps: z
    .record(z.string(), text)
    .default({})
    .describe('Verbs on the buttons that lead to a status, such as {"posted": "Post"}.'),
  views: z
    .record(text, view)
    .default({})
    .describe("Views of its list that everybody can open, by the names that people see."),
  hidden: offByDefault.describe("true: not in the menu; access stays as it is."),
});

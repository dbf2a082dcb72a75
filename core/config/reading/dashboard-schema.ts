/**
 * The properties of dashboard.json, with their defaults. The descriptions become the texts that editors show, through
 * the JSON Schema that `npm run schemas` writes from here.
 */
import { z } from "zod";
import { tileForms } from "../../plans/dashboard.ts";
import { limits } from "../../values/limits.ts";
import { filledText, offByDefault } from "./usual-schemas.ts";

const tile = z.strictObject({
  title: filledText.describe("Heading of the tile."),
  endpoint: filledText.describe("Endpoint of the project that is asked."),
  action: z.enum(["read", "aggregate"]).describe("Action of the endpoint."),
  body: z.record(z.string(), z.json()).describe("Body of the request, as any client sends it."),
  show: z
    .enum(tileForms)
    .describe(
      "number: results of aggregate without group_by; line and bar: along the first group, divided by the second; table: every row.",
    ),
  unit: filledText.max(12).optional().describe("Unit of the numbers, as € or kg."),
  labels: z
    .record(z.string(), filledText)
    .default({})
    .describe("Headings of columns of the answer, by their names."),
  x: filledText.optional().describe("Column along the axis, for line and bar of read."),
  y: z
    .array(filledText)
    .min(1)
    .optional()
    .describe("Columns of numbers, for line and bar of read."),
  wide: offByDefault.describe("true: the tile takes the whole width of the page."),
});

/** dashboard.json, which has no variables. */
export const dashboardSchema = z
  .strictObject({
    $schema: z.string().optional().describe("The JSON Schema of this file, for editors."),
    title: filledText.describe("Heading of the page."),
    tiles: z
      .array(tile)
      .min(1)
      .max(limits.tilesMax)
      .describe("Figures, in the order in which they are shown."),
  })
  .meta({
    title: "Rowgate dashboard",
    description: "Figures of a project, which the console shows on one page.",
  });

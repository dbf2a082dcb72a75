/** `console` of an endpoint's file. */
import { z } from "zod";
import { iconNames } from "../../plans/console-plan.ts";

const text = z.string().min(1).max(100);
const names = z.array(z.string().min(1)).min(1);

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
  hidden: z.boolean().default(false).describe("true: not in the menu; access stays as it is."),
});

/** One of the `relations` of an endpoint's file. */
import { z } from "zod";
import { filledText } from "./usual-schemas.ts";

const column = filledText;
const key = z.union([column, z.array(column).min(1)]);

/** What a relation is made of. */
const ways = ["column", "foreignColumn", "through"] as const;

const relation = z
  .strictObject({
    endpoint: filledText.describe("The endpoint of the related records."),
    key: key.optional().describe("Another unique column of the record that is pointed at."),
    column: key
      .optional()
      .describe("To one: the columns here that hold the key of the other record."),
    foreignColumn: key
      .optional()
      .describe("To many: the columns there that hold the key of this record."),
    through: z
      .strictObject({
        endpoint: filledText.describe("The endpoint of the records in between."),
        column: key.describe("Their columns that hold the key of this record."),
        foreignColumn: key.describe("Their columns that hold the key of the other record."),
      })
      .optional()
      .describe("To many over the records of a third endpoint."),
    details: z
      .boolean()
      .optional()
      .describe(
        "To many: whether workflow.closed keeps them with this record; absent: if the database deletes them with it.",
      ),
  })
  .refine((one) => ways.filter((way) => one[way] !== undefined).length === 1, {
    message: "exactly one of column (to one), foreignColumn (to many) and through (to many)",
  })
  .refine(({ column: one, details }) => one === undefined || details === undefined, {
    message: "details only with foreignColumn or through: the records that belong to this one",
  })
  .meta({ oneOf: ways.map((way) => ({ required: [way] })) });

export const relationSchema = z.union([z.literal(false), relation]);
export type RelationConfig = z.output<typeof relationSchema>;

/** `search` of an endpoint's file. */
import { z } from "zod";
import { filledText } from "./usual-schemas.ts";

/** As PostgreSQL names them. */
const languages = [
  "simple",
  "arabic",
  "armenian",
  "basque",
  "catalan",
  "danish",
  "dutch",
  "english",
  "finnish",
  "french",
  "german",
  "greek",
  "hindi",
  "hungarian",
  "indonesian",
  "irish",
  "italian",
  "lithuanian",
  "nepali",
  "norwegian",
  "portuguese",
  "romanian",
  "russian",
  "serbian",
  "spanish",
  "swedish",
  "tamil",
  "turkish",
  "yiddish",
] as const;

export const searchSchema = z
  .strictObject({
    fulltext: z
      .strictObject({
        columns: z
          .array(filledText)
          .min(1)
          .describe("The text columns of the table that are searched."),
        language: z
          .enum(languages)
          .default("simple")
          .describe("Whose inflections are found, where the database can; simple: none."),
      })
      .optional()
      .describe("A full-text index of the database, for search_mode fulltext."),
  })
  .describe("How read, lookup and datatables search.");

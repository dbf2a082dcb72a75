/** `files` of an endpoint, and how long files are kept that no record has any more. */
import { z } from "zod";
import { offByDefault } from "./usual-schemas.ts";

const mediaType = z
  .string()
  .regex(
    /^[a-z]+\/(?:\*|[a-z0-9][a-z0-9.+-]*)$/,
    "a media type such as application/pdf or image/*",
  );

export const filesOfColumn = z.strictObject({
  maxMb: z.int().min(1).max(10_240).default(10).describe("Largest file, in megabytes."),
  types: z
    .array(mediaType)
    .min(1)
    .optional()
    .describe("Media types of its files, found out from their content; absent: all."),
  multiple: offByDefault.describe("true: a record has a list of files."),
});

export const fileKeepDays = z
  .int()
  .min(0)
  .max(36_500)
  .default(30)
  .describe(
    "Days for which files are kept that were replaced, or whose record was deleted; history can bring them back.",
  );

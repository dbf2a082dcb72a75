/**
 * import-template: an empty workbook with the headings that an import into the entity understands, with notes on what
 * to fill in.
 */
import { tableMediaTypes, type UploadFormat, uploadFormats } from "../plans/table-formats.ts";
import { defineAction } from "../calls/action.ts";
import type { AnsweredFile } from "../calls/answer.ts";
import type { ImportPlan } from "../plans/import-plan.ts";
import { invalidParameter } from "../values/errors.ts";
import { readGuide } from "../jobs/import-guide.ts";
import { absentOr, described, object, word } from "../grammar/grammar.ts";

const format = described<UploadFormat>(
  absentOr(
    word(uploadFormats, () => invalidParameter(`format must be ${uploadFormats.join(" or ")}`)),
    "xlsx",
  ),
  { type: "string" },
);

export const importTemplate = defineAction<ImportPlan, { readonly format: UploadFormat }>({
  name: "import-template",
  summary: "Answers an empty workbook with the headings that an import understands.",
  mode: "reads",
  methods: ["GET"],
  group: "import",
  requires: ["jobs"],
  errors: ["invalidParameter"],
  takesEmptyBody: true,
  needs: (entity) => entity.importing,
  grammar: () => object({ format }),
  answer: () => ({ status: 200, mediaTypes: uploadFormats.map((name) => tableMediaTypes[name]) }),

  async run({ input, entity, jobs, session, share }, plan) {
    if (input.format === "csv") {
      const line = plan.template.map((heading) => `"${heading.replaceAll('"', '""')}"`).join(",");
      const bytes = new TextEncoder().encode(`\ufeff${line}\r\n`);
      return { status: 200, body: {}, file: fileOf(entity.name, "csv", bytes) };
    }
    const columns = await readGuide(session, { plan, rules: entity.rules }, plan.template);
    const bytes = await jobs.workbooks.blank(entity.name, { columns, share: share() });
    return { status: 200, body: {}, file: fileOf(entity.name, "xlsx", bytes) };
  },
});

const fileOf = (
  entity: string,
  format: UploadFormat,
  bytes: Uint8Array<ArrayBuffer>,
): AnsweredFile => ({
  name: `${entity}-import.${format}`,
  mediaType: tableMediaTypes[format],
  bytes: bytes.byteLength,
  async read({ start, end } = { start: 0, end: bytes.byteLength - 1 }) {
    return new Response(bytes.slice(start, end + 1)).body!;
  },
});

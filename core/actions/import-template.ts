/**
 * import-template: an empty workbook with the headings that an import into the entity understands, with notes on what
 * to fill in.
 */
import { type AnsweredFile, defineAction } from "../calls/action.ts";
import type { ImportPlan } from "../plans/entity.ts";
import { readGuide } from "../jobs/import-guide.ts";
import { workbookMediaType } from "../jobs/job-schema.ts";
import { closedObject } from "../values/json-shapes.ts";

export const importTemplate = defineAction<ImportPlan>({
  name: "import-template",
  summary: "Answers an empty workbook with the headings that an import understands.",
  mode: "reads",
  methods: ["GET"],
  group: "import",
  requires: ["jobs"],
  errors: [],
  takesOptions: false,
  takesEmptyBody: true,
  needs: (entity) => entity.importing,
  input: () => closedObject({}),
  answer: () => ({ status: 200, mediaTypes: [workbookMediaType] }),

  async run({ entity, jobs, session }, plan) {
    const columns = await readGuide(session, { plan, rules: entity.rules }, plan.template);
    const bytes = await jobs.workbooks.blank(entity.name, columns);
    return { status: 200, body: {}, file: fileOf(`${entity.name}-import.xlsx`, bytes) };
  },
});

const fileOf = (name: string, bytes: Uint8Array<ArrayBuffer>): AnsweredFile => ({
  name,
  mediaType: workbookMediaType,
  bytes: bytes.byteLength,
  async read({ start, end } = { start: 0, end: bytes.byteLength - 1 }) {
    return new Response(bytes.slice(start, end + 1)).body!;
  },
});

/** import-template: an empty workbook with the headings that an import into the entity understands. */
import { type AnsweredFile, defineAction } from "../action.ts";
import type { ImportPlan } from "../entity.ts";

export const workbookMediaType =
  "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";

export const importTemplate = defineAction<ImportPlan>({
  name: "import-template",
  mode: "reads",
  methods: ["GET"],
  takesOptions: false,
  takesEmptyBody: true,
  needs: (entity) => entity.importing,

  async run({ entity, jobs }, { template }) {
    const bytes = await jobs.workbooks.blank(entity.name, template);
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

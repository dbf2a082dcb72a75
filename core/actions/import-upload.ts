/**
 * import-upload: stores a workbook for an import and describes its content. Nothing is imported until import-preview
 * and import-commit.
 */
import { defineAction } from "../calls/action.ts";
import type { ImportPlan } from "../plans/entity.ts";
import { invalidFile, invalidPayload } from "../values/errors.ts";
import { type FileColumns, readHeadings, shownRow } from "../jobs/import-columns.ts";
import { ownerOf, type ProjectJobs } from "../jobs/jobs.ts";
import type { WorkbookSketch } from "../plans/workbooks-port.ts";
import { describeUpload, uploadKey } from "../jobs/uploads.ts";
import { uploadedSchema, uploadSchema } from "../jobs/job-schema.ts";

export const importUpload = defineAction<ImportPlan>({
  name: "import-upload",
  summary: "Stores a workbook for an import, and shows its first rows.",
  mode: "reads",
  methods: ["POST"],
  group: "import",
  requires: ["jobs"],
  errors: ["invalidFile"],
  takesOptions: false,
  takesEmptyBody: true,
  takesUpload: true,
  needs: (entity) => entity.importing,
  input: () => uploadSchema,
  answer: () => ({ status: 200, schema: uploadedSchema }),

  async run(call, plan) {
    const { upload, entity, jobs, newId } = call;
    if (!upload) throw invalidPayload("The file is missing");
    if (!/\.xlsx$/i.test(upload.name)) throw invalidFile("The file must be an .xlsx workbook");
    const { project } = entity;
    const id = `upload-${newId()}`;
    const key = uploadKey(project, id);
    await jobs.files.write(key, upload.bytes, { maxBytes: plan.fileBytesMax });
    const describe = ({ totalRows }: WorkbookSketch): Promise<void> =>
      describeUpload(jobs, { project, id, owner: ownerOf(call), totalRows });
    const { sketch, columns } = await lookThrough(key, { jobs, plan, describe });
    const { headings, totalRows, firstRows } = sketch;
    const { ignored } = columns;
    return {
      status: 200,
      body: {
        upload_id: id,
        total_rows: totalRows,
        preview: firstRows.map((row) => shownRow(headings, row)),
        ...(ignored.length > 0 && { ignored_columns: ignored }),
      },
    };
  },
});

interface LookThrough {
  readonly jobs: ProjectJobs;
  readonly plan: ImportPlan;
  describe(sketch: WorkbookSketch): Promise<void>;
}

/** A file that cannot be imported or described is deleted. */
async function lookThrough(
  key: string,
  { jobs: { files, workbooks }, plan, describe }: LookThrough,
): Promise<{ sketch: WorkbookSketch; columns: FileColumns }> {
  try {
    const { previewRows: rows, fileBytesMax: bytesMax } = plan;
    const sketch = await workbooks.inspect(key, { rows, bytesMax });
    const columns = readHeadings(plan, sketch.headings);
    await describe(sketch);
    return { sketch, columns };
  } catch (error) {
    await files.remove(key).catch(() => undefined);
    throw error;
  }
}

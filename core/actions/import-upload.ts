/**
 * import-upload: stores a workbook for an import and describes its content. Nothing is imported until import-preview
 * and import-commit.
 */
import { tableMediaTypes, type UploadFormat, uploadFormats } from "../plans/table-formats.ts";
import { defineAction, type Upload } from "../calls/action.ts";
import type { ImportPlan } from "../plans/import-plan.ts";
import { invalidFile, invalidPayload } from "../values/errors.ts";
import { type FileColumns, readHeadings, shownRow } from "../jobs/import-columns.ts";
import { ownerOf, type ProjectJobs } from "../jobs/jobs.ts";
import type { WorkbookSketch } from "../plans/workbooks-port.ts";
import { describeUpload, uploadKey } from "../jobs/uploads.ts";
import { uploadedSchema, uploadBody } from "../jobs/job-schema.ts";

export const importUpload = defineAction<ImportPlan>({
  name: "import-upload",
  summary: "Stores a workbook or csv file for an import, and shows its first rows.",
  mode: "reads",
  methods: ["POST"],
  group: "import",
  requires: ["jobs"],
  errors: ["invalidFile"],
  takesEmptyBody: true,
  takesUpload: true,
  needs: (entity) => entity.importing,
  grammar: () => uploadBody,
  answer: () => ({ status: 200, schema: uploadedSchema }),

  async run(call, plan) {
    const { upload, entity, jobs, newId } = call;
    if (!upload) throw invalidPayload("The file is missing");
    const format = formatOf(upload);
    if (format === null) throw invalidFile("The file must be an .xlsx workbook or a .csv file");
    const { project } = entity;
    const id = `upload-${newId()}`;
    const key = uploadKey(project, id, format);
    await jobs.files.write(key, upload.bytes, { maxBytes: plan.fileBytesMax });
    const describe = ({ totalRows }: WorkbookSketch): Promise<void> =>
      describeUpload(jobs, { project, id, owner: ownerOf(call), totalRows, format });
    const { sketch, columns } = await lookThrough(key, {
      jobs,
      plan,
      share: call.share(),
      describe,
    });
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

const formatsByType = new Map<string, UploadFormat>([
  [tableMediaTypes.xlsx, "xlsx"],
  ["text/csv", "csv"],
  ["application/csv", "csv"],
  ["text/tab-separated-values", "csv"],
]);

/** By the extension, otherwise by the type: browsers report types that depend on the installed programs. */
function formatOf({ name, mediaType }: Upload): UploadFormat | null {
  const byName = uploadFormats.find((format) => name.toLowerCase().endsWith(`.${format}`));
  return byName ?? formatsByType.get(mediaType) ?? null;
}

interface LookThrough {
  readonly jobs: ProjectJobs;
  readonly plan: ImportPlan;
  readonly share: string;
  describe(sketch: WorkbookSketch): Promise<void>;
}

/** A file that cannot be imported or described is deleted. */
async function lookThrough(
  key: string,
  { jobs: { files, workbooks }, plan, share, describe }: LookThrough,
): Promise<{ sketch: WorkbookSketch; columns: FileColumns }> {
  try {
    const { previewRows: rows, fileBytesMax: bytesMax, csvFormulas: formulas } = plan;
    const sketch = await workbooks.inspect(key, { rows, bytesMax, formulas, share });
    const columns = readHeadings(plan, sketch.headings);
    await describe(sketch);
    return { sketch, columns };
  } catch (error) {
    await files.remove(key).catch(() => undefined);
    throw error;
  }
}

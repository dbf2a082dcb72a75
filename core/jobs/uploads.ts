/**
 * Uploaded workbooks: their location and description. An upload exists when its description exists, which is written
 * last. It belongs to its project, endpoint and caller, and is kept as long as other files.
 */
import type { UploadFormat } from "../plans/table-formats.ts";
import { identityOf } from "../plans/caller.ts";
import { notFound } from "../values/errors.ts";
import type { Owner, ProjectJobs } from "./jobs.ts";
import type { Json } from "../values/json.ts";

interface UploadDescription {
  readonly endpoint: string;
  /** From `identityOf`. */
  readonly caller: string | null;
  readonly totalRows: number;
  readonly format?: UploadFormat;
}

const idShape = /^upload-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Keys of the file itself, and of its description. */
export const uploadKey = (project: string, id: string, format: UploadFormat): string =>
  `uploads/${project}/${id}.${format}`;
const descriptionKey = (project: string, id: string): string => `uploads/${project}/${id}.json`;

export async function describeUpload(
  { files }: ProjectJobs,
  {
    project,
    id,
    owner,
    totalRows,
    format,
  }: { project: string; id: string; owner: Owner; totalRows: number; format: UploadFormat },
): Promise<void> {
  const { endpoint, caller } = owner;
  const description: UploadDescription = {
    endpoint,
    caller: identityOf(caller),
    totalRows,
    format,
  };
  const text = JSON.stringify(description);
  await files.write(descriptionKey(project, id), [new TextEncoder().encode(text)]);
}

/** `id` as the client sent it. Rejects with `notFound`, alike for one that is unknown, expired or another client's. */
export async function findUpload(
  { files, fileTtlSeconds }: ProjectJobs,
  { project, owner, id }: { project: string; owner: Owner; id: string },
): Promise<{ id: string; totalRows: number; format: UploadFormat }> {
  const unknown = notFound("Unknown upload");
  if (!idShape.test(id) || id.endsWith("\n")) throw unknown;
  const key = descriptionKey(project, id);
  const info = await files.info(key);
  if (!info || Date.now() - info.modifiedAtMs > fileTtlSeconds * 1_000) throw unknown;
  const text = await new Response(await files.read(key)).text();
  const {
    endpoint,
    caller,
    totalRows,
    format = "xlsx",
  } = JSON.parse(text) as UploadDescription & Record<string, Json>;
  const isOwn = owner.reachesAllJobs || caller === identityOf(owner.caller);
  if (endpoint !== owner.endpoint || !isOwn) throw unknown;
  return { id, totalRows, format };
}

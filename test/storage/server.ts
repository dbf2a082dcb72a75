/**
 * A program: s3rver with one bucket, in a folder. It checks every signature but lacks three calls about unfinished
 * uploads. Those are implemented here, on its files. Usage: `node server.ts <folder> <port> <bucket>`.
 */
import { readdir, readFile, rm, stat } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { programs } from "./install.ts";

/** The parts of s3rver, which is a Koa application, that are used here. */
interface S3rver {
  readonly middleware: ((context: Context, next: () => Promise<void>) => Promise<void>)[];
  readonly store: { getResourcePath(bucket: string, key: undefined, name: "uploads"): string };
  run(): Promise<unknown>;
}

interface Context {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string | undefined>>;
  status: number;
  type: string;
  body: string | null;
}

/** Uploads and parts that one answer lists: few, so that tests see a second page. */
const pageLength = 2;

const [directory, port, bucket = ""] = process.argv.slice(2);
const Server: new (options: object) => S3rver = createRequire(join(programs, "package.json"))(
  "@20minutes/s3rver",
);
const server = new Server({
  address: "127.0.0.1",
  port: Number(port),
  directory,
  silent: true,
  vhostBuckets: false,
  configureBuckets: [{ name: bucket }],
});
const uploads = server.store.getResourcePath(bucket, undefined, "uploads");

server.middleware.unshift(async (context, next) => {
  const { uploadId } = context.query;
  if (uploadId !== undefined && !(await stat(join(uploads, uploadId)).catch(() => null)))
    return answer(context, 404, "<Error><Code>NoSuchUpload</Code></Error>");
  // What it does not know is refused after the signature was checked.
  await next().catch(async (error: { code?: string }) => {
    const isUnknown = error.code === "NotImplemented" || error.code === "MethodNotAllowed";
    if (!isUnknown || !(await answerUnknown(context))) throw error;
  });
});
await server.run();

async function answerUnknown(context: Context): Promise<boolean> {
  const { method, query } = context;
  const { uploadId } = query;
  if (method === "GET" && query["uploads"] !== undefined) await listUploads(context);
  else if (method === "GET" && uploadId !== undefined) await listParts(context, uploadId);
  else if (method === "DELETE" && uploadId !== undefined) {
    await rm(join(uploads, uploadId), { recursive: true });
    answer(context, 204, null);
  } else return false;
  return true;
}

async function listUploads(context: Context): Promise<void> {
  const { prefix = "", "upload-id-marker": after = "" } = context.query;
  const ids = (await readdir(uploads).catch(() => [])).toSorted();
  const found = await Promise.all(
    ids.map(async (id) => {
      const path = join(uploads, id, "key");
      return { id, key: await readFile(path, "utf8"), begun: (await stat(path)).mtime };
    }),
  );
  const left = found.filter(({ id, key }) => id > after && key.startsWith(prefix));
  const shown = left.slice(0, pageLength);
  const last = shown.at(-1);
  const entries = shown.map(
    ({ id, key, begun }) =>
      `<Upload><Key>${key}</Key><UploadId>${id}</UploadId><Initiated>${begun.toISOString()}</Initiated></Upload>`,
  );
  const next =
    last &&
    `<NextKeyMarker>${last.key}</NextKeyMarker><NextUploadIdMarker>${last.id}</NextUploadIdMarker>`;
  const isTruncated = `<IsTruncated>${left.length > shown.length}</IsTruncated>`;
  answer(context, 200, `<R>${isTruncated}${next ?? ""}${entries.join("")}</R>`);
}

async function listParts(context: Context, uploadId: string): Promise<void> {
  const folder = join(uploads, uploadId);
  const after = Number(context.query["part-number-marker"] ?? 0);
  const numbers = (await readdir(folder)).filter((name) => /^\d+$/.test(name)).map(Number);
  const left = numbers.filter((number) => number > after).toSorted((one, other) => one - other);
  const shown = left.slice(0, pageLength);
  const entries = await Promise.all(
    shown.map(async (number) => {
      const { mtime } = await stat(join(folder, String(number)));
      return `<Part><PartNumber>${number}</PartNumber><LastModified>${mtime.toISOString()}</LastModified></Part>`;
    }),
  );
  const next = `<NextPartNumberMarker>${shown.at(-1) ?? 0}</NextPartNumberMarker>`;
  const isTruncated = `<IsTruncated>${left.length > shown.length}</IsTruncated>`;
  answer(context, 200, `<R>${isTruncated}${next}${entries.join("")}</R>`);
}

function answer(context: Context, status: number, xml: string | null): void {
  context.status = status;
  context.body = xml;
  if (xml !== null) context.type = "application/xml";
}

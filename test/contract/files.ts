/** Files of records in contract tests: their upload and download, and what is kept of them. */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import { createRecordFiles, type RecordFiles } from "../../core/files/record-files.ts";
import { createRuntime } from "../../app/start/settings/create-runtime.ts";
import { createLog } from "../../app/start/observing/log.ts";
import type { Files } from "../../core/plans/files-port.ts";
import type { FileEntry } from "../../core/values/types/file-type.ts";
import { openDb } from "../../db/open.ts";
import { createFolderFiles } from "../../jobs/files/folder-files.ts";
import type { Answer, Fixture } from "./harness.ts";

/** The bytes of a file, and its name. */
export interface Sent {
  readonly name?: string;
  readonly bytes?: string | Uint8Array<ArrayBuffer>;
  /** Null: none. */
  readonly field?: string | null;
  /** Whether the field follows the file. */
  readonly isLate?: boolean;
}

export const pdf = (text = "one") => `%PDF-1.7\n${text}`;
export const png = Buffer.from("\x89PNG\r\n\x1a\n pixels", "latin1");

type Headers = Record<string, string>;

/** Sends the file to file-upload of the endpoint, as a browser does. */
export function upload(
  fixture: Fixture,
  endpoint: string,
  { name = "scan.pdf", bytes = pdf(), field = "scan", isLate = false }: Sent = {},
  headers: Headers = {},
): Promise<Answer> {
  const body = new FormData();
  if (field !== null && !isLate) body.append("field", field);
  body.append("file", new File([bytes], name));
  if (field !== null && isLate) body.append("field", field);
  return fixture.request(`/api/test/${endpoint}/file-upload`, { method: "POST", body, headers });
}

/** The description of an uploaded file. */
export async function uploaded(...asked: Parameters<typeof upload>): Promise<FileEntry> {
  const { status, body } = await upload(...asked);
  expect(status, JSON.stringify(body)).toBe(201);
  const { id, name, type, bytes, sha256 } = body;
  return { id, name, type, bytes, sha256 };
}

/** `query`: key, field and id. */
export const download = (
  fixture: Fixture,
  endpoint: string,
  query: Record<string, string>,
  headers: Headers = {},
): Promise<Response> =>
  fixture.fetch(`/api/test/${endpoint}/file-download?${new URLSearchParams(query)}`, { headers });

/** Ids of the files in the fixture's folder, half-written ones among them. */
export async function stored({ storageUrl }: Fixture): Promise<string[]> {
  const root = storageUrl.slice("file:".length);
  const entries = await readdir(root, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries.flatMap((entry) =>
    entry.isFile() && /\/(?:files|\.partial)(?:\/|$)/.test(join(entry.parentPath, ""))
      ? entry.name
      : [],
  );
}

/** What `rowgate_files` says of a file; null: nothing. */
export async function ledgerRow(
  fixture: Fixture,
  id: string,
): Promise<Record<string, unknown> | null> {
  const [row] = await fixture.sql(`SELECT * FROM rowgate_files WHERE file_id = '${id}'`);
  return row ?? null;
}

/** Lets the file expire now, if it expires at all. */
export const letExpire = ({ sql }: Fixture, id: string) =>
  sql(
    `UPDATE rowgate_files SET expires_at = '2020-01-01 00:00:00' WHERE file_id = '${id}' AND expires_at IS NOT NULL`,
  );

/** Another process of the installation that removes expired files. */
export async function openKeeper(
  fixture: Fixture & { readonly storage?: Files },
): Promise<Pick<RecordFiles, "sweep" | "open"> & { storage: Files; close(): Promise<void> }> {
  const { database } = JSON.parse(fixture.files.get("test/project.json")!);
  const db = await openDb(database.url, {
    connectionsMax: 2,
    statementTimeoutMs: 5_000,
    decimals: "number",
  });
  const storage = fixture.storage ?? createFolderFiles(fixture.storageUrl.slice("file:".length));
  const files = createRecordFiles({
    project: "test",
    db,
    storage,
    hasFiles: () => true,
    report: () => undefined,
    ...createRuntime(createLog("silent")),
  });
  return { storage, open: files.open, sweep: files.sweep, close: () => db.close() };
}

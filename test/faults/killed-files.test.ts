/**
 * Writers that upload files, create records with them and replace them, while the service is killed again and again: in
 * the end every file that a record names is there, and when what expires has expired, no other one.
 */
import { mkdtemp, readdir, rm, utimes } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { entriesIn } from "../../core/values/types/file-type.ts";
import { openKeeper, stored } from "../contract/files.ts";
import type { Fixture } from "../contract/harness.ts";
import { createTables } from "../contract/tables.ts";
import { type FreshDatabase, freshDatabase } from "../servers/database.ts";
import { openSession, type PlainSession } from "../servers/session.ts";
import { type ServiceProcess, startService } from "./service-process.ts";

const rounds = 5;
const writers = 6;

const engine = inject("engine");
let database: FreshDatabase;
let session: PlainSession;
let folder = "";
let service: ServiceProcess | undefined;

beforeAll(async () => {
  database = await freshDatabase(engine);
  session = await openSession(engine, database.url);
  folder = await mkdtemp(join(tmpdir(), "rowgate-test-files-"));
  const columns = { paper_id: "key", scan: "json" } as const;
  for (const text of createTables(engine, [{ name: "papers", columns }])) await session.run(text);
}, 60_000);
afterAll(async () => {
  await service?.stop();
  await session?.close();
  await database?.drop();
  await rm(folder, { recursive: true, force: true });
});

const start = (): Promise<ServiceProcess> =>
  startService(
    {
      "project.json": { database: { url: database.url } },
      "papers.json": {
        tableName: "papers",
        action: { create: true, update: true, first: true },
        files: { scan: {} },
      },
    },
    { env: { STORAGE_URL: `file:${folder}` } },
  );

/** The content of the file tells its name. */
const contentOf = (name: string) => `${name} `.repeat(5_000);

async function upload({ origin }: ServiceProcess, name: string): Promise<string> {
  const body = new FormData();
  body.append("field", "scan");
  body.append("file", new File([contentOf(name)], name));
  const answer = await fetch(`${origin}/api/test/papers/file-upload`, { method: "POST", body });
  return ((await answer.json()) as { id: string }).id;
}

test("no file is lost, and none is left over", async () => {
  let done = 0;
  let isOver = false;
  service = await start();
  async function write(writer: number): Promise<void> {
    let paper: unknown = null;
    for (let at = 1; !isOver; at++)
      try {
        const scan = { id: await upload(service!, `${writer}-${at}.txt`) };
        const isNew = paper === null || at % 3 === 0;
        const { status, body } = isNew
          ? await service!.post("papers/create", { scan })
          : await service!.post("papers/update", { paper_id: paper, scan });
        if (status >= 300) continue;
        paper = (body["data"] as { paper_id: unknown }).paper_id;
        done++;
      } catch {
        // The process was killed.
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
  }
  const writing = Promise.all(Array.from({ length: writers }, (_, at) => write(at)));
  for (let round = 1; round <= rounds; round++) {
    const wanted = done + 5 + Math.random() * 10;
    while (done < wanted) await new Promise((resolve) => setTimeout(resolve, 1));
    const { process: child, stop } = service;
    const dead = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGKILL");
    await dead;
    await stop().catch(() => undefined);
    service = await start();
  }
  isOver = true;
  await writing;
  await session.run(
    "UPDATE rowgate_files SET expires_at = '2020-01-01 00:00:00' WHERE expires_at IS NOT NULL",
  );
  const keeper = await openKeeper({
    files: new Map([["test/project.json", JSON.stringify({ database: { url: database.url } })]]),
    storageUrl: `file:${folder}`,
  } as unknown as Fixture);
  try {
    await keeper.sweep();
    // Those whose upload was cut off, as a process finds them that starts later.
    const partial = join(folder, ".partial");
    for (const name of await readdir(partial)) await utimes(join(partial, name), 0, 0);
    await keeper.storage.write("files/test/probe", Readable.from([]));
    await keeper.storage.remove("files/test/probe");
  } finally {
    await keeper.close();
  }
  const papers = await session.run("select paper_id, scan from papers");
  // What was stored, but not answered, counts too.
  expect(papers.length).toBeGreaterThan(rounds);
  const kept = papers.flatMap(({ paper_id, scan }) => {
    const text = typeof scan === "string" ? scan : JSON.stringify(scan);
    return entriesIn(text).map((entry) => ({ paper_id: String(paper_id), ...entry }));
  });
  for (const { paper_id, name } of kept) {
    const query = new URLSearchParams({ paper_id, field: "scan" });
    const answer = await fetch(`${service.origin}/api/test/papers/file-download?${query}`);
    expect([answer.status, await answer.text()]).toEqual([200, contentOf(name)]);
  }
  const ids = kept.map(({ id }) => id).toSorted();
  expect((await stored({ storageUrl: `file:${folder}` } as Fixture)).toSorted()).toEqual(ids);
  const rows = await session.run("select file_id from rowgate_files");
  expect(rows.map(({ file_id }) => file_id).toSorted()).toEqual(ids);
}, 300_000);

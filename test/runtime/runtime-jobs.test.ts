/** Jobs on each runtime: an import in the service, and exports and imports run by a worker on another runtime. */
import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { sheetsOf, workbookOf } from "../contract/imports.ts";
import { createTables } from "../contract/tables.ts";
import { freshDatabase, type FreshDatabase } from "../servers/database.ts";
import { openSession } from "../servers/session.ts";
import { commandFor, type Runtime } from "./runtimes.ts";

const goods = {
  tableName: "goods",
  action: { read: true, export: true, import: true },
  // The file that comes back holds the records that are there.
  importConfig: { upsertKeys: ["id"] },
};

const things = {
  tableName: "things",
  action: { read: true, import: true },
  fieldValidation: { kind: { type: "string", enum: ["a", "b"] } },
  importConfig: { upsertKeys: ["name"] },
};

let database: FreshDatabase;
let folder = "";
beforeAll(async () => {
  database = await freshDatabase("postgres");
  const session = await openSession("postgres", database.url);
  const columns = { id: "key", name: "text(40)" } as const;
  const thingColumns = {
    id: "key",
    name: { type: "text(40)", notNull: true, unique: true },
    kind: "text(4)",
  } as const;
  const tables = [
    { name: "goods", columns },
    { name: "things", columns: thingColumns },
  ];
  for (const text of createTables("postgres", tables)) await session.run(text);
  await session.run(
    "INSERT INTO goods SELECT 'k' || i, 'Thing ' || i FROM generate_series(1, 500) i",
  );
  await session.close();
  folder = await mkdtemp(join(tmpdir(), "rowgate-test-runtime-jobs-"));
  await mkdir(join(folder, "configs/shop"), { recursive: true });
  const project = { database: { url: database.url } };
  await writeFile(join(folder, "configs/shop/project.json"), JSON.stringify(project));
  await writeFile(join(folder, "configs/shop/goods.json"), JSON.stringify(goods));
  await writeFile(join(folder, "configs/shop/things.json"), JSON.stringify(things));
});
afterAll(async () => {
  if (folder) await rm(folder, { recursive: true, force: true });
  await database?.drop();
});

test.each<[service: Runtime, worker: Runtime]>([
  ["bun", "bun"],
  ["deno", "deno"],
  ["bun", "node"],
  ["node", "deno"],
  ["deno", "bun"],
])("a service on %s has its export and its import done by a worker on %s", async (...pair) => {
  const [service, worker] = pair;
  const env = { REDIS_URL: inject("serverUrls")!.redis!, JOBS_QUEUE: `test-${randomUUID()}` };
  const serving = await start(service, "serve", env);
  const working = await start(worker, "worker", env);
  try {
    const goodsUrl = `${serving.origin}/api/shop/goods`;
    const exported = await ended(goodsUrl, "export", await post(`${goodsUrl}/export`, {}));
    expect(exported).toMatchObject({ status: "completed" });
    const file = await fetch(serving.origin + exported["file_url"]).then((one) => one.blob());

    const upload_id = await uploaded(goodsUrl, file);
    const asked = await post(`${goodsUrl}/import-preview`, { upload_id });
    const preview = await ended(goodsUrl, "import", asked);
    expect(preview).toMatchObject({ status: "preview_ok", summary: { valid: 500 } });
  } finally {
    serving.process.kill("SIGTERM");
    working.process.kill("SIGTERM");
  }
  expect([await serving.exit, await working.exit]).toEqual([0, 0]);
});

test.each<Runtime>(["node", "bun", "deno"])(
  "a service on %s does a whole import: template, wrong rows and their workbook, and a commit",
  async (runtime) => {
    const serving = await start(runtime, "serve", {});
    const url = `${serving.origin}/api/shop/things`;
    const bytesOf = async (path: string) => {
      const answer = await fetch(`${url}/${path}`);
      const bytes = new Uint8Array(await answer.arrayBuffer());
      expect(answer.status, `${path} ${Buffer.from(bytes.subarray(0, 300))}`).toBe(200);
      return bytes;
    };
    const previewOf = async (rows: string[][]) => {
      const upload_id = await uploaded(url, new Blob([await workbookOf(rows)]));
      const jobId = await post(`${url}/import-preview`, { upload_id });
      return { jobId, status: await ended(url, "import", jobId) };
    };
    try {
      const [template] = await sheetsOf(await bytesOf("import-template"));
      const headings = [1, 2, 3].map((column) => template!.getRow(1).getCell(column).text);
      expect(headings).toEqual(expect.arrayContaining(["name", "kind"]));

      const [one, two, three] = [`${runtime} 1`, `${runtime} 2`, `${runtime} 3`];
      const wrong = await previewOf([
        ["name", "kind"],
        [one, "a"],
        [two, "c"],
        ["x".repeat(41), "b"],
      ]);
      expect(wrong.status).toMatchObject({
        status: "preview_error",
        summary: { valid: 1, invalid: 2 },
      });
      const [rejected] = await sheetsOf(await bytesOf(`import-errors?job_id=${wrong.jobId}`));
      const text = JSON.stringify(rejected!.getSheetValues());
      expect([text.includes(one), text.includes(two)]).toEqual([false, true]);

      const good = await previewOf([
        ["name", "kind"],
        [two, "a"],
        [three, "b"],
      ]);
      expect(good.status).toMatchObject({ status: "preview_ok" });
      const jobId = await post(`${url}/import-commit`, { preview_job_id: good.jobId });
      expect(await ended(url, "import", jobId)).toMatchObject({
        status: "completed",
        result: { inserted: 2, updated: 0, skipped: 0, failed: 0 },
      });
      const session = await openSession("postgres", database.url);
      const stored = await session.run(
        `SELECT name, kind FROM things WHERE name LIKE '${runtime} %' ORDER BY name`,
      );
      await session.close();
      expect(stored).toEqual([
        { name: two, kind: "a" },
        { name: three, kind: "b" },
      ]);
    } finally {
      serving.process.kill("SIGTERM");
    }
    expect(await serving.exit).toBe(0);
  },
);

type Body = Record<string, string>;

interface Running {
  readonly origin: string;
  readonly process: ChildProcess;
  readonly exit: Promise<number | null>;
}

/** Resolves when it is ready; the origin of a worker is empty. */
async function start(
  runtime: Runtime,
  command: "serve" | "worker",
  env: Readonly<Record<string, string>>,
): Promise<Running> {
  const [program, ...args] = commandFor(runtime)!;
  const root = join(import.meta.dirname, "../..");
  const child = spawn(program, [...args, join(root, "app/start/cli.ts"), command], {
    cwd: root,
    env: {
      ...process.env,
      CONFIG_DIR: join(folder, "configs"),
      STORAGE_URL: `file:${join(folder, "files")}`,
      PORT: "0",
      LOG_LEVEL: "error",
      DENO_NO_UPDATE_CHECK: "1",
      ...env,
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exit = new Promise<number | null>((resolve) => child.once("exit", resolve));
  const origin = await new Promise<string>((resolve, reject) => {
    child.stdout.on("data", (chunk) => {
      const [ready, url = ""] = /listens on (http:\S+)|takes jobs/.exec(String(chunk)) ?? [];
      if (ready !== undefined) resolve(url);
    });
    void exit.then((status) => reject(new Error(`${runtime} ended with ${status}`)));
  });
  return { origin, process: child, exit };
}

async function post(url: string, body: object): Promise<string> {
  const headers = { "Content-Type": "application/json" };
  const answer = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
  const { job_id, message } = (await answer.json()) as Body;
  if (job_id === undefined) throw new Error(message);
  return job_id;
}

/** The id of the upload. */
async function uploaded(url: string, file: Blob): Promise<string> {
  const body = new FormData();
  body.set("file", file, "rows.xlsx");
  const answer = await fetch(`${url}/import-upload`, { method: "POST", body });
  const { upload_id, message } = (await answer.json()) as Body;
  if (upload_id === undefined) throw new Error(message);
  return upload_id;
}

/** The status of the job once it has ended. */
async function ended(url: string, kind: "export" | "import", jobId: string): Promise<Body> {
  for (;;) {
    const answer = await fetch(`${url}/${kind}-status?job_id=${jobId}`);
    const body = (await answer.json()) as Body;
    if (!["pending", "processing", "validating"].includes(body["status"]!)) return body;
    await pause(50);
  }
}

/**
 * The service while its bucket is down, hangs or refuses the keys: requests that need files get 503 in time, others are
 * answered, jobs are retried, and none is lost.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { Writable } from "node:stream";
import { pino } from "pino";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createLog, type Logger } from "../../app/start/observing/log.ts";
import { openService, type Service } from "../../app/start/servers/wire.ts";
import { bucketLimits } from "../../jobs/files/bucket/bucket-limits.ts";
import { workbookOf } from "../contract/imports.ts";
import { createTables } from "../contract/tables.ts";
import { type FreshDatabase, freshDatabase } from "../servers/database.ts";
import { openSession } from "../servers/session.ts";
import { type OwnBucket, startBucket } from "../storage/own-bucket.ts";
import { startNetwork } from "../storage/unreliable-network.ts";

let database: FreshDatabase;
let bucket: OwnBucket;
let service: Service | undefined;

beforeEach(async () => {
  database = await freshDatabase("sqlite");
  const session = await openSession("sqlite", database.url);
  const columns = { id: "key", name: "text(20)" } as const;
  for (const text of createTables("sqlite", [{ name: "goods", columns }])) await session.run(text);
  const rows = "with recursive n(i) as (select 1 union all select i + 1 from n where i < 60000)";
  await session.run(`insert into goods ${rows} select i, 'good ' || i from n`);
  await session.close();
  bucket = await startBucket();
});
afterEach(async () => {
  await service?.close();
  service = undefined;
  await bucket.stop();
  await database.drop();
});

const action = { read: true, export: true, "import-upload": true, "import-preview": true };

async function open(
  env: Readonly<Record<string, string>> = bucket.env,
  log: Logger = createLog("silent"),
): Promise<void> {
  const files = new Map([
    ["test/project.json", JSON.stringify({ database: { url: database.url } })],
    ["test/goods.json", JSON.stringify({ tableName: "goods", action })],
  ]);
  service = await openService({ files, env, log });
  await service.ready;
}

async function ask(path: string, init?: RequestInit) {
  const startedMs = performance.now();
  const response = await service!.app.request(`/api/test/goods/${path}`, init);
  const text = await response.text();
  const lastedMs = performance.now() - startedMs;
  const { status, headers } = response;
  const isJson = headers.get("content-type")?.startsWith("application/json");
  return { status, headers, text, lastedMs, body: isJson ? JSON.parse(text) : null };
}

const post = (path: string, body: object) =>
  ask(path, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });

async function upload() {
  const body = new FormData();
  body.append(
    "file",
    new File(
      [
        await workbookOf([
          ["id", "name"],
          ["x", "new"],
        ]),
      ],
      "rows.xlsx",
    ),
  );
  return ask("import-upload", { method: "POST", body });
}

const started = async (): Promise<string> =>
  (await post("export", { format: "jsonl" })).body.job_id;
const download = (id: string) => ask(`export-download?job_id=${id}`);

async function completed(id: string): Promise<void> {
  const giveUpAtMs = performance.now() + 30_000;
  for (;;) {
    const { body } = await ask(`export-status?job_id=${id}`);
    if (body.status === "completed") return;
    if (body.status === "failed" || performance.now() > giveUpAtMs)
      throw new Error(JSON.stringify(body));
    await sleep(50);
  }
}

test.each([
  ["does not run", () => bucket.kill(), () => bucket.start()],
  ["hangs", async () => bucket.pause(), async () => bucket.goOn()],
] as const)(
  "while the bucket %s, what needs files answers 503 in time, and all else goes on",
  async (_, away, back) => {
    await open();
    const id = await started();
    await completed(id);
    expect((await upload()).body.total_rows).toBe(1);
    await away();
    try {
      const answers = await Promise.all([
        download(id),
        upload(),
        post("export", {}),
        ask(`export-download?job_id=${id}`, { headers: { Range: "bytes=0-4" } }),
      ]);
      for (const { status, headers, body, lastedMs } of answers) {
        expect([status, body.error]).toEqual([503, "Service unavailable"]);
        expect(headers.get("retry-after")).toMatch(/^\d+$/);
        expect(lastedMs).toBeLessThan(2 * bucketLimits.answerMs);
      }
      expect((await post("read", { select: ["id"] })).status).toBe(200);
      expect((await ask(`export-status?job_id=${id}`)).body.status).toBe("completed");
    } finally {
      await back();
    }
    expect((await download(id)).text.trimEnd().split("\n")).toHaveLength(60_000);
    expect((await upload()).body.total_rows).toBe(1);
    await completed(await started());
  },
);

test("a job whose bucket dies and comes back is tried again, and its file is whole", async () => {
  await open();
  const id = await started();
  while ((await ask(`export-status?job_id=${id}`)).body.status === "pending") await sleep(5);
  await bucket.kill();
  await sleep(500);
  await bucket.start();
  await completed(id);
  expect((await download(id)).text.trimEnd().split("\n")).toHaveLength(60_000);
});

test("a service that starts before its bucket runs waits for it, and forgets no job", async () => {
  await open();
  const id = await started();
  await completed(id);
  await service!.close();
  await bucket.kill();
  await open();
  expect((await post("read", { select: ["id"] })).status).toBe(200);
  const asked = [
    await ask(`export-status?job_id=${id}`),
    await download(id),
    await post("export", {}),
    await post("export-cancel", { job_id: id }),
  ];
  expect(asked.map(({ status }) => status)).toEqual([503, 503, 503, 503]);
  await bucket.start();
  await expect
    .poll(async () => (await ask(`export-status?job_id=${id}`)).body.status, { timeout: 10_000 })
    .toBe("completed");
  expect((await download(id)).text.trimEnd().split("\n")).toHaveLength(60_000);
});

test("a service that starts while its bucket is too busy to read a job forgets none", async () => {
  await open();
  const id = await started();
  await completed(id);
  await service!.close();
  let refusals = bucketLimits.triesMax;
  const isRead = (line: string) => line.startsWith("GET") && line.includes(`jobs/${id}`);
  const network = await startNetwork(bucket.address.url, (line) =>
    isRead(line) && refusals-- > 0 ? { status: 503, body: "" } : null,
  );
  const STORAGE_URL = `s3://test-files/prefix?endpoint=${network.origin}`;
  await open({ ...bucket.env, STORAGE_URL });
  expect((await ask(`export-status?job_id=${id}`)).status).toBe(503);
  await expect
    .poll(async () => (await ask(`export-status?job_id=${id}`)).body.status, { timeout: 10_000 })
    .toBe("completed");
  await service!.close();
  await network.close();
});

test.each([
  ["does not exist", { STORAGE_URL: "nowhere" }, "404 NoSuchBucket"],
  ["takes no such key", { AWS_SECRET_ACCESS_KEY: "hush-hush" }, "403 SignatureDoesNotMatch"],
])("a start with a bucket that %s says so in the log, without the key", async (_, env, reason) => {
  let logged = "";
  const stream = new Writable({
    write(chunk, _encoding, done) {
      logged += chunk;
      done();
    },
  });
  const STORAGE_URL = bucket.env["STORAGE_URL"]!.replace("s3://", "s3://no-");
  const wrong = "STORAGE_URL" in env ? { STORAGE_URL } : env;
  await open({ ...bucket.env, ...wrong }, pino(stream));
  await expect.poll(() => logged).toContain("The bucket of STORAGE_URL cannot be used");
  expect(logged).toContain(reason);
  expect(logged).not.toContain("hush");
});

/** The service behind `deploy/caddy/Caddyfile`: what passes the proxy unchanged, and what does not pass it. */
import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import Database from "better-sqlite3";
import { afterAll, beforeAll, expect, test } from "vitest";
import { serveProcess, type ServeProcess } from "../running/serve-process.ts";
import { openProxy, type Proxy } from "../servers/caddy.ts";

const rows = 20_000;
const endpoint = {
  tableName: "goods",
  fieldName: ["id", "name"],
  action: { first: true, read: true, update: true, export: true, import: true, lookup: true },
  importConfig: { upsertKeys: ["id"] },
};
const project = { rateLimit: { max: 10_000, actions: { lookup: 3 } } };

let folder: string;
let service: ServeProcess;
let proxy: Proxy;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "rowgate-test-proxy-"));
  const file = join(folder, "shop.db");
  const tables = new Database(file);
  tables.exec("create table goods (id integer primary key, name text)");
  tables.exec(
    `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${rows})
     insert into goods select i, 'thing ' || i || hex(randomblob(100)) from n`,
  );
  tables.close();
  mkdirSync(join(folder, "configs/shop"), { recursive: true });
  const database = { url: `sqlite:${file}` };
  const texts = { "project.json": { database, ...project }, "goods.json": endpoint };
  for (const [name, text] of Object.entries(texts))
    writeFileSync(join(folder, "configs/shop", name), JSON.stringify(text));
  service = await serveProcess({
    env: {
      CONFIG_DIR: join(folder, "configs"),
      STORAGE_URL: `file:${join(folder, "files")}`,
      TRUST_PROXY: "1",
      METRICS_TOKEN: "token-of-the-operators",
    },
  });
  proxy = await openProxy(service.origin);
});
afterAll(async () => {
  await proxy?.close();
  await service?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const json = { "content-type": "application/json" };
const post = (action: string, body: object, headers: Record<string, string> = {}) =>
  proxy.ask(`/api/shop/goods/${action}`, {
    method: "POST",
    headers: { ...json, ...headers },
    body: JSON.stringify(body),
  });
const read = ({ body }: { body: Buffer }) => JSON.parse(body.toString());
const errorOf = (answer: { status: number; body: Buffer }) => [answer.status, read(answer).error];

/** A form with one file. */
function upload(name: string, bytes: Uint8Array) {
  const boundary = "of-the-form";
  const head = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\n\r\n`;
  return proxy.ask("/api/shop/goods/import-upload", {
    method: "POST",
    headers: { "content-type": `multipart/form-data; boundary=${boundary}` },
    body: Buffer.concat([Buffer.from(head), bytes, Buffer.from(`\r\n--${boundary}--\r\n`)]),
  });
}

/** The path of a download. */
async function exported(format: string): Promise<string> {
  const { job_id: id } = read(await post("export", { format }));
  for (;;) {
    const answer = read(await proxy.ask(`/api/shop/goods/export-status?job_id=${id}`));
    if (answer.status === "completed") return `/api/shop/goods/export-download?job_id=${id}`;
    await sleep(50);
  }
}

test.each(["csv", "jsonl", "xlsx"])(
  "an export as %s comes whole, and can be continued",
  async (format) => {
    const path = await exported(format);
    const direct = Buffer.from(await (await fetch(service.origin + path)).arrayBuffer());
    const { status, body } = await proxy.ask(path);
    expect([status, body.equals(direct)]).toEqual([200, true]);
    const rest = await proxy.ask(path, { headers: { range: "bytes=1000-" } });
    expect([rest.status, rest.body.equals(direct.subarray(1000))]).toEqual([206, true]);
    if (format !== "xlsx") return;
    const { total_rows: totalRows } = read(await upload("goods.xlsx", direct));
    expect(totalRows).toBe(rows);
  },
);

test("a body and a file that are too large are refused by the service", async () => {
  const large = Buffer.alloc(12_000_000, "a");
  const path = "/api/shop/goods/update";
  const body = await proxy.ask(path, { method: "POST", headers: json, body: large });
  expect(errorOf(body)).toEqual([413, "Payload too large"]);
  expect(errorOf(await upload("large.xlsx", large))).toEqual([413, "Payload too large"]);
});

test("an ETag that passed the proxy works in If-Match", async () => {
  const { headers } = await post("first", { where: { key: "id", value: 1 } });
  const etag = String(headers["etag"]);
  const update = { id: 1, name: "changed" };
  expect((await post("update", update, { "if-match": etag })).status).toBe(200);
  expect((await post("update", update, { "if-match": etag })).status).toBe(412);
});

test("a client gets no other rate limit by sending X-Forwarded-For", async () => {
  const statuses: number[] = [];
  for (let last = 1; last <= 4; last++) {
    const headers = { "x-forwarded-for": `192.0.2.${last}` };
    statuses.push((await post("lookup", {}, headers)).status);
  }
  expect(statuses.at(-1)).toBe(429);
});

test.each(["/metrics", "/health/ready"])("%s is not shown to the outside", async (path) => {
  const headers = { authorization: "Bearer token-of-the-operators" };
  expect((await proxy.ask(path, { headers })).status).toBe(404);
});

test("browsers are told to keep to TLS, and the front page shows the address that they use", async () => {
  const { headers, body } = await proxy.ask("/", { headers: { accept: "text/html" } });
  expect(headers["strict-transport-security"]).toBe("max-age=31536000");
  expect(body.toString()).toContain(`curl -s ${proxy.origin}/api/shop/goods/read`);
});

test("a request under another name does not reach the service", async () => {
  const answer = await proxy.ask("/", { headers: { ":authority": "shop.example" } });
  expect(answer.body.toString()).not.toContain("rowgate");
});

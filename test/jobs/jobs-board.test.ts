/** The operators' jobs board: access, read-only operation, content, and behaviour while its server is down. */
import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from "vitest";
import { createLog } from "../../app/start/observing/log.ts";
import { openService, type Service } from "../../app/start/servers/wire.ts";
import { createTables } from "../contract/tables.ts";
import { type FreshDatabase, freshDatabase } from "../servers/database.ts";
import { openSession } from "../servers/session.ts";
import { startRedis } from "../stores/own-redis.ts";
import { startWorkerProcess } from "./worker-process.ts";

const token = "0123456789abcdef";
const basic = (user: string, password: string) =>
  `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;
const asOperator = { Authorization: basic("operator", token) };

let data: FreshDatabase;
let jobs: FreshDatabase;
let folder: string;
let files: Map<string, string>;
let opened: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  data = await freshDatabase("sqlite");
  jobs = await freshDatabase("postgres");
  folder = await mkdtemp(join(tmpdir(), "rowgate-test-board-"));
  const session = await openSession("sqlite", data.url);
  const columns = { id: "key", name: "text(20)" } as const;
  for (const text of createTables("sqlite", [{ name: "goods", columns }])) await session.run(text);
  await session.run("insert into goods values ('1', 'one')");
  await session.close();
  files = new Map([
    ["test/project.json", JSON.stringify({ database: { url: data.url } })],
    ["test/goods.json", '{"tableName":"goods","action":{"export":true,"read":true}}'],
  ]);
});
afterEach(async () => {
  for (const close of opened.splice(0).toReversed()) await close();
});
afterAll(async () => {
  await data?.drop();
  await jobs?.drop();
  await rm(folder, { recursive: true, force: true });
});

const envOf = (server: Readonly<Record<string, string>>): Record<string, string> => ({
  STORAGE_URL: `file:${folder}`,
  JOBS_QUEUE: `test-${randomUUID()}`,
  JOBS_BOARD_TOKEN: token,
  ...server,
});
const overRedis = () => envOf({ REDIS_URL: inject("serverUrls")!.redis! });

async function open(env: Record<string, string>): Promise<Service> {
  const service = await openService({ files, env, log: createLog("silent") });
  opened.push(() => service.close());
  await service.ready;
  return service;
}

const visit = async ({ app }: Service, path: string, init: RequestInit = { headers: asOperator }) =>
  app.request(`/jobs-board${path}`, init);

const startExport = async ({ app }: Service, where: object): Promise<string> => {
  const headers = { "Content-Type": "application/json" };
  const init = { method: "POST", headers, body: JSON.stringify({ format: "csv", where }) };
  const response = await app.request("/api/test/goods/export", init);
  return ((await response.json()) as { job_id: string }).job_id;
};

describe("the board", () => {
  test.each([
    ["nobody", undefined],
    ["another user", basic("admin", token)],
    ["another password", basic("operator", "0123456789abcdeF")],
    ["a part of the token", basic("operator", token.slice(0, -1))],
    ["no password", basic("operator", "")],
    ["no colon", `Basic ${btoa("operator")}`],
    ["no base64", "Basic %%%"],
    ["another Bearer", "Bearer 0123456789abcdeF"],
    ["an empty Bearer", "Bearer "],
    ["another scheme", `Digest ${token}`],
  ])("asks %s for the token, whatever the path", async (_, authorization) => {
    const service = await open(overRedis());
    const headers = authorization === undefined ? {} : { Authorization: authorization };
    for (const path of ["", "/", "/api/queues", "/static/favicon.ico", "/nothing"]) {
      const response = await visit(service, path, { headers });
      expect(response.status).toBe(401);
      expect(response.headers.get("www-authenticate")).toMatch(/^Basic realm="/);
      expect(response.headers.get("x-request-id")).toBeTruthy();
      expect(await response.json()).toMatchObject({ success: false, error: "Unauthorized" });
    }
  });

  test.each([
    ["the user operator", basic("operator", token)],
    ["Bearer", `Bearer ${token}`],
  ])("opens for %s", async (_, authorization) => {
    const service = await open(overRedis());
    const response = await visit(service, "", { headers: { Authorization: authorization } });
    expect([response.status, response.headers.get("content-type")]).toEqual([
      200,
      "text/html; charset=UTF-8",
    ]);
    expect(response.headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
    expect(response.headers.get("cross-origin-resource-policy")).toBe("same-origin");
    expect(response.headers.get("x-request-id")).toBeTruthy();
  });

  test("has every file that its page names", async () => {
    const service = await open(overRedis());
    const page = await (await visit(service, "")).text();
    expect(page).toContain('<base href="/jobs-board/"');
    const names = [...page.matchAll(/(?:src|href)="(static\/[^"]+)"/g)].map(([, name]) => name);
    expect(names.length).toBeGreaterThan(4);
    for (const name of names) {
      const response = await visit(service, `/${name}`);
      expect([name, response.status]).toEqual([name, 200]);
      expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(100);
    }
  });

  test.each(["POST", "PUT", "PATCH", "DELETE", "OPTIONS"])(
    "changes nothing by %s",
    async (method) => {
      const service = await open(overRedis());
      for (const path of ["/api/queues/pause", "/api/queues/rowgate/add", ""]) {
        const response = await visit(service, path, { method, headers: asOperator });
        expect([response.status, response.headers.get("allow")]).toEqual([405, "GET"]);
        expect(await response.json()).toMatchObject({ error: "Method not allowed" });
      }
    },
  );

  test.each([
    ["without JOBS_BOARD_TOKEN", () => ({ ...overRedis(), JOBS_BOARD_TOKEN: "" })],
    ["where the service keeps its jobs itself", () => envOf({})],
  ])("is not there %s", async (_, env) => {
    const service = await open(env());
    for (const path of ["", "/", "/api/queues", "/static/favicon.ico"]) {
      const response = await visit(service, path);
      expect(response.status).toBe(404);
      expect(response.headers.get("www-authenticate")).toBeNull();
    }
  });

  test("says that an unknown path is not there", async () => {
    const service = await open(overRedis());
    expect((await visit(service, "/static/nothing.js")).status).toBe(404);
    expect((await visit(service, "/api/nothing")).status).toBe(404);
    expect((await visit(service, "/static/..%2f..%2fpackage.json")).status).toBe(404);
  });
});

describe.each(["Redis", "PostgreSQL"])("the board of jobs in %s", (name) => {
  const env = () => (name === "Redis" ? overRedis() : envOf({ JOBS_DATABASE_URL: jobs.url }));

  test("shows jobs, their requests and results, and no address or password", async () => {
    const settings = env();
    const service = await open(settings);
    const worker = await startWorkerProcess({ files, env: settings });
    opened.push(() => worker.stop());
    const where = { logic: "AND", conditions: [{ key: "name", operator: "=", value: "one" }] };
    const id = await startExport(service, where);
    const list = `/api/queues?activeQueue=${settings["JOBS_QUEUE"]}&status=latest&page=1&jobsPerPage=10`;
    const shown = async () => {
      const response = await visit(service, list);
      expect(response.status).toBe(200);
      return response.text();
    };
    let text = await shown();
    // The board counts the jobs before it lists them, so the two may be of different moments.
    const isEnded = (): boolean =>
      text.includes('"returnValue":{') && text.includes('"completed":1');
    for (let tries = 0; tries < 200 && !isEnded(); tries++) {
      await sleep(50);
      text = await shown();
    }
    const [queue] = (JSON.parse(text) as { queues: Record<string, unknown>[] }).queues;
    // Which workers there are is not known of a database.
    const hasWorkers = name === "Redis" ? true : null;
    expect(queue).toMatchObject({ readOnlyMode: true, counts: { completed: 1 }, hasWorkers });
    expect(queue!["jobs"]).toMatchObject([
      { id, name: "export", data: { request: { where } }, returnValue: { rows: 1 } },
    ]);
    expect(text).not.toMatch(/:\/\//);
    expect((await visit(service, `/api/queues/${settings["JOBS_QUEUE"]}/${id}`)).status).toBe(200);
    expect((await visit(service, "/api/redis/stats")).status).toBe(200);
  });
});

test.each(["is killed", "stops answering"])(
  "a board whose Redis %s answers 503 within a second, as jobs do, and is there again with it",
  async (how) => {
    const redis = await startRedis();
    opened.push(() => redis.stop());
    const service = await open(envOf({ REDIS_URL: redis.url }));
    if (how === "is killed") await redis.kill();
    else redis.pause();
    for (const path of ["", "/api/queues"]) {
      const startedMs = performance.now();
      const response = await visit(service, path);
      expect(response.status).toBe(503);
      expect(await response.json()).toMatchObject({ error: "Service unavailable" });
      // The first visit loads the board itself.
      if (path !== "") expect(performance.now() - startedMs).toBeLessThan(1_000);
    }
    const read = await service.app.request("/api/test/goods/read", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: '{"limit":1}',
    });
    expect(read.status).toBe(200);
    if (how === "is killed") await redis.start();
    else redis.goOn();
    const giveUpAtMs = performance.now() + 10_000;
    let response = await visit(service, "/api/queues");
    while (response.status === 503 && performance.now() < giveUpAtMs) {
      await sleep(100);
      response = await visit(service, "/api/queues");
    }
    expect(response.status).toBe(200);
    expect((await visit(service, "/api/queues")).status).toBe(200);
  },
);

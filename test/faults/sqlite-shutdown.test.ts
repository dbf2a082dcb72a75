/** Start and stop of the process as the operator sees them. */
import { request } from "node:http";
import { afterEach, expect, test } from "vitest";
import { createTables } from "../contract/tables.ts";
import { type FreshDatabase, freshDatabase } from "../servers/database.ts";
import { startHookServer } from "../outbound/hook-server.ts";
import { openSession } from "../servers/session.ts";
import { type ServiceProcess, startService } from "./service-process.ts";

let database: FreshDatabase | undefined;
let service: ServiceProcess | undefined;

afterEach(async () => {
  await service?.stop();
  await database?.drop();
});

/** `more`: further properties of the two files. */
async function serveItems(
  more: { project?: object; items?: object } = {},
): Promise<ServiceProcess> {
  database = await freshDatabase("sqlite");
  const session = await openSession("sqlite", database.url);
  for (const text of createTables("sqlite", [
    { name: "items", columns: { id: "key", name: "text(100)" } },
  ])) {
    await session.run(text);
  }
  await session.close();
  service = await startService({
    "project.json": { database: { url: database.url }, ...more.project },
    "items.json": {
      tableName: "items",
      action: { create: true, read: true, "change-status": true },
      workflow: { statusField: "name" },
      ...more.items,
    },
  });
  return service;
}

test("SIGTERM lets a running request finish, takes no new ones, and ends with exit code 0", async () => {
  const { origin, process: child, post } = await serveItems();
  const exited = new Promise<number | null>((resolve) => child.once("exit", resolve));
  const body = JSON.stringify({ name: "sent in two halves" });

  const finished = new Promise<number | undefined>((resolve, reject) => {
    const headers = {
      "Content-Type": "application/json",
      "Content-Length": Buffer.byteLength(body),
    };
    const call = request(
      `${origin}/api/test/items/create`,
      { method: "POST", headers },
      (response) => {
        response.resume().once("end", () => resolve(response.statusCode));
      },
    );
    call.once("error", reject);
    call.write(body.slice(0, 10), () => {
      // The service has seen the beginning of the request when the signal comes.
      setTimeout(() => child.kill("SIGTERM"), 200);
      setTimeout(() => call.end(body.slice(10)), 600);
    });
  });
  expect(await finished).toBe(201);
  await expect(post("items/read", { limit: 1 })).rejects.toThrow();
  const startedMs = performance.now();
  expect(await exited).toBe(0);
  expect(performance.now() - startedMs).toBeLessThan(3_000);
});

test("SIGTERM ends a quiet service at once, idle connections or not", async () => {
  const { process: child, post } = await serveItems();
  expect((await post("items/read", { limit: 1 })).status).toBe(200);
  const exited = new Promise<number | null>((resolve) => child.once("exit", resolve));
  const startedMs = performance.now();
  child.kill("SIGTERM");
  expect(await exited).toBe(0);
  expect(performance.now() - startedMs).toBeLessThan(3_000);
});

test.each([
  ["lets a hook finish that nobody waits for", "slow", 500, 3_000],
  ["gives up a hook that does not come to its end", "silent", 7_000, 10_000],
])("SIGTERM %s, and ends with exit code 0", async (_, path, longerThanMs, shorterThanMs) => {
  const server = await startHookServer();
  const hook = { url: `http://${server.host}/${path}`, timeoutMs: 60_000 };
  const { process: child, post } = await serveItems({
    project: { hooks: { allowedHosts: [server.host] } },
    items: { workflow: { statusField: "name", hooks: { done: { onAfter: [hook] } } } },
  });
  await post("items/create", { id: "i1" });
  expect((await post("items/change-status", { id: "i1", status: "done" })).status).toBe(200);
  await server.hears(`/${path}`);
  const exited = new Promise<number | null>((resolve) => child.once("exit", resolve));
  const startedMs = performance.now();
  child.kill("SIGTERM");
  expect(await exited).toBe(0);
  expect(performance.now() - startedMs).toBeGreaterThan(longerThanMs);
  expect(performance.now() - startedMs).toBeLessThan(shorterThanMs);
  await server.close();
});

test("a configuration with faults stops the start with all of them and exit code 1", async () => {
  const refusal = startService({
    "project.json": { database: { url: "sqlite::memory:", pol: 3 } },
    "items.json": { tableName: "items", acton: { read: true } },
  });
  const message = await refusal.then(
    () => "it started",
    (error: Error) => error.message,
  );
  expect(message).toContain("ended with 1");
  expect(message).toContain('did you mean "pool"');
  expect(message).toContain('did you mean "action"');
});

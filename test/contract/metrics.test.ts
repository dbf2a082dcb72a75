/** `/metrics`: what is counted, under which names, and who has access. */
import { describe, expect, test } from "vitest";
import type { HookContext } from "../../core/plans/hook.ts";
import { type Family, readExposition, type Sample } from "../observe/exposition.ts";
import { startHookServer } from "../outbound/hook-server.ts";
import { openFixture, openForTests } from "./harness.ts";

const token = "a-token-of-the-metrics";

const hooks = openForTests(startHookServer);
const place = openForTests(() => {
  const hook = (name: string, path: string) => ({
    name,
    url: `http://${hooks.host}${path}`,
    blocking: true,
  });
  return openFixture({
    tables: [{ name: "goods", columns: { id: "key", mark: "text(40)", state: "text(20)" } }],
    setUp: () => ["insert into goods values ('a', 'A', 'open'), ('b', 'B', 'open')"],
    endpoints: {
      goods: {
        tableName: "goods",
        action: { read: true, first: true, lookup: true, update: true, "change-status": true },
        fieldNameLookup: { id: "id", text: "mark" },
        components: { onBeforeUpdate: ["components/code.ts#check"] },
        workflow: {
          statusField: "state",
          hooks: {
            paid: { onBefore: [hook("ask", "/ask")] },
            refused: { onAfter: [hook("tell", "/status/400")] },
          },
        },
      },
    },
    project: {
      batch: { enabled: true },
      mcp: { endpoints: ["goods"], write: ["goods/update"] },
      hooks: { allowedHosts: [hooks.host] },
      rateLimit: { windowSeconds: 600, actions: { lookup: 1 } },
    },
    components: {
      "components/code.ts": {
        check({ data, reject }: HookContext) {
          if (data["mark"] === "refused") reject("No");
          if (data["mark"] === "failed") throw new Error("broken");
        },
      },
    },
    env: { METRICS_TOKEN: token },
    // In this process: not every runtime keeps metrics.
    watchers: [],
  });
});

async function scrape(): Promise<Map<string, Family>> {
  const headers = { Authorization: `Bearer ${token}` };
  const response = await place.fetch("/metrics", { headers });
  expect(response.status).toBe(200);
  return readExposition(await response.text());
}

type Labels = Readonly<Record<string, string>>;

/** The value of the series; 0 where it is not there. */
function valueIn(families: Map<string, Family>, name: string, labels: Labels): number {
  const family = families.get(name.replace(/_(?:count|sum|bucket)$/, ""));
  const isMeant = (sample: Sample): boolean =>
    sample.name === name &&
    Object.keys(sample.labels).length === Object.keys(labels).length &&
    Object.entries(labels).every(([label, value]) => sample.labels[label] === value);
  return family?.samples.find(isMeant)?.value ?? 0;
}

/** By how much each of the series grew while the work was done. */
async function growth(
  series: readonly (readonly [name: string, labels: Labels])[],
  work: () => Promise<unknown>,
): Promise<number[]> {
  const before = await scrape();
  await work();
  const after = await scrape();
  return series.map(
    ([name, labels]) => valueIn(after, name, labels) - valueIn(before, name, labels),
  );
}

const goods = { project: "test", endpoint: "goods" };
const requests = "rowgate_http_requests_total";
const byId = (id: string) => ({ where: [{ key: "id", value: id }] });

test("requests are counted by project, endpoint, action and status, and their durations without status", async () => {
  const first = { ...goods, action: "first" };
  expect(
    await growth(
      [
        [requests, { ...first, status: "200" }],
        [requests, { ...first, status: "400" }],
        ["rowgate_http_request_duration_seconds_count", first],
        [requests, { ...goods, action: "", status: "404" }],
        [requests, { project: "test", endpoint: "", action: "", status: "404" }],
        [requests, { project: "", endpoint: "", action: "", status: "404" }],
      ],
      async () => {
        await place.post("goods/first", byId("a"));
        await place.post("goods/first", { where: [{ key: "nothing", value: 1 }] });
        await place.post("goods/nothing", {});
        await place.post("nothing/first", {});
        await place.request("/api/nowhere/goods/first", { method: "POST" });
      },
    ),
  ).toEqual([1, 1, 2, 1, 1, 1]);
});

test("steps of batches are counted as requests are, also those that are undone", async () => {
  const step = (action: string, status: string) => ({ ...goods, action, status });
  const steps = "rowgate_batch_steps_total";
  const batch = { project: "test", endpoint: "", action: "_batch" };
  const first = { endpoint: "goods", action: "first", body: byId("a") };
  expect(
    await growth(
      [
        [steps, step("first", "200")],
        [steps, step("update", "404")],
        [steps, step("first", "400")],
        ["rowgate_batch_step_duration_seconds_count", { ...goods, action: "first" }],
        ["rowgate_batch_step_duration_seconds_count", { ...goods, action: "update" }],
        [requests, { ...batch, status: "404" }],
        [requests, { ...batch, status: "200" }],
        [requests, step("first", "200")],
      ],
      async () => {
        const update = { endpoint: "goods", action: "update", body: { id: "none", mark: "x" } };
        await place.post("_batch", { steps: [first, update, first] });
        const faulty = { ...first, body: { where: [{ key: "nothing", value: 1 }] } };
        await place.post("_batch", { steps: [first, faulty], independent: true });
        // Neither is a step that was run.
        await place.post("_batch", { steps: [{ ...first, action: "nothing" }] });
        await place.post("_batch", { steps: [{ ...first, endpoint: "x".repeat(20) }] });
      },
    ),
  ).toEqual([2, 1, 1, 3, 1, 3, 1, 0]);
});

test("calls of tools are counted by the action that they lead to", async () => {
  const calls = "rowgate_mcp_calls_total";
  const call = (name: string, args: object) =>
    place.request("/mcp/test", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method: "tools/call",
        params: { name, arguments: args },
      }),
    });
  const mcp = { project: "test", endpoint: "", action: "mcp" };
  const own = { project: "test", endpoint: "" };
  expect(
    await growth(
      [
        [calls, { ...goods, action: "first", status: "200" }],
        [calls, { ...goods, action: "first", status: "400" }],
        [calls, { ...goods, action: "update", status: "404" }],
        [calls, { ...own, action: "describe", status: "200" }],
        [calls, { ...own, action: "read", status: "404" }],
        ["rowgate_mcp_call_duration_seconds_count", { ...goods, action: "first" }],
        [requests, { ...mcp, status: "200" }],
        [requests, { ...mcp, status: "405" }],
      ],
      async () => {
        await call("first", { endpoint: "goods", ...byId("a") });
        await call("first", { endpoint: "goods", where: [{ key: "nothing", value: 1 }] });
        await call("write", {
          endpoint: "goods",
          action: "update",
          body: { id: "none", mark: "x" },
        });
        await call("describe", {});
        await call("read", { endpoint: "x".repeat(20) });
        await call("x".repeat(20), {});
        await place.request("/mcp/test");
      },
    ),
  ).toEqual([1, 1, 1, 1, 1, 2, 6, 1]);
});

test("a request can never make a new series", { timeout: 60_000 }, async () => {
  const count = async () =>
    [...(await scrape()).values()]
      .filter(({ name }) => name.startsWith("rowgate_"))
      .reduce((sum, { samples }) => sum + samples.length, 0);
  const hostile = (at: number) => [
    `/api/p${at}/goods/first`,
    `/api/test/e${at}/first`,
    `/api/test/goods/a${at}`,
    `/api/test/goods/lock/a${at}`,
    `/api/test/__proto__/constructor${at}`,
    `/api/test/goods/first${at}?x=${at}`,
    `/x${at}/"}${at}`,
    `/api/test/goods%0A${at}/first`,
  ];
  const send = async (at: number) => {
    const init = { method: at % 2 ? "POST" : "GET", headers: { "X-Request-Id": `r${at}` } };
    for (const path of hostile(at)) await place.fetch(path, init);
  };
  for (let at = 0; at < 10; at++) await send(at);
  const before = await count();
  for (let at = 10; at < 510; at++) await send(at);
  expect(await count()).toBe(before);
});

test("statements, connections and the cache are counted by project", async () => {
  const project = { project: "test" };
  const series = [
    ["rowgate_db_statement_duration_seconds_count", project],
    ["rowgate_db_wait_seconds_count", project],
    ["rowgate_cache_requests_total", { ...project, kind: "list", result: "miss" }],
    ["rowgate_cache_requests_total", { ...project, kind: "list", result: "hit" }],
  ] as const;
  const read = () => place.post("goods/read", { page: 1, per_page: 2 });
  const first = (await growth(series, read)).map((grown) => grown > 0);
  expect(first).toEqual([true, true, true, false]);
  const second = (await growth(series, read)).map((grown) => grown > 0);
  expect(second).toEqual([false, false, false, true]);
  const families = await scrape();
  const states = families.get("rowgate_db_connections")!.samples.map(({ labels }) => labels);
  expect(states).toEqual([
    { ...project, state: "busy" },
    { ...project, state: "idle" },
    { ...project, state: "opening" },
  ]);
  expect(valueIn(families, "rowgate_db_callers_waiting", project)).toBe(0);
  expect(valueIn(families, "rowgate_project_up", project)).toBe(1);
  expect(valueIn(families, "rowgate_change_streams", project)).toBe(0);
});

test("handlers are counted by their name, event and outcome", async () => {
  const handler = { ...goods, event: "onBeforeUpdate", handler: "test/components/code.ts#check" };
  const name = "rowgate_handler_duration_seconds_count";
  const update = (mark: string) => place.post("goods/update", { id: "b", mark });
  expect(
    await growth(
      [
        [name, { ...handler, outcome: "completed" }],
        [name, { ...handler, outcome: "refused" }],
        [name, { ...handler, outcome: "failed" }],
      ],
      async () => {
        await update("B2");
        await update("refused");
        await update("failed");
      },
    ),
  ).toEqual([1, 1, 1]);
});

test("hooks are counted by their name and outcome", async () => {
  const duration = "rowgate_hook_duration_seconds_count";
  const change = (status: string) => place.post("goods/change-status", { id: "a", status });
  expect(
    await growth(
      [
        ["rowgate_hook_calls_total", { outcome: "completed" }],
        ["rowgate_hook_calls_total", { outcome: "refused" }],
        [duration, { ...goods, hook: "onBefore:ask", outcome: "completed" }],
        [duration, { ...goods, hook: "onAfter:tell", outcome: "refused" }],
      ],
      async () => {
        await change("paid");
        await change("refused");
      },
    ),
  ).toEqual([1, 1, 1, 1]);
});

test("requests that a rate limit refuses are counted by the limit", async () => {
  const lookup = () => place.post("goods/lookup", { search: "A" });
  const refusals = [
    "rowgate_rate_limit_refusals_total",
    { project: "test", limit: "lookup" },
  ] as const;
  await lookup();
  expect(await growth([refusals], lookup)).toEqual([1]);
});

test("the process tells its memory, CPU and the delay of its event loop", async () => {
  const families = await scrape();
  for (const name of [
    "process_resident_memory_bytes",
    "process_cpu_seconds_total",
    "nodejs_eventloop_lag_p99_seconds",
    "nodejs_heap_size_used_bytes",
  ])
    expect(families.get(name)?.samples[0]?.value).toBeGreaterThanOrEqual(0);
});

test("the answer names its format, and nothing keeps it", async () => {
  const { headers } = await place.fetch("/metrics", {
    headers: { Authorization: `Bearer ${token}` },
  });
  expect(headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
  expect(headers.get("cache-control")).toBe("no-store");
  expect(headers.get("x-request-id")).toBeTruthy();
});

describe("who may read the metrics", () => {
  test.each([
    ["no token", {}, 401],
    ["another token", { Authorization: "Bearer a-token-of-somebody-else" }, 401],
    ["a part of the token", { Authorization: `Bearer ${token.slice(0, -1)}` }, 401],
    ["the token in another scheme", { Authorization: `Basic ${token}` }, 401],
    ["the token", { Authorization: `Bearer ${token}` }, 200],
  ])("%s: %s %d", async (_, headers: Record<string, string>, status) => {
    expect((await place.request("/metrics", { headers })).status).toBe(status);
  });
});

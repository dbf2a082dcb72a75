/** Hooks and webhooks that are called from workerd: with `fetch`, by the rules of the other runtimes. */
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, expect, test } from "vitest";
import { webhookSecret } from "../contract/webhook-receiver.ts";
import { type HookServer, startHookServer } from "../outbound/hook-server.ts";
import { openEdge, type EdgePlace } from "./edge-place.ts";
import { endpoints, tables } from "./edge-visits.ts";

let server: HookServer;
let edge: EdgePlace;
const timeoutMs = 700;

/** Status to the hook that a change to it calls. */
const urls = (): Record<string, string> => ({
  fine: `http://${server.host}/fine`,
  refused: `http://${server.host}/status/409`,
  redirected: `http://${server.host}/redirect?to=http://${server.host}/secret`,
  silent: `http://${server.host}/silent`,
  huge: `http://${server.host}/huge`,
  closes: `http://${server.host}/closes`,
  "long-head": `http://${server.host}/long-head`,
  unnamed: `http://localhost:${server.port}/unnamed`,
  inner: "http://10.0.0.1:8080/inner",
  own: "/api/test/goods/first",
});

beforeAll(async () => {
  server = await startHookServer();
  const hook = (url: string, blocking: boolean) => {
    const body = url.startsWith("/") ? { where: { key: "id", value: "hooked" } } : { id: "{{id}}" };
    return { name: "call", url, method: "POST", blocking, timeoutMs, body };
  };
  const hooks = Object.fromEntries([
    ...Object.entries(urls()).map(([to, url]) => [to, { onBefore: [hook(url, true)] }]),
    ["later", { onAfter: [hook(`http://${server.host}/later`, false)] }],
  ]);
  const names = [...Object.keys(urls()), "later"];
  edge = await openEdge({
    engine: "postgres",
    tables,
    endpoints: {
      ...endpoints,
      orders: { ...endpoints.orders, workflow: { transitions: { draft: names }, hooks } },
    },
    project: {
      hooks: { allowedHosts: [server.host] },
      webhooks: [
        {
          name: "edge",
          endpoints: ["goods"],
          url: `http://${server.host}/webhook`,
          secret: webhookSecret,
        },
      ],
    },
  });
  await edge.post("goods/create", { id: "hooked", name: "hooked" });
});
afterAll(async () => {
  await edge?.close();
  await server?.close();
});

test.each([
  ["fine", 200, ["/fine"]],
  ["refused", 502, ["/status/409"]],
  ["redirected", 502, [expect.stringMatching(/^\/redirect/)]],
  ["silent", 502, ["/silent"]],
  ["huge", 502, ["/huge"]],
  ["closes", 502, ["/closes"]],
  ["long-head", 502, ["/long-head"]],
  ["unnamed", 502, []],
  ["inner", 502, []],
  ["own", 200, []],
])("a blocking hook that is %s answers %d", async (to, status, heard) => {
  const id = `order-${to}`;
  await edge.post("orders/create", { id, status: "draft" });
  const before = server.heard.length;
  const startMs = performance.now();
  const answer = await edge.post("orders/change-status", { id, status: to });
  expect(answer.status, JSON.stringify(answer.body)).toBe(status);
  expect(performance.now() - startMs).toBeLessThan(timeoutMs + 3_000);
  expect(server.heard.slice(before).map(({ path }) => path)).toEqual(heard);
  const { body } = await edge.post("orders/first", { where: { key: "id", value: id } });
  expect(body.data.status).toBe(status === 200 ? to : "draft");
});

test("a hook that nobody waits for is called after the answer", async () => {
  await edge.post("orders/create", { id: "order-later", status: "draft" });
  const answer = await edge.post("orders/change-status", { id: "order-later", status: "later" });
  expect(answer.status).toBe(200);
  const [heard] = await server.hears("/later");
  expect(heard).toMatchObject({ method: "POST", body: '{"id":"order-later"}' });
});

test("a webhook is told after the answer", async () => {
  const answer = await edge.post("goods/create", { id: "told", name: "told" });
  expect(answer.status).toBe(201);
  // The first one is of the record that was made at the start.
  const [, heard] = await server.hears("/webhook", 2);
  const told = new Webhook(webhookSecret).verify(heard!.body, heard!.headers);
  expect(told).toMatchObject({ type: "goods.created", key: { id: "told" }, old: null });
});

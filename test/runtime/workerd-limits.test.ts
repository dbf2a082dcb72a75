/** Rate limits of Workers: counted in the shared Redis, and by each isolate for itself while Redis is down. */
import { createHash, randomUUID } from "node:crypto";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startRedis } from "../stores/own-redis.ts";
import { openEdge, type EdgePlace } from "./edge-place.ts";
import { openForTests } from "../contract/harness.ts";

type OnNode = Awaited<ReturnType<EdgePlace["onNode"]>>;

const key = "a key";
/** Of this run: an isolate remembers what it counted. */
const user = `erp ${randomUUID()}`;

const redis = openForTests(startRedis);
const edge = openForTests(() =>
  openEdge({
    engine: "postgres",
    tables: [{ name: "goods", columns: { id: "key" } }],
    endpoints: {
      goods: { tableName: "goods", action: { read: true }, access: { clerk: ["read"] } },
    },
    project: {
      rateLimit: { windowSeconds: 600, max: 3 },
      auth: {
        apiKeys: [
          { id: user, sha256: createHash("sha256").update(key).digest("hex"), roles: ["clerk"] },
        ],
      },
    },
    bindings: { REDIS_URL: redis.url },
  }),
);

let node: OnNode;
beforeEach(async () => {
  await redis.client.flushall();
  node = await edge.onNode({ REDIS_URL: redis.url });
});
afterEach(() => node?.close());

const statusOf = async (place: Pick<EdgePlace, "post">): Promise<number> =>
  (await place.post("goods/read", { limit: 1 }, { "x-api-key": key })).status;
const statuses = async (...places: Pick<EdgePlace, "post">[]): Promise<number[]> => {
  const found: number[] = [];
  for (const place of places) found.push(await statusOf(place));
  return found;
};

test("a Worker counts together with a process on Node", async () => {
  expect(await statuses(edge, node, edge, node, edge)).toEqual([200, 200, 200, 429, 429]);
});

test("requests that come at once to a Worker all count", async () => {
  const all = await Promise.all(Array.from({ length: 8 }, () => statusOf(edge)));
  expect(all.toSorted()).toEqual([200, 200, 200, 429, 429, 429, 429, 429]);
});

test("a refusal says when to come again, and what is left", async () => {
  await statuses(node, node, node);
  const refused = await edge.post("goods/read", { limit: 1 }, { "x-api-key": key });
  expect([refused.status, refused.body.error]).toEqual([429, "Too many requests"]);
  expect(refused.headers.get("RateLimit-Policy")).toBe('"default";q=3;w=600');
  expect(refused.headers.get("RateLimit")).toMatch(/^"default";r=0;t=(600|5\d\d)$/);
  expect(Number(refused.headers.get("Retry-After"))).toBeGreaterThan(500);
});

test("while Redis is away, the isolate counts by itself and goes on answering", async () => {
  await statuses(edge, edge, edge);
  await redis.kill();
  const found = await statuses(edge, edge, edge, edge);
  await redis.start();
  expect(found).toEqual([200, 200, 200, 429]);
});

/** Streams of changes on two services that share a database and a Redis: one tells what the other has written. */
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Answer } from "../contract/harness.ts";
import { goods, useGoods, write } from "./goods.ts";
import type { RunningService } from "./services.ts";
import type { OwnRedis } from "./own-redis.ts";

/** How long a service waits until it looks whether others have written. */
const look = vi.hoisted(() => ({ pauseMs: 0 }));
vi.mock("../../core/values/limits.ts", async (original) => {
  const { limits } = await original<typeof import("../../core/values/limits.ts")>();
  const feedPauseMs = { get: () => look.pauseMs, enumerable: true };
  return { limits: Object.defineProperty({ ...limits }, "feedPauseMs", feedPauseMs) };
});
beforeEach(() => (look.pauseMs = 1_000));

const shop = useGoods();
const live = { ...goods, live: true };
const open = () => shop.open(live, { batch: { enabled: true } });
const bothOpen = async () => [await open(), await open()] as const;
const readers: ReadableStreamDefaultReader<string>[] = [];
afterEach(async () => {
  await Promise.all(readers.splice(0).map((reader) => reader.cancel()));
});

/** Opens a stream. The result resolves when it has told of as many writes as are named. */
async function follow(service: RunningService): Promise<(writes: number) => Promise<number>> {
  const { status, body } = await service.stream("/api/shop/changes?endpoints=goods");
  expect(status).toBe(200);
  const reader = body!.pipeThrough(new TextDecoderStream()).getReader();
  readers.push(reader);
  let text = "";
  const told = () => text.split("event: change").length - 1;
  while (!text.includes("id: ")) text += (await reader.read()).value ?? "";
  return async (writes) => {
    while (told() < writes) {
      const { value, done } = await reader.read();
      if (done) break;
      text += value;
    }
    return told();
  };
}

/** Before, a message would be lost: one connection of each service, one that listens, and the one of this test. */
async function connected({ client }: OwnRedis): Promise<void> {
  for (;;) {
    const channels = await client.pubsub("CHANNELS", "rowgate:changes:*");
    const connections = String(await client.client("LIST"))
      .trim()
      .split("\n");
    if (channels.length > 0 && connections.length >= 4) return;
    await sleep(10);
  }
}

describe("a stream of changes", () => {
  test("is told by Redis what another service has written", async () => {
    // Only Redis can tell in time.
    look.pauseMs = 3_600_000;
    const redis = await shop.startRedis();
    const [one, other] = await bothOpen();
    const toldBy = await follow(one);
    await connected(redis);
    for (let writes = 1; writes <= 5; writes++) {
      await write(other);
      expect(await toldBy(writes)).toBe(writes);
    }
  });

  test("is told by Redis of commits only", async () => {
    const redis = await shop.startRedis();
    const service = await open();
    const messages: string[] = [];
    const hearing = redis.client.duplicate();
    hearing.on("error", () => undefined);
    await hearing.psubscribe("rowgate:changes:*");
    hearing.on("pmessage", (_pattern, _channel, message: string) => messages.push(message));
    const steps = (...qty: number[]) => ({
      steps: qty.map((one) => ({
        endpoint: "goods",
        action: "update",
        body: { id: "1", qty: one },
      })),
    });
    const reading = { steps: [{ endpoint: "goods", action: "read", body: { limit: 10 } }] };
    const undone = { Prefer: "tx=rollback" };
    const asked: [number, number, () => Promise<Answer>][] = [
      [200, 0, () => service.post("shop/goods/read", { limit: 10 })],
      [200, 0, () => service.post("shop/_batch", reading)],
      [200, 0, () => service.post("shop/goods/update", { id: "1", qty: 901 }, undone)],
      [200, 0, () => service.post("shop/_batch", { ...steps(902), dry_run: true })],
      [404, 0, () => service.post("shop/goods/update", { id: "none", qty: 903 })],
      [200, 1, () => service.post("shop/goods/update", { id: "1", qty: 904 })],
      [200, 0, () => service.post("shop/goods/update", { id: "1", qty: 904 })],
      [200, 1, () => service.post("shop/_batch", steps(905, 906))],
    ];
    for (const [at, [status, count, ask]] of asked.entries()) {
      messages.length = 0;
      expect([at, (await ask()).status]).toEqual([at, status]);
      // Behind what the service has published.
      await redis.client.publish("rowgate:changes:end", "end");
      await vi.waitUntil(() => messages.includes("end"));
      expect([at, messages.length - 1]).toEqual([at, count]);
    }
    await hearing.quit();
  });

  test("goes on without Redis, and misses nothing when it comes back", async () => {
    const redis = await shop.startRedis();
    const [one, other] = await bothOpen();
    const toldBy = await follow(one);
    await write(other);
    expect(await toldBy(1)).toBe(1);
    await redis.kill();
    await write(other);
    await write(one);
    expect(await toldBy(3)).toBe(3);
    await redis.start();
    look.pauseMs = 3_600_000;
    await write(one);
    expect(await toldBy(4)).toBe(4);
    await connected(redis);
    await write(other);
    expect(await toldBy(5)).toBe(5);
  });
});

/** The Redis cache shared by several services: what is stored, and that losing any of it brings no older answer. */
import { beforeEach, describe, expect, test } from "vitest";
import { freshDatabase } from "../servers/database.ts";
import { openSession } from "../servers/session.ts";
import { fillGoods, goods, quantities, read, said, timed, useGoods, write } from "./goods.ts";
import type { OwnRedis } from "./own-redis.ts";
import { metricsToken, openOver } from "./services.ts";

const shop = useGoods();

describe("in Redis", () => {
  let redis: OwnRedis;
  beforeEach(async () => void (redis = await shop.startRedis()));

  test("stand answers under the documented keys, with a lifetime, and versions elsewhere", async () => {
    const service = await shop.open(goods, { cache: { ttlSeconds: 77 } });
    await quantities(service);
    await service.post("shop/goods/datatables", { draw: 1 });
    const keys = (await redis.client.keys("*")).toSorted();
    const entries = keys.filter((key) => key.startsWith("svc:"));
    const forms = new Set(entries.map((key) => key.replace(/[0-9a-f]{40}$/, "…")));
    expect([...forms]).toEqual([
      "svc:shop:goods:datatables:…",
      "svc:shop:goods:list:…",
      "svc:shop:goods:lookup:…",
    ]);
    for (const key of entries) {
      const ttl = await redis.client.ttl(key);
      expect(ttl).toBeGreaterThan(70);
      expect(ttl).toBeLessThanOrEqual(77);
    }
    const others = keys.filter((key) => !key.startsWith("svc:"));
    expect(others.filter((key) => !key.startsWith("rowgate:"))).toEqual([]);
    expect(others.some((key) => key.startsWith("rowgate:version:"))).toBe(true);
  });

  test("stands the text of an answer, unchanged, whatever it looks like", async () => {
    const marks = ['{"__proto__":1}', "true", "1e3", "null", "\u2028 ’ 𝄞", "base64:AAAA", "\n", ""];
    const service = await shop.open();
    for (const mark of marks) {
      await service.post("shop/goods/update", { id: "1", mark });
      const made = await read(service);
      expect(made.body.data[0].mark).toBe(mark);
      const kept = await read(service);
      expect({ ...kept.body, timestamp: "" }).toEqual({ ...made.body, timestamp: "" });
    }
    const [key = ""] = await redis.client.keys("svc:shop:goods:list:*");
    const text = (await redis.client.get(key)) ?? "";
    const { success: _s, timestamp: _t, ...members } = (await read(service)).body;
    expect(text.slice(text.indexOf("\n") + 1)).toBe(JSON.stringify(members));
  });

  test("one service keeps for the other, and forgets for it", async () => {
    const [one, other] = [await shop.open(), await shop.open()];
    for (let round = 0; round < 5; round++) {
      const qty = await write(round % 2 === 0 ? one : other);
      expect(await quantities(one)).toEqual([qty, qty]);
      await shop.sql("update goods set qty = -1");
      expect(await quantities(other)).toEqual([qty, qty]);
    }
  });

  test("a service that starts may replace one that died after a commit: what was kept before counts no more", async () => {
    const before = await shop.open();
    const qty = await write(before);
    expect(await quantities(before)).toEqual([qty, qty]);
    await shop.sql("update goods set qty = -1");
    expect(await quantities(before)).toEqual([qty, qty]);
    for (const service of [await shop.open(), before])
      expect(await quantities(service)).toEqual([-1, -1]);
  });

  test("a service never takes over what another one kept before a column was hidden", async () => {
    expect((await read(await shop.open())).body.data[0]).toHaveProperty("mark");
    const stricter = await shop.open({
      ...goods,
      hiddenFields: ["mark"],
      fieldNameLookup: { id: "id", text: "id" },
    });
    const answer = await read(stricter);
    expect(answer.status).toBe(200);
    expect(answer.body.data[0]).not.toHaveProperty("mark");
  });

  test("services on different databases share nothing, whatever their projects are called", async () => {
    const here = await shop.open();
    const qty = await write(here);
    const elsewhere = await freshDatabase("sqlite");
    try {
      const there = await openSession("sqlite", elsewhere.url);
      await fillGoods(there, -7);
      await there.close();
      const service = await openOver({
        projects: { shop: { database: { url: elsewhere.url } } },
        endpoints: { goods },
        redisUrl: redis.url,
      });
      expect(await quantities(here)).toEqual([qty, qty]);
      expect(await quantities(service)).toEqual([-7, -7]);
      expect(await quantities(here)).toEqual([qty, qty]);
      await service.close();
    } finally {
      await elsewhere.drop();
    }
  });

  test("versions and answers may be lost at any time, and no older answer comes back", async () => {
    const both = [await shop.open(), await shop.open()];
    const losses = [
      async () => void (await redis.client.flushall()),
      ...["rowgate:version:*", "svc:*"].map((pattern) => async () => {
        const keys = await redis.client.keys(pattern);
        if (keys.length > 0) await redis.client.del(keys[Math.floor(Math.random() * keys.length)]!);
      }),
    ];
    let qty = await write(both[0]!);
    for (let step = 0; step < 400; step++) {
      const service = both[Math.floor(Math.random() * 2)]!;
      if (Math.random() < 0.3) qty = await write(service);
      if (Math.random() < 0.3) await losses[Math.floor(Math.random() * losses.length)]!();
      expect(await quantities(service), `step ${step}`).toEqual([qty, qty]);
    }
    expect(both.flatMap(said)).toEqual([]);
  });

  test("a server that throws out what it likes costs no more than the database", async () => {
    await redis.client.config("SET", "maxmemory-policy", "allkeys-random");
    const both = [await shop.open(), await shop.open()];
    const { used_memory: used } = Object.fromEntries(
      (await redis.client.info("memory")).split("\r\n").map((line) => line.split(":")),
    );
    await redis.client.config("SET", "maxmemory", String(Number(used) + 20_000));
    for (let step = 0; step < 200; step++) {
      const qty = await write(both[step % 2]!);
      const size = Math.floor(Math.random() * 4_000);
      await redis.client.set(`filler:${step}`, "x".repeat(size)).catch(() => {});
      for (const service of both) expect(await quantities(service)).toEqual([qty, qty]);
    }
  });

  test("health names Redis beside the database, and its absence takes no service out", async () => {
    const service = await shop.open();
    const operator = { Authorization: `Bearer ${metricsToken}` };
    const ready = await service.get("/health/ready", operator);
    expect([ready.status, ready.body.projects.shop]).toEqual([
      200,
      { database: "ok", redis: "ok" },
    ]);
    await redis.kill();
    const { value: without, tookMs } = await timed(service.get("/health/ready", operator));
    expect([without.status, without.body.projects.shop]).toEqual([
      200,
      { database: "ok", redis: "unreachable" },
    ]);
    expect(tookMs).toBeLessThan(1_000);
  });
});

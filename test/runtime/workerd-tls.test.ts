/** Databases that workerd reaches by TLS without Hyperdrive: the driver starts in plain text and switches to TLS. */
import { describe, expect, test } from "vitest";
import { openEdge, type EdgePlace } from "./edge-place.ts";
import { endpoints, tables } from "./edge-visits.ts";
import { openDoor } from "./tls-door.ts";
import { openForTests } from "../contract/harness.ts";

describe.each([
  ["postgres", "sslmode=require"],
  ["mysql", "ssl-mode=required"],
] as const)("%s behind TLS", (engine, asking) => {
  const plain = openForTests(openEdge, { engine, tables, endpoints });
  const door = openForTests(() => openDoor(plain.url));

  /** The database through the door, by a name. */
  function through(host: string, options: string): Promise<EdgePlace> {
    const url = new URL(plain.url);
    url.host = `${host}:${door.port}`;
    const SHOP = `${url.href}?${options}`;
    return openEdge({ engine, tables: [], endpoints, bindings: { SHOP, LOG_LEVEL: "silent" } });
  }

  test("is read and written", async () => {
    const edge = await through("localhost", asking);
    const name = "ü".repeat(50);
    expect((await edge.post("goods/create", { id: "tls", name })).status).toBe(201);
    const { body } = await edge.post("goods/first", { where: { key: "id", value: "tls" } });
    expect(body.data.name).toBe(name);
    const many = await Promise.all(
      Array.from({ length: 20 }, () => edge.post("goods/read", { page: 1 })),
    );
    expect(many.map(({ status }) => status)).toEqual(many.map(() => 200));
    expect(door.secured()).toBeGreaterThan(20);
    await edge.close();
  });

  test("is not reached under a name that the certificate does not have", async () => {
    const edge = await through("127.0.0.1", asking);
    expect((await edge.post("goods/read", { page: 1 })).status).toBe(503);
    await edge.close();
  });
});

test.each([
  ["postgres", "sslmode=require"],
  ["mysql", "ssl-mode=required"],
] as const)("%s without TLS is not reached when the URL asks for it", async (engine, asking) => {
  const plain = await openEdge({ engine, tables, endpoints });
  const SHOP = `${plain.url}?${asking}`;
  const edge = await openEdge({
    engine,
    tables: [],
    endpoints,
    bindings: { SHOP, LOG_LEVEL: "silent" },
  });
  expect((await edge.post("goods/read", { page: 1 })).status).toBe(503);
  await edge.close();
  await plain.close();
});

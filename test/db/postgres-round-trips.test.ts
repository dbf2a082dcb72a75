/** How often a request waits for PostgreSQL: on a network, that decides how long it takes. */
import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { BehindError } from "../../db/engines/engine.ts";
import { failure } from "../../db/engines/postgres/failure.ts";
import { type Fixture, openFixture } from "../contract/harness.ts";

interface Line {
  readonly host: string;
  /** Times that the service sent something after an answer. */
  turns: number;
  close(): void;
}

/** A stretch of network before the server that counts. */
async function openLine({ hostname, port }: URL): Promise<Line> {
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    let isAnswered = true;
    client.on("data", (bytes) => {
      if (isAnswered) line.turns++;
      isAnswered = false;
      upstream.write(bytes);
    });
    upstream.on("data", (bytes) => {
      isAnswered = true;
      client.write(bytes);
    });
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const)
      one.on("error", () => undefined).on("close", () => other.destroy());
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const line: Line = {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    turns: 0,
    close: () => void server.close(),
  };
  return line;
}

let fixture: Fixture;
let line: Line;
beforeAll(async () => {
  line = await openLine(new URL(inject("serverUrls")!.postgres!));
  const columns = { item_id: "key", name: "text(50)", stock: "integer" } as const;
  const action = { create: true, first: true, update: true, adjust: true };
  const adjustConfig = { fields: { stock: { type: "integer" } } };
  fixture = await openFixture({
    tables: [
      { name: "items", columns },
      { name: "kept", columns },
    ],
    endpoints: {
      items: { tableName: "items", action, adjustConfig },
      kept: { tableName: "kept", action, adjustConfig, history: true },
    },
    project: { cache: { enabled: false } },
    serviceUrl(address) {
      const url = new URL(address);
      url.host = line.host;
      return url.href;
    },
  });
});
afterAll(async () => {
  await fixture?.close();
  line?.close();
});

const item_id = "one";
const requests = [
  ["first", { where: { key: "item_id", value: item_id } }, { items: 1, kept: 1 }],
  ["create", { name: "new" }, { items: 1, kept: 2 }],
  ["update", { item_id, name: "other" }, { items: 1, kept: 2 }],
  ["adjust", { item_id, adjustments: [{ field: "stock", value: 1 }] }, { items: 1, kept: 2 }],
] as const;

test.each(
  requests.flatMap(([action, body, turns]) =>
    (["items", "kept"] as const).map((endpoint) => ({ action, endpoint, body, turns })),
  ),
)("$action of $endpoint", async ({ action, endpoint, body, turns }) => {
  await fixture.post(`${endpoint}/create`, { item_id, name: "first", stock: 1 });
  const counted: number[] = [];
  // The first ones prepare their statements, and the service may ask something else meanwhile.
  for (let time = 0; time < 6; time++) {
    const before = line.turns;
    // An update that changes nothing is no change.
    const { status } = await fixture.post(`${endpoint}/${action}`, {
      ...body,
      ...("name" in body && { name: `${body.name} ${time}` }),
    });
    expect(status).toBeLessThan(300);
    counted.push(line.turns - before);
  }
  expect(Math.min(...counted)).toBe(turns[endpoint]);
});

test.each([
  [{ code: "40001", severity: "ERROR" }, "conflict"],
  [{ code: "23503", severity: "ERROR" }, "foreignKeyMissing"],
  [{ code: "CONNECTION_CLOSED" }, "connection"],
])("an error of the COMMIT behind a statement keeps its meaning: %o", (error, kind) => {
  expect(failure(new BehindError(error)).kind).toBe(failure(error).kind);
  expect(failure(error).kind).toBe(kind);
});

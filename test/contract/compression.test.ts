/** Long answers of actions, compressed for clients that take gzip. */
import { gunzipSync } from "node:zlib";
import { beforeAll, expect, test } from "vitest";
import { type Fixture, openFixture, openForTests } from "./harness.ts";

const action = { read: true, first: true, lookup: true, "bulk-create": true, export: true };
const options = {
  tables: [{ name: "goods", columns: { id: "key", name: "text(100)" } }],
  endpoints: { goods: { tableName: "goods", action, fieldNameLookup: { id: "id", text: "name" } } },
} as const;
const count = 900;
const records = Array.from({ length: count }, (_, at) => ({
  id: `record-${at}`,
  name: `„${"Grün ".repeat(10)}“ ${at}`,
}));

const fixture = openForTests(openFixture, options);
const off = openForTests(openFixture, { ...options, env: { COMPRESSION: "off" } });
beforeAll(async () => {
  for (const one of [fixture, off]) {
    const { status } = await one.post("goods/bulk-create", { data: records });
    expect(status).toBe(201);
  }
});

const takesGzip = { "Accept-Encoding": "br;q=1, gzip;q=0.8" };
type Fields = Readonly<Record<string, string>>;

async function ask(
  { fetch }: Fixture,
  path: string,
  { body, headers = {} }: { body?: object; headers?: Fields },
) {
  const response = await fetch(`/api/test/goods/${path}`, {
    headers: { ...headers, ...(body && { "Content-Type": "application/json" }) },
    ...(body && { method: "POST", body: JSON.stringify(body) }),
  });
  const bytes = Buffer.from(await response.arrayBuffer());
  const coding = response.headers.get("Content-Encoding");
  const text = (coding === "gzip" ? gunzipSync(bytes) : bytes).toString("utf8");
  return { status: response.status, headers: response.headers, coding, bytes, text };
}

/** The time differs. */
const withoutTime = (text: string) => text.replace(/"timestamp":"[^"]*"/, "");

const long: [name: string, path: string, asked: { body?: object; headers?: Fields }][] = [
  ["a list", "read", { body: { limit: 200, sort_columns: [{ column: "id" }] } }],
  [
    "a list of more than 64 KB",
    "read",
    { body: { limit: count, sort_columns: [{ column: "id" }] } },
  ],
  ["a table", "read", { body: { limit: 200 }, headers: { Accept: "text/csv" } }],
  ["a drop-down", "lookup?limit=200", { headers: { "X-Request-Mode": "dynamic" } }],
  ["a refusal", "bulk-create", { body: { data: records } }],
  [
    "faults of many records",
    "bulk-create",
    { body: { data: records.map(({ id }) => ({ id, name: "x".repeat(101) })) } },
  ],
];
const isLong = (text: string) => Buffer.byteLength(text) >= 8_192;

test.each(long)("%s reads the same compressed and not", async (_, path, asked) => {
  const plain = await ask(fixture, path, asked);
  const small = await ask(fixture, path, { ...asked, headers: { ...asked.headers, ...takesGzip } });
  expect(plain.coding).toBeNull();
  expect(small.coding).toBe(isLong(plain.text) ? "gzip" : null);
  expect(small.status).toBe(plain.status);
  expect(withoutTime(small.text)).toBe(withoutTime(plain.text));
  if (!isLong(plain.text)) return;
  expect(small.bytes.length).toBeLessThan(plain.bytes.length / 3);
  for (const { headers } of [plain, small])
    expect(headers.get("Vary")).toContain("Accept-Encoding");
});

test("all but one of them are long", async () => {
  const lengths = await Promise.all(
    long.map(async ([, path, asked]) => (await ask(fixture, path, asked)).text),
  );
  expect(lengths.map(isLong)).toEqual([true, true, true, true, false, true]);
});

test.each([
  ["a short answer", "first", { where: { key: "id", value: "record-1" } }, takesGzip],
  ["an error", "read", { limit: -1 }, takesGzip],
  ["gzip refused", "read", { limit: 200 }, { "Accept-Encoding": "gzip;q=0" }],
  ["another coding", "read", { limit: 200 }, { "Accept-Encoding": "br" }],
])("%s is sent as it is", async (_, path, body, headers) => {
  expect((await ask(fixture, path, { body, headers })).coding).toBeNull();
});

test("COMPRESSION=off leaves all of them as they are", async () => {
  const { coding, headers, text } = await ask(off, "read", {
    body: { limit: 200 },
    headers: takesGzip,
  });
  expect([coding, headers.get("Vary")]).toEqual([null, "Accept"]);
  expect(JSON.parse(text).data).toHaveLength(200);
});

/** Changes of a table whose history names records by another key than the endpoint that writes them. */
import { beforeEach, expect, test } from "vitest";
import { check } from "./cases.ts";
import { type Answer, openFixture, openForTests } from "./harness.ts";

const fixture = openForTests(openFixture, {
  tables: [
    {
      name: "goods",
      columns: {
        good_id: "key",
        code: { type: "text(20)", unique: true, notNull: true },
        name: "text(20)",
      },
    },
  ],
  endpoints: {
    goods: { tableName: "goods", action: { update: true, "bulk-update": true, upsert: true } },
    codes: {
      tableName: "goods",
      primaryKey: "code",
      action: { read: true },
      history: true,
      live: true,
    },
  },
  project: { batch: { enabled: true } },
});

beforeEach(async () => {
  await fixture.sql("delete from goods");
  await fixture.sql("insert into goods values ('1', 'A', 'ant'), ('2', 'B', 'bee')");
});

const post = (path: string, body: object): Promise<Answer> => fixture.post(path, body);
const update = (good_id: string, fields: object) => ({
  endpoint: "goods",
  action: "update",
  body: { good_id, ...fields },
});
const changed = async (code: string): Promise<unknown> => {
  const { body } = await post("codes/history", { code, per_page: 1, page: 1 });
  const { code: key, name } = body.data[0]?.changes ?? {};
  return { ...(key && { code: [key.from, key.to] }), ...(name && { name: [name.from, name.to] }) };
};

const renamed = [
  { good_id: "1", code: "C" },
  { good_id: "2", code: "A" },
];
test.each<[string, () => Promise<Answer>]>([
  ["bulk-update", () => post("goods/bulk-update", { data: renamed })],
  ["bulk-update in mode each", () => post("goods/bulk-update", { data: renamed, mode: "each" })],
  ["upsert", () => post("goods/upsert", { data: renamed })],
  [
    "two updates in a batch",
    () => post("_batch", { steps: renamed.map(({ good_id, code }) => update(good_id, { code })) }),
  ],
])("%s that gives a record the key of another one tells what became of each", async (_, send) => {
  const { since } = (await post("changes", { endpoints: ["codes"] })).body;
  check(await send(), { status: 200 });
  expect(await changed("C")).toEqual({ code: [null, "C"], name: [null, "ant"] });
  expect(await changed("B")).toEqual({ code: ["B", null], name: ["bee", null] });
  const told = await post("changes", { endpoints: ["codes"], since });
  const events = told.body.data.flatMap(({ type, keys }: { type: string; keys: object[] }) =>
    keys.map((key) => [type, Object.values(key)[0]]),
  );
  expect(events).toEqual(
    expect.arrayContaining([
      ["created", "C"],
      ["deleted", "B"],
    ]),
  );
});

test("bulk-update by a condition that renames a record tells of both keys", async () => {
  const where = { conditions: [{ key: "name", operator: "=", value: "ant" }] };
  check(await post("goods/bulk-update", { where, set: { code: "D" }, expect: 1 }), { status: 200 });
  expect(await changed("D")).toEqual({ code: [null, "D"], name: [null, "ant"] });
  expect(await changed("A")).toEqual({ code: ["A", null], name: ["ant", null] });
});

test("records that keep the other key are told as changed", async () => {
  const data = [{ good_id: "1", name: "ape" }];
  check(await post("goods/bulk-update", { data }), { status: 200 });
  expect(await changed("A")).toEqual({ name: ["ant", "ape"] });
});

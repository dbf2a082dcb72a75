/** With credentials, the user alone fills the columns for users, of whatever type they are: a body forges none. */
import { describe, expect, test } from "vitest";
import { apiKey, by } from "./api-keys.ts";
import { openFixture, openForTests } from "./harness.ts";
import type { FixtureType } from "./tables.ts";

const uuid = "6e0f2c1e-93a4-4f5b-8a53-0b6f5d9d1a77";
const kinds: Record<string, FixtureType> = {
  numbers: "integer",
  uuids: "uuid",
  codes: "text(6)",
  years: "date",
};
const users = (type: FixtureType) => ({ created_by: type, updated_by: type });
const action = {
  create: true,
  first: true,
  update: true,
  upsert: true,
  "bulk-create": true,
  delete: true,
  restore: true,
};
const names = [...Object.keys(kinds), "filled", "strict"];

const fixture = openForTests(openFixture, {
  project: { auth: { apiKeys: ["7", "007", uuid, "b.osei"].map((id) => apiKey(id)) } },
  tables: [
    ...Object.entries(kinds).map(([name, type]) => ({
      name,
      columns: {
        item_id: "key" as const,
        label: "text(20)" as const,
        is_deleted: "boolean" as const,
        deleted_by: type,
        ...users(type),
      },
    })),
    {
      name: "filled",
      columns: {
        item_id: "key",
        label: "text(20)",
        created_by: { type: "integer", notNull: true, default: "3" },
        updated_by: { type: "integer", notNull: true, default: "3" },
      },
    },
    {
      name: "strict",
      columns: {
        item_id: "key",
        label: "text(20)",
        created_by: { type: "integer", notNull: true },
        updated_by: "integer",
      },
    },
    {
      name: "item_lines",
      columns: { line_id: "key", item_id: "text(36)", note: "text(20)", ...users("integer") },
    },
  ],
  endpoints: {
    ...Object.fromEntries(
      names.map((tableName) => [
        tableName,
        {
          tableName,
          action:
            tableName in kinds ? action : { create: true, first: true, update: true, upsert: true },
          ...(tableName in kinds && { softDelete: true }),
          access: { "7": "*", "007": "*", [uuid]: "*", "b.osei": "*" },
        },
      ]),
    ),
    documents: {
      tableName: "numbers",
      action: { "create-composite": true, "update-composite": true },
      masterDetail: { detailTable: "item_lines", foreignKey: "item_id" },
      access: { "7": "*", "b.osei": "*" },
    },
  },
});

const as = (user: string, path: string, body: object) => fixture.post(path, body, by(user));
const stored = (table: string, id: string) =>
  fixture.sql(`select created_by, updated_by from ${table} where item_id = '${id}'`);
const named = (value: string) => ({ where: [{ key: "item_id", value }] });
let made = 0;
const newId = (): string => `n${++made}`;

/** What the column of each kind stores of a user; null: the id is none of its values. */
const held = [
  ["numbers", "7", 7],
  ["numbers", "007", null],
  ["numbers", "b.osei", null],
  ["numbers", uuid, null],
  ["uuids", uuid, uuid],
  ["uuids", "7", null],
  ["codes", "7", "7"],
  ["codes", "b.osei", "b.osei"],
  ["years", "7", null],
] as const;
const forged = { numbers: 99, uuids: "00000000-0000-4000-8000-000000000000", codes: "forged" };
const lie = (table: string) => (forged as Record<string, unknown>)[table] ?? "2020-02-02";

describe.each(held)("a user of %s who is %s", (table, user, value) => {
  const sent = { created_by: lie(table), updated_by: lie(table), deleted_by: lie(table) };
  const answered = value === null ? null : String(value);
  const textOf = (shown: unknown) => (shown === null ? null : String(shown));

  test("fills created_by of a create, and no body does", async () => {
    const { status, body } = await as(user, `${table}/create`, { item_id: newId(), ...sent });
    expect([status, textOf(body.data.created_by)]).toEqual([201, answered]);
    expect(body.data.updated_by).toBeNull();
  });

  test("fills updated_by of an update and of an upsert", async () => {
    const item_id = newId();
    await as(user, `${table}/create`, { item_id });
    const record = { item_id, label: "changed", ...sent };
    await as(user, `${table}/update`, record);
    const changed = async () => (await as(user, `${table}/first`, named(item_id))).body.data;
    const { created_by, updated_by } = await changed();
    expect([textOf(created_by), textOf(updated_by)]).toEqual([answered, answered]);
    await as(user, `${table}/upsert`, { data: [{ ...record, label: "again" }] });
    const { label, ...after } = await changed();
    expect([label, textOf(after.updated_by)]).toEqual(["again", answered]);
  });

  test("fills them in bulk-create", async () => {
    const data = [{ item_id: newId(), ...sent }];
    const { body } = await as(user, `${table}/bulk-create`, { data });
    expect(textOf(body.data[0].created_by)).toBe(answered);
  });

  test("fills deleted_by", async () => {
    const item_id = newId();
    await as(user, `${table}/create`, { item_id });
    const { status } = await as(user, `${table}/delete`, {
      ...named(item_id),
      deleted_by: lie(table),
    });
    expect(status).toBe(200);
    const [row] = await fixture.sql(`select deleted_by from ${table} where item_id = '${item_id}'`);
    expect(textOf(row!["deleted_by"] ?? null)).toBe(answered);
  });
});

test("a user whose id the column cannot hold leaves nobody else's name behind", async () => {
  const item_id = newId();
  await as("7", "numbers/create", { item_id });
  await as("7", "numbers/update", { item_id, label: "by 7" });
  await as("b.osei", "numbers/update", { item_id, label: "by another" });
  expect(await stored("numbers", item_id)).toEqual([{ created_by: 7, updated_by: null }]);
});

describe("a column that demands a value", () => {
  test("keeps its default, or what it has, from a user whom it cannot hold", async () => {
    const item_id = newId();
    await as("b.osei", "filled/create", { item_id, created_by: 99, updated_by: 99 });
    expect(await stored("filled", item_id)).toEqual([{ created_by: 3, updated_by: 3 }]);
    const { status } = await as("b.osei", "filled/update", { item_id, updated_by: 99 });
    expect([status, await stored("filled", item_id)]).toEqual([
      200,
      [{ created_by: 3, updated_by: 3 }],
    ]);
    await as("7", "filled/update", { item_id, label: "x", updated_by: 99 });
    expect(await stored("filled", item_id)).toEqual([{ created_by: 3, updated_by: 7 }]);
  });

  test("and has no default refuses the record of such a user", async () => {
    const item_id = newId();
    const { status, body } = await as("b.osei", "strict/create", { item_id, created_by: 99 });
    expect([status, body.error, Object.keys(body.errors)]).toEqual([
      400,
      "Validation failed",
      ["created_by"],
    ]);
    expect(await stored("strict", item_id)).toEqual([]);
    expect((await as("7", "strict/create", { item_id })).body.data.created_by).toBe(7);
  });
});

test("lines of documents take no user from the body either", async () => {
  const item_id = newId();
  const line = { note: "a", created_by: 99, updated_by: 99 };
  const header = { label: "a", created_by: 99, updated_by: 99 };
  await as("7", "documents/create-composite", {
    numbers: { item_id, ...header, item_lines: [line] },
  });
  const [row] = await fixture.sql("select item_id from numbers where label = 'a'");
  const lines = () => fixture.sql("select created_by, updated_by from item_lines");
  expect(await lines()).toEqual([{ created_by: 7, updated_by: null }]);
  const [{ line_id }] = (await fixture.sql("select line_id from item_lines")) as [
    { line_id: string },
  ];
  await as("b.osei", "documents/update-composite", {
    numbers: {
      ...header,
      item_id: row!["item_id"],
      item_lines: { update: [{ ...line, line_id }] },
    },
  });
  expect(await lines()).toEqual([{ created_by: 7, updated_by: null }]);
  expect(await stored("numbers", String(row!["item_id"]))).toEqual([
    { created_by: 7, updated_by: null },
  ]);
});

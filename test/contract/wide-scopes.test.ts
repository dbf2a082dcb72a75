/**
 * Records whose key contains the tenant: both tenants use the same numbers, so an action that compares only a part of
 * the key would reach a foreign record.
 */
import { beforeEach, describe, expect, test } from "vitest";
import type { Callers } from "../../core/callers/callers.ts";
import { check, checkEnvelope, record, records } from "./cases.ts";
import { openFixture, openForTests } from "./harness.ts";
import { importerOf, workbookOf } from "./imports.ts";

/** A header names the caller; without it: the operator. */
const callers: Callers = {
  authenticate(headers) {
    const tenant = headers.get("x-tenant");
    const role = headers.get("x-role") ?? "clerk";
    return tenant === null
      ? { kind: "key", id: "operator", roles: ["operator"], claims: {} }
      : { kind: "key", id: `key-${tenant}`, roles: [role], claims: { tenant } };
  },
};

const action = {
  create: true,
  read: true,
  first: true,
  update: true,
  delete: true,
  adjust: true,
  datatables: true,
  lock: true,
  import: true,
};
const names = Object.keys(action);

const fixture = openForTests(openFixture, {
  callers,
  tables: [
    {
      name: "parts",
      columns: { tenant: "text(10)", part_no: "integer", name: "text(20)", qty: "integer" },
      primaryKey: ["tenant", "part_no"],
    },
  ],
  setUp: () => [
    `create table bookings (booking_id varchar(36) not null primary key, tenant varchar(10), part_no integer,
        foreign key (tenant, part_no) references parts (tenant, part_no))`,
  ],
  endpoints: {
    bookings: {
      tableName: "bookings",
      action: { update: true, "bulk-update": true },
      access: { clerk: ["update", "bulk-update"] },
    },
    parts: {
      tableName: "parts",
      action,
      adjustConfig: { fields: { qty: {} } },
      importConfig: { upsertKeys: ["tenant", "part_no"] },
      access: { operator: "*", clerk: names, blind: names },
      rowScope: { clerk: { tenant: "{{claims.tenant}}" }, blind: { tenant: "{{claims.tenant}}" } },
      hiddenFields: { blind: ["part_no"] },
      datatables: { rowId: true },
    },
  },
  project: { auth: { anonymous: { roles: ["clerk"] } }, locking: { enforceResourceLocks: true } },
});
beforeEach(async () => {
  await fixture.sql("delete from bookings");
  await fixture.sql("delete from parts");
  await fixture.sql(
    "insert into parts (tenant, part_no, name, qty) values ('a', 1, 'a1', 10), ('a', 2, 'a2', 10), ('b', 1, 'b1', 10)",
  );
});

const as = async (tenant: string | null, path: string, body: object, more: object = {}) => {
  const headers = { ...(tenant !== null && { "x-tenant": tenant }), ...more };
  const answer = await fixture.post(`parts/${path}`, body, headers);
  checkEnvelope(answer);
  return answer;
};
const all = async () => {
  const rows = await fixture.sql(
    "select tenant, part_no, name, qty from parts order by tenant, part_no",
  );
  return rows.map((row) => [
    row["tenant"],
    Number(row["part_no"]),
    row["name"],
    Number(row["qty"]),
  ]);
};

const foreign = { tenant: "b", part_no: 1 };
const own = { tenant: "a", part_no: 1 };
const before = [
  ["a", 1, "a1", 10],
  ["a", 2, "a2", 10],
  ["b", 1, "b1", 10],
];

describe("a tenant that is a part of the key", () => {
  test("create fills in, and refuses another's", async () => {
    const made = await as("a", "create", { part_no: 3, name: "a3", qty: 0 });
    check(made, { status: 201, data: { tenant: "a", part_no: 3, name: "a3" } });
    check(await as("a", "create", { tenant: "b", part_no: 9 }), {
      status: 403,
      error: "Forbidden",
    });
    expect(await all()).toEqual([...before.slice(0, 2), ["a", 3, "a3", 0], before[2]]);
  });

  test.each([
    ["update", { name: "new" }],
    ["adjust", { adjustments: [{ field: "qty", value: 1 }] }],
  ])("%s finds no foreign record, and changes no other of the same number", async (name, body) => {
    check(await as("a", name, { ...foreign, ...body }), { status: 404, error: "Not found" });
    expect(await all()).toEqual(before);
    check(await as("a", name, { ...own, ...body }), { status: 200, data: own });
    expect((await all()).slice(1)).toEqual(before.slice(1));
  });

  test("delete by the number removes the own record alone", async () => {
    const answer = await as("a", "delete", { where: [{ key: "part_no", value: 1 }] });
    check(answer, { status: 200, data: { deleted_count: 1, deleted_items: [own] } });
    expect(await all()).toEqual(before.slice(1));
  });

  test("lock/acquire of a foreign record is 404, and lock/status says nothing of it", async () => {
    const lock_keys = [{ record: foreign }];
    check(await as("a", "lock/acquire", { lock_keys }), { status: 404, error: "Not found" });
    check(await as("b", "lock/acquire", { lock_keys }), { status: 200 });
    const { body } = await as("a", "lock/status", { lock_keys });
    expect(body.data.keys).toMatchObject([{ record: foreign, locked: false }]);
    check(await as("b", "update", { ...foreign, name: "x" }), {
      status: 409,
      error: "Lock conflict",
    });
    check(await as("a", "update", { ...own, name: "x" }), { status: 200 });
  });

  test("read shows the own records on pages by cursor", async () => {
    const first = await as("a", "read", { cursor: true, per_page: 1 });
    const { next_cursor } = first.body.pagination;
    const second = await as("a", "read", { cursor: next_cursor, per_page: 1 });
    expect([...records(first), ...records(second)]).toMatchObject([own, { ...own, part_no: 2 }]);
    expect(second.body.pagination.has_next).toBe(false);
  });

  test("a repeated adjust shows its record to its tenant alone", async () => {
    const key = { "Idempotency-Key": "once-only" };
    const body = { ...own, adjustments: [{ field: "qty", value: 5 }] };
    for (let count = 0; count < 2; count++)
      check(await as("a", "adjust", body, key), { status: 200, data: { ...own, qty: 15 } });
    await fixture.sql("update parts set tenant = 'c' where tenant = 'a' and part_no = 1");
    const replay = await as("a", "adjust", body, key);
    expect(replay.headers.get("Idempotency-Replayed")).toBe("true");
    expect(replay.body.data).toBeNull();
  });

  test("an import fills it in, and refuses another's", async () => {
    const importer = importerOf({
      post: (path, body) => fixture.post(path, body, { "x-tenant": "a" }),
      request: (path, init) =>
        fixture.request(path, { ...init, headers: { ...init?.headers, "x-tenant": "a" } }),
    });
    const rows = [
      ["tenant", "part_no", "name"],
      ["a", 1, "changed"],
      ["a", 7, "new"],
    ];
    const { body } = await importer.committed("parts", await workbookOf(rows));
    expect(body.result).toMatchObject({ inserted: 1, updated: 1 });
    const refused = await importer.previewed("parts", await workbookOf([rows[0]!, ["b", 1, "x"]]));
    expect(refused.body).toMatchObject({ status: "preview_error" });
    expect((await all()).at(-1)).toEqual(before[2]);
  });
});

describe("a caller who may not see a part of the key", () => {
  const blind = { "x-role": "blind" };

  test("names no record by it", async () => {
    for (const name of ["update", "adjust"])
      check(await as("a", name, { ...own, name: "x" }, blind), { status: 403, error: "Forbidden" });
    expect(await all()).toEqual(before);
    const { body } = await as("a", "datatables", { start: 0, length: 10 }, blind);
    expect(body.data).toEqual([
      { tenant: "a", name: "a1", qty: 10 },
      { tenant: "a", name: "a2", qty: 10 },
    ]);
    check(await as("a", "lock/acquire", { lock_keys: [{ record: own }] }, blind), {
      status: 400,
      error: "Invalid payload",
    });
  });

  test("creates records without being told it", async () => {
    const made = await as("a", "create", { part_no: 4, name: "a4" }, blind);
    check(made, { status: 201 });
    expect(record(made)).toEqual({ tenant: "a", name: "a4", qty: null });
  });
});

describe("a foreign key to it", () => {
  const booking_id = "b1";
  beforeEach(() => fixture.sql("insert into bookings values ('b1', 'a', 1)"));
  const change = (action: string, body: object) =>
    fixture.post(`bookings/${action}`, body, { "x-tenant": "a" });

  test.each([
    ["a foreign record", { tenant: "b" }],
    ["none", { part_no: 9 }],
  ])("of which a part is changed may not come to name %s", async (_, fields) => {
    const refused = { status: 400, error: "Foreign key constraint" };
    check(await change("update", { booking_id, ...fields }), refused);
    check(await change("bulk-update", { data: [{ booking_id, ...fields }] }), refused);
    const where = { conditions: [{ key: "booking_id", operator: "=", value: booking_id }] };
    check(await change("bulk-update", { where, set: fields, expect: 1 }), refused);
    const [row] = await fixture.sql("select tenant, part_no from bookings");
    expect([row!["tenant"], Number(row!["part_no"])]).toEqual(["a", 1]);
  });

  test("may have a part changed, or emptied", async () => {
    check(await change("update", { booking_id, part_no: 2 }), { status: 200 });
    check(await change("update", { booking_id, part_no: null }), { status: 200 });
    check(await change("update", { booking_id: "b2", part_no: 2 }), {
      status: 404,
      error: "Not found",
    });
  });
});

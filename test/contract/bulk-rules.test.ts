/** bulk actions hold what holds for single records: handlers, locks, scopes, soft delete, and views. */
import { describe, expect, test } from "vitest";
import { type Answer, openFixture, openForTests } from "./harness.ts";
import type { EngineName } from "../servers/session.ts";

/** A key of bytes. */
const bytesKey: Record<EngineName, string> = {
  sqlite: "blob primary key",
  postgres: "bytea primary key",
  mysql: "varbinary(8) primary key",
};

const bulk = { "bulk-create": true, "bulk-update": true, "bulk-delete": true, upsert: true };
const own = { read: true, first: true, create: true, update: true, delete: true, ...bulk };

interface Seen {
  readonly event: string;
  readonly data: Record<string, unknown>;
  readonly dryRun: boolean;
  reject(message: string, errors?: Record<string, string[]>): never;
}
const seen: Seen[] = [];
const noting = (context: Seen): void => {
  seen.push(context);
  if (context.data["label"] === "bad") context.reject("No bad labels", { label: ["is bad"] });
};

const fixture = openForTests(openFixture, {
  tables: [
    { name: "groups_of", columns: { group_id: "key", title: "text(20)" } },
    {
      name: "parts",
      columns: {
        part_id: "key",
        label: { type: "text(20)", unique: true },
        count: "integer",
        group_id: { type: "text(36)", references: { table: "groups_of", column: "group_id" } },
        is_deleted: "boolean",
        deleted_at: "timestamp",
        deleted_by: "text(40)",
      },
    },
    { name: "beds", columns: { bed_id: "identity", label: { type: "text(20)", unique: true } } },
  ],
  setUp: (name) => [
    `create table blobs (blob_id ${bytesKey[name]}, label varchar(20))`,
    "create view part_view as select part_id, label, count, group_id, 'seen' as origin from parts",
    "insert into groups_of (group_id, title) values ('g1', 'one'), ('g2', 'two')",
  ],
  endpoints: {
    parts: {
      tableName: "parts",
      fieldName: ["part_id", "label", "count", "group_id"],
      action: { ...own, restore: true, lock: true },
      softDelete: {},
      relations: { group: { endpoint: "groups", column: "group_id" } },
      defaultScope: { read: { count: { operator: "<", value: 1000 } } },
    },
    ...Object.fromEntries(
      ["deleted_only", "include_deleted"].map((visibility) => [
        visibility,
        { tableName: "parts", action: { "bulk-update": true }, softDelete: { visibility } },
      ]),
    ),
    groups: {
      tableName: "groups_of",
      action: { read: true },
      relations: { parts: { endpoint: "parts", foreignColumn: "group_id" } },
    },
    beds: { tableName: "beds", action: { ...own, lock: true } },
    masked: { tableName: "beds", hiddenFields: ["bed_id"], action: own },
    blobs: { tableName: "blobs", action: { ...own, lock: true } },
    viewed: {
      tableName: "parts",
      viewName: "part_view",
      primaryKey: "part_id",
      fieldName: ["part_id", "label", "count"],
      action: own,
    },
    handled: {
      tableName: "parts",
      fieldName: ["part_id", "label", "count"],
      action: own,
      components: {
        onBeforeInsert: ["components/noting.ts#noting"],
        onAfterUpdate: ["components/noting.ts#noting"],
        onBeforeDelete: ["components/noting.ts#noting"],
      },
    },
  },
  components: { "components/noting.ts": { noting } },
  project: {
    locking: { enforceResourceLocks: true },
    cache: { enabled: true },
    batch: { enabled: true },
  },
});

let count = 0;
const labels = (number: number): string[] =>
  Array.from({ length: number }, () => `L${String(++count)}`);
const post = (path: string, body: unknown, headers?: Record<string, string>): Promise<Answer> =>
  fixture.post(path, body, headers);
const made = async (number: number, more: object = {}): Promise<string[]> => {
  const data = labels(number).map((label) => ({ label, count: 1, ...more }));
  const answer = await post("parts/bulk-create", { data });
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  return answer.body.data.map((one: { part_id: string }) => one.part_id);
};

describe("handlers", () => {
  test("see each record, and refuse all in mode all", async () => {
    seen.length = 0;
    const [a, b] = labels(2);
    const data = [{ label: a }, { label: "bad" }, { label: b }];
    const all = await post("handled/bulk-create", { data });
    expect(all).toMatchObject({ status: 422, body: { errors: { "[1].label": ["is bad"] } } });
    const each = await post("handled/bulk-create", { data, mode: "each", dry_run: true });
    expect(each.status).toBe(207);
    expect(each.body.results.map((one: { success: boolean }) => one.success)).toEqual([
      true,
      false,
      true,
    ]);
    expect(seen.map(({ dryRun }) => dryRun)).toEqual([false, false, true, true, true]);
    expect(
      (await fixture.sql(`select 1 from parts where label in ('${a!}', '${b!}')`)).length,
    ).toBe(0);
  });

  test("see each changed and deleted record", async () => {
    const ids = await made(3);
    seen.length = 0;
    const data = ids.map((part_id, at) => ({ part_id, count: at }));
    expect((await post("handled/bulk-update", { data })).status).toBe(200);
    expect(seen.map(({ data: { count: changed } }) => changed)).toEqual([0, 1, 2]);
    seen.length = 0;
    expect((await post("handled/bulk-delete", { keys: ids })).status).toBe(200);
    expect(seen.map(({ data: { where } }) => where)).toEqual(
      ids.map((value) => [{ key: "part_id", value }]),
    );
  });
});

describe("locks", () => {
  test("refuse a locked record without its token, and take several tokens", async () => {
    const ids = await made(3);
    const tokens: string[] = [];
    for (const value of ids.slice(1)) {
      const locked = await post("parts/lock/acquire", { lock_keys: [{ key: "part_id", value }] });
      tokens.push(locked.body.data.lock_token);
    }
    const data = ids.map((part_id) => ({ part_id, count: 5 }));
    const one = await post("parts/bulk-update", { data }, { "X-Lock-Token": tokens[1]! });
    expect(one).toMatchObject({
      status: 409,
      body: { error: "Lock conflict", errors: { "[1]": expect.any(Array) } },
    });
    const each = await post(
      "parts/bulk-update",
      { data, mode: "each" },
      { "X-Lock-Token": tokens[1]! },
    );
    expect(each.body.results.map((one: { success: boolean }) => one.success)).toEqual([
      true,
      false,
      true,
    ]);
    const both = await post("parts/bulk-update", { data }, { "X-Lock-Token": tokens.join(", ") });
    expect(both.status).toBe(200);
    const gone = await post(
      "parts/bulk-delete",
      { keys: ids },
      { "X-Lock-Token": tokens.join(", ") },
    );
    expect(gone.status).toBe(200);
  });

  test.each<[string, string, string, unknown[]]>([
    ["an integer", "beds", "bed_id", [1, 2, 3]],
    ["bytes", "blobs", "blob_id", ["AAAA", "AAEC", "/w=="]],
  ])("refuse the locked one alone whose key is %s", async (_name, endpoint, key, ids) => {
    const data = ids.map((id, at) => ({ [key]: id, label: `bed ${at}` }));
    await post(`${endpoint}/bulk-create`, { data });
    const lock_keys = [{ key, value: ids[1] }];
    const { body } = await post(`${endpoint}/lock/acquire`, { lock_keys });
    const changed = { data: data.map((one) => ({ ...one, label: `${one.label} new` })) };
    for (const [action, asked] of [
      ["bulk-update", changed],
      // No `by` is a column of bytes.
      ...(endpoint === "beds" ? [["upsert", changed] as const] : []),
      ["bulk-delete", { keys: ids }],
    ] as const) {
      expect(await post(`${endpoint}/${action}`, asked)).toMatchObject({
        status: 409,
        body: { error: "Lock conflict", message: expect.stringMatching(/^\[1\]: /) },
      });
      const each = await post(`${endpoint}/${action}`, { ...asked, mode: "each" });
      expect(each.status, action).toBe(207);
      expect(each.body.results).toMatchObject([
        { success: true },
        { error: "Lock conflict", data: { conflicting_key: { key, value: ids[1] } } },
        { success: true },
      ]);
    }
    expect(await fixture.sql(`select label from ${endpoint}`)).toEqual([{ label: "bed 1" }]);
    const tokens = { "X-Lock-Token": body.data.lock_token };
    expect((await post(`${endpoint}/bulk-delete`, { keys: [ids[1]] }, tokens)).status).toBe(200);
  });

  test("refuse the locked one of a condition alone in mode each, and all in mode all", async () => {
    const ids = (await made(3, { count: 71 })).toSorted();
    const lock_keys = [{ key: "part_id", value: ids[1] }];
    await post("parts/lock/acquire", { lock_keys });
    const where = { conditions: [{ key: "count", operator: "=", value: 71 }] };
    for (const [action, asked] of [
      ["bulk-update", { where, set: { group_id: "g1" }, expect: 3 }],
      ["bulk-delete", { where, expect: 3 }],
    ] as const) {
      const all = await post(`parts/${action}`, asked);
      expect(all).toMatchObject({ status: 409, body: { error: "Lock conflict" } });
      const wrong = await post(`parts/${action}`, { ...asked, expect: 2, mode: "each" });
      expect(wrong).toMatchObject({ status: 409, body: { error: "Unexpected count" } });
      const each = await post(`parts/${action}`, { ...asked, mode: "each" });
      expect(each).toMatchObject({
        status: 207,
        body: {
          success: false,
          summary: { succeeded: 2, failed: 1 },
          results: [
            { index: 0, success: true, data: { part_id: ids[0] } },
            { index: 1, success: false, error: "Lock conflict" },
            { index: 2, success: true, data: { part_id: ids[2] } },
          ],
        },
      });
    }
    const left = await fixture.sql(
      "select part_id, group_id from parts where count = 71 and deleted_at is null",
    );
    expect(left).toEqual([{ part_id: ids[1], group_id: null }]);
  });

  test("refuse the locked one alone whose key is hidden, and do not tell it", async () => {
    const made = await post("beds/bulk-create", { data: [{ label: "a" }, { label: "b" }] });
    const lock_keys = [{ key: "bed_id", value: made.body.data[1].bed_id }];
    const { body } = await post("beds/lock/acquire", { lock_keys });
    const data = [{ label: "a" }, { label: "b" }, { label: "c" }];
    const each = await post("masked/upsert", { data, by: ["label"], mode: "each" });
    expect(each.body.results).toMatchObject([
      { success: true },
      { error: "Lock conflict", data: { conflicting_key: null } },
      { success: true },
    ]);
    await post("beds/lock/release", { lock_keys, lock_token: body.data.lock_token });
  });
});

describe("soft delete", () => {
  test("marks the records of bulk-delete, and restore brings them back", async () => {
    const ids = await made(2);
    expect((await post("parts/bulk-delete", { keys: ids, deleted_by: "Ann" })).status).toBe(200);
    const rows = await fixture.sql(`select deleted_by from parts where part_id = '${ids[0]!}'`);
    expect(rows[0]!["deleted_by"]).toBe("Ann");
    const again = await post("parts/bulk-delete", { keys: ids });
    expect(again.status).toBe(404);
    const restored = await post("parts/restore", { where: [{ key: "part_id", value: ids[0] }] });
    expect(restored.status).toBe(200);
  });

  test.each([
    ["parts", [200, 404]],
    ["deleted_only", [404, 200]],
    ["include_deleted", [200, 200]],
  ])("bulk-update of %s changes the records that update sees", async (endpoint, statuses) => {
    const ids = await made(2);
    await post("parts/bulk-delete", { keys: [ids[1]] });
    for (const [at, part_id] of ids.entries()) {
      const keyed = await post(`${endpoint}/bulk-update`, { data: [{ part_id, count: 5 }] });
      expect(keyed.status).toBe(statuses[at]);
      const where = { conditions: [{ key: "part_id", operator: "=", value: part_id }] };
      const expected = statuses[at] === 200 ? 1 : 0;
      const answer = await post(`${endpoint}/bulk-update`, {
        where,
        set: { count: 6 },
        expect: expected,
      });
      expect([answer.status, answer.body.data.length]).toEqual([200, expected]);
    }
  });

  test("upsert of a marked record is a duplicate that names the field alone", async () => {
    const [id] = await made(1);
    const rows = await fixture.sql(`select label from parts where part_id = '${id!}'`);
    await post("parts/bulk-delete", { keys: [id] });
    const data = [{ label: rows[0]!["label"], count: 9 }];
    const answer = await post("parts/upsert", { data, by: ["label"] });
    expect(answer).toMatchObject({ status: 409, body: { error: "Duplicate entry" } });
    expect(answer.body.errors).toEqual({ "[0].label": ["already exists"] });
  });
});

describe("where", () => {
  const path = { conditions: [{ key: "group.title", operator: "=", value: "two" }] };

  test("takes paths, and passes over defaultScope", async () => {
    const ids = await made(2, { group_id: "g2", count: 2000 });
    const listed = await post("parts/read", { where: path });
    expect(listed.body.count).toBe(0);
    const answer = await post("parts/bulk-update", {
      where: path,
      set: { count: 3000 },
      expect: 2,
    });
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    expect(answer.body.data.map((one: { part_id: string }) => one.part_id)).toEqual(ids.toSorted());
    const gone = await post("parts/bulk-delete", { where: path, expect: 2 });
    expect(gone.status).toBe(200);
    expect(gone.body.data).toHaveLength(2);
  });
});

test("bulk-create, bulk-update and upsert answer what the view shows, and lists show it at once", async () => {
  const data = labels(3).map((label) => ({ label, count: 7 }));
  const created = await post("viewed/bulk-create", { data });
  expect(created.status).toBe(201);
  expect(created.body.data).toMatchObject(data.map((one) => ({ ...one, origin: "seen" })));
  const where = { conditions: [{ key: "count", operator: "=", value: 7 }] };
  expect((await post("viewed/read", { where })).body.count).toBe(3);
  const changes = created.body.data.map(({ part_id }: { part_id: string }) => ({
    part_id,
    count: 8,
  }));
  const updated = await post("viewed/bulk-update", { data: changes, etags: created.body.etags });
  expect(updated.status, JSON.stringify(updated.body)).toBe(200);
  expect(updated.body.data).toMatchObject(
    changes.map((one: object) => ({ ...one, origin: "seen" })),
  );
  expect((await post("viewed/read", { where })).body.count).toBe(0);
  const stored = await post("viewed/upsert", { data: changes });
  expect(stored.body.results.every((one: { created: boolean }) => !one.created)).toBe(true);
});

test("a batch takes bulk steps that store all or nothing", async () => {
  const [a, b, c] = labels(3);
  const steps = [
    {
      id: "one",
      endpoint: "parts",
      action: "bulk-create",
      body: { data: [{ label: a }, { label: b }] },
    },
    {
      endpoint: "parts",
      action: "upsert",
      body: { data: [{ label: a, count: 4 }, { label: c }], by: ["label"] },
    },
    {
      endpoint: "parts",
      action: "bulk-update",
      body: { data: [{ part_id: { $ref: "one.data.1.part_id" }, count: 5 }] },
    },
  ];
  const answer = await post("_batch", { steps });
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  expect(answer.body.data.map(({ status }: { status: number }) => status)).toEqual([201, 200, 200]);
  expect(answer.body.data[1].body.results).toEqual([
    { index: 0, created: false },
    { index: 1, created: true },
  ]);
  for (const more of [{ mode: "each" }, { dry_run: true }]) {
    const step = {
      endpoint: "parts",
      action: "bulk-create",
      body: { data: [{ label: "z" }], ...more },
    };
    expect(await post("_batch", { steps: [step] })).toMatchObject({
      status: 400,
      body: { error: "Invalid payload", failed_step: { index: 0 } },
    });
  }
});

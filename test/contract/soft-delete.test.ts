/** softDelete: the state after delete, the rows that each visibility shows, and what restore brings back. */
import { describe, expect, test, vi } from "vitest";
import { check, column, instant, record } from "./cases.ts";
import { by, openCellar } from "./cellar.ts";
import type { HookContext } from "../../core/plans/hook.ts";

/** Of each event: whether the old record and the new one are deleted. */
const heard: unknown[] = [];
const cellar = openCellar({
  project: { cache: { enabled: true }, locking: { enforceResourceLocks: true } },
  components: {
    "components/watch.ts": {
      listen({ event, oldRecord, record: now, reject }: HookContext) {
        heard.push([event, oldRecord?.["is_deleted"], now?.["is_deleted"]]);
        if (oldRecord?.["name"] === "kept") reject("kept");
      },
    },
  },
});
const { post, create } = cellar;

const made = (id: string, more: object = {}) =>
  create("makers", { maker_id: id, code: `C-${id}`, name: `name ${id}`, ...more });
async function deleted(id: string, more: object = {}) {
  await made(id);
  const answer = await post("makers", "delete", { ...by("maker_id", id), ...more });
  check(answer, { status: 200, message: "makers data successfully deleted" });
  return answer;
}

describe("delete with softDelete", () => {
  test("marks the row and answers it as it was", async () => {
    const answer = await deleted("d1");
    expect(answer.body.data).toMatchObject({
      deleted_count: 1,
      deleted_items: [{ maker_id: "d1", code: "C-d1", deleted_at: null }],
    });
    const shown = record(await post("everyone", "first", by("maker_id", "d1")));
    expect(shown).toMatchObject({
      is_deleted: true,
      deleted_at: expect.stringMatching(instant),
      deleted_by: "Delete from API",
      code: expect.stringMatching(/^C-d1~[0-9a-f]{10}$/),
      updated_at: null,
    });
  });

  test("takes deleted_by from the body", async () => {
    await deleted("d2", { deleted_by: "anna" });
    expect(await cellar.row("makers", "maker_id", "d2")).toMatchObject({ deleted_by: "anna" });
  });

  test("leaves updated_at as it is, as restore does", async () => {
    await made("d3");
    const { updated_at } = record(await post("makers", "update", { maker_id: "d3", name: "x" }));
    await post("makers", "delete", by("maker_id", "d3"));
    expect(record(await post("gone", "first", by("maker_id", "d3")))).toMatchObject({ updated_at });
    const answer = await post("makers", "restore", by("maker_id", "d3"));
    expect(answer.body.data.restored_items[0]).toMatchObject({ updated_at });
  });

  test("gives up its unique value, and gets another suffix each time", async () => {
    for (const id of ["d4a", "d4b", "d4c"]) {
      await create("makers", { maker_id: id, code: "AGAIN" });
      check(await post("makers", "delete", by("maker_id", id)), { status: 200 });
    }
  });

  const refused = {
    "a row that is deleted": { body: by("maker_id", "d1"), status: 404, error: "Not found" },
    "a row that was never there": { body: by("maker_id", "no"), status: 404, error: "Not found" },
    "no where": { body: { deleted_by: "x" }, status: 400, error: "Invalid payload" },
    "a deleted_by that is too long": {
      body: { ...by("maker_id", "d1"), deleted_by: "x".repeat(41) },
      status: 400,
      error: "Validation failed",
      errors: ["deleted_by"],
    },
  };
  test.each(Object.entries(refused))("refuses %s", async (_name, { body, ...expected }) => {
    for (const endpoint of ["makers", "everyone", "gone"])
      check(await post(endpoint, "delete", body), expected);
  });
});

describe("rows that are seen", () => {
  const where = { conditions: [{ key: "name", operator: "LIKE", value: "name s%" }] };
  const asked: Record<string, (endpoint: string) => Promise<unknown>> = {
    read: async (endpoint) => column(await post(endpoint, "read", { where }), "maker_id"),
    "read by pages": async (endpoint) =>
      (await post(endpoint, "read", { where, page: 1 })).body.pagination.total_records,
    "read by estimated pages": async (endpoint) =>
      (await post(endpoint, "read", { where, page: 1, count: "estimated" })).body.count,
    "read by cursor": async (endpoint) =>
      (await post(endpoint, "read", { where, cursor: true })).body.count,
    first: async (endpoint) =>
      (await post(endpoint, "first", by("maker_id", "s1"))).body.data?.maker_id ?? null,
    lookup: async (endpoint) =>
      (await post(endpoint, "lookup", { ids: ["s1", "s2"] })).body.data.length,
    aggregate: async (endpoint) =>
      (await post(endpoint, "aggregate", { where })).body.data["count_*"],
    datatables: async (endpoint) =>
      (await post(endpoint, "datatables", { search: { value: "name s" } })).body.recordsFiltered,
  };
  const one = { makers: ["s2"], gone: ["s1"], everyone: ["s1", "s2"] } as const;
  test("are those that the visibility says, in every reading action", async () => {
    await deleted("s1");
    await made("s2");
    for (const [endpoint, ids] of Object.entries(one)) {
      const seen = Object.fromEntries(
        await Promise.all(
          Object.entries(asked).map(async ([name, ask]) => [name, await ask(endpoint)]),
        ),
      );
      const count = ids.length;
      expect({ endpoint, ...seen }).toEqual({
        endpoint,
        read: ids,
        "read by pages": count,
        "read by estimated pages": count,
        "read by cursor": count,
        first: endpoint === "makers" ? null : "s1",
        lookup: endpoint === "everyone" ? 2 : expect.any(Number),
        aggregate: count,
        datatables: count,
      });
    }
  });

  test("are those of the table where the endpoint says nothing", async () => {
    expect(column(await post("plain", "read", { where }), "maker_id")).toEqual(["s1", "s2"]);
  });

  test("are left out of views, grid queries and exports too", async () => {
    expect(column(await post("viewed", "read", { where }), "maker_id")).toEqual(["s2"]);
    const grid = await post("viewed", "datatables", { search: { value: "name s" } });
    expect(grid.body.data.map((row: { maker_id: string }) => row.maker_id)).toEqual(["s2"]);
  });

  test("are those that an export writes", async () => {
    async function exported(endpoint: string): Promise<string[]> {
      const { body } = await post(endpoint, "export", { format: "jsonl", where });
      const path = `/api/test/${endpoint}/export-download?job_id=${body.job_id}`;
      const response = await vi.waitFor(async () => {
        const answer = await cellar.fixture.fetch(path);
        expect(answer.status).toBe(200);
        return answer;
      }, 20_000);
      const lines = (await response.text()).trim().split("\n");
      return lines.map((line) => (JSON.parse(line) as { maker_id: string }).maker_id);
    }
    expect([await exported("makers"), await exported("viewed")]).toEqual([["s2"], ["s2"]]);
  });

  const changes = {
    update: { name: "x" },
    adjust: { adjustments: [{ field: "stock", value: 1 }] },
    "change-status": { status: "closed" },
  };
  test.each(Object.entries(changes))("are those that %s finds", async (action, body) => {
    const id = `w-${action}`;
    await deleted(id);
    const statuses = [];
    for (const endpoint of ["makers", "gone", "everyone"])
      statuses.push((await post(endpoint, action, { maker_id: id, ...body })).status);
    expect(statuses).toEqual([404, 200, 200]);
  });
});

describe("marks in a body", () => {
  test("are ignored by create and update", async () => {
    const is_deleted = true;
    await made("b1", { is_deleted, deleted_at: "2020-01-01T00:00:00.000Z" });
    check(await post("makers", "update", { maker_id: "b1", name: "y", is_deleted }), {
      status: 200,
      data: { is_deleted: false, deleted_at: null, name: "y" },
    });
  });

  test("length bounds a reusable field in create and update", async () => {
    const code = "x".repeat(21);
    const expected = { status: 400, error: "Validation failed", errors: ["code"] };
    check(await post("makers", "create", { maker_id: "b2", code }), expected);
    check(await post("makers", "update", { maker_id: "b1", code }), expected);
  });
});

describe("restore", () => {
  test("brings the record back as it was", async () => {
    await made("r1", { stock: 3 });
    const before = record(await post("makers", "first", by("maker_id", "r1")));
    await post("makers", "delete", by("maker_id", "r1"));
    const answer = await post("makers", "restore", by("maker_id", "r1"));
    check(answer, { status: 200, message: "makers data successfully restored" });
    expect(answer.body.data).toEqual({ restored_count: 1, restored_items: [before] });
    expect(record(await post("makers", "first", by("maker_id", "r1")))).toEqual(before);
  });

  test("brings back all that match", async () => {
    for (const id of ["r2", "r3"]) await made(id, { status: "several" });
    await post("makers", "delete", by("status", "several"));
    const answer = await post("gone", "restore", by("status", "several"));
    expect(answer.body.data.restored_count).toBe(2);
  });

  test("refuses a value that is taken by now", async () => {
    await deleted("r4");
    await create("makers", { maker_id: "r5", code: "C-r4" });
    check(await post("makers", "restore", by("maker_id", "r4")), {
      status: 409,
      error: "Duplicate entry",
      errors: ["code"],
    });
    expect((await post("makers", "first", by("maker_id", "r4"))).body.data).toBeNull();
  });

  const changed: Record<string, (code: string) => readonly [string, string, object]> = {
    "update of deleted records": (code) => ["gone", "update", { maker_id: "u0", code }],
    "update of all records": (code) => ["everyone", "update", { maker_id: "u1", code }],
    "update without softDelete": (code) => ["plain", "update", { maker_id: "u2", code }],
    "bulk-update": (code) => ["gone", "bulk-update", { data: [{ maker_id: "u3", code }] }],
  };
  test.each(Object.entries(changed))("brings back a value that %s gave", async (_name, asked) => {
    const maker_id = String((asked("").at(-1) as { maker_id?: string }).maker_id ?? "u3");
    const codes = [`new ${maker_id}`, `newer ${maker_id}`] as const;
    const stored = async () => String((await cellar.row("makers", "maker_id", maker_id))["code"]);
    const change = (code: string) => post(...asked(code));
    await deleted(maker_id);
    check(await change(codes[0]), { status: 200 });
    // What was shown may be sent back.
    check(await change(await stored()), { status: 200 });
    expect(await stored()).toMatch(new RegExp(`^${codes[0]}~[0-9a-f]{10}$`));
    await create("makers", { maker_id: `${maker_id}-active`, code: codes[0] });
    check(await change("x".repeat(35)), {
      status: 400,
      error: "Validation failed",
      errors: ["bulk-update" === asked("")[1] ? "[0].code" : "code"],
    });
    check(await change(codes[1]), { status: 200 });
    const answer = await post("makers", "restore", by("maker_id", maker_id));
    expect(answer.body.data.restored_items).toMatchObject([{ maker_id, code: codes[1] }]);
  });

  test("removes the suffix of a value that a deleted record did not have before", async () => {
    await create("makers", { maker_id: "u4" });
    await post("makers", "delete", by("maker_id", "u4"));
    check(await post("gone", "update", { maker_id: "u4", code: "late" }), {
      status: 200,
      data: { code: expect.stringMatching(/^late~[0-9a-f]{10}$/) },
    });
    const answer = await post("makers", "restore", by("maker_id", "u4"));
    expect(answer.body.data.restored_items).toMatchObject([{ code: "late" }]);
  });

  const refused = {
    "a record that is not deleted": {
      body: by("maker_id", "r1"),
      status: 404,
      error: "Data not found",
    },
    "a record that is not there": {
      body: by("maker_id", "nobody"),
      status: 404,
      error: "Data not found",
    },
    "an unknown column": { body: by("nowhere", 1), status: 400, error: "Invalid field" },
    "no where": { body: { maker_id: "r1" }, status: 400, error: "Invalid payload" },
    "an empty where": { body: { where: [] }, status: 400, error: "Invalid payload" },
    "an empty body": { body: {}, status: 400, error: "Invalid payload" },
  };
  test.each(Object.entries(refused))("refuses %s", async (_name, { body, ...expected }) => {
    check(await post("makers", "restore", body), expected);
  });

  test("compares If-Match with the deleted record", async () => {
    await deleted("r6");
    const etag = (await post("gone", "first", by("maker_id", "r6"))).headers.get("ETag")!;
    const body = by("maker_id", "r6");
    check(await post("makers", "restore", body, { "If-Match": '"other"' }), {
      status: 412,
      error: "Precondition failed",
    });
    check(await post("makers", "restore", body, { "If-Match": etag }), { status: 200 });
  });

  test("takes the body {data, options} with where inside data", async () => {
    await deleted("r8");
    const body = { data: by("maker_id", "r8"), options: { why: "x" } };
    check(await post("makers", "restore", body), { status: 200 });
  });

  test("needs the token of a locked record, as delete does", async () => {
    await made("r9");
    for (const action of ["delete", "restore"]) {
      const keys = { lock_keys: [{ key: "maker_id", value: "r9" }] };
      const { lock_token } = (await post("everyone", "lock/acquire", keys)).body.data;
      const body = by("maker_id", "r9");
      check(await post("everyone", action, body), { status: 409, error: "Lock conflict" });
      check(await post("everyone", action, body, { "X-Lock-Token": lock_token }), { status: 200 });
      await post("everyone", "lock/release", { ...keys, lock_token });
    }
  });

  test("makes kept lists forget that it was away", async () => {
    await deleted("r7");
    const list = { where: { conditions: [{ key: "maker_id", operator: "=", value: "r7" }] } };
    const counts = [];
    counts.push((await post("makers", "read", list)).body.count);
    await post("makers", "restore", by("maker_id", "r7"));
    counts.push((await post("makers", "read", list)).body.count);
    await post("makers", "delete", by("maker_id", "r7"));
    counts.push((await post("makers", "read", list)).body.count);
    expect(counts).toEqual([0, 1, 0]);
  });
});

describe("handlers of delete and restore", () => {
  test("are handed the record, and may refuse", async () => {
    heard.length = 0;
    await create("watched", { maker_id: "h1", name: "kept" });
    check(await post("watched", "delete", by("maker_id", "h1")), {
      status: 422,
      error: "Rejected by hook",
    });
    await post("makers", "update", { maker_id: "h1", name: "free" });
    check(await post("watched", "delete", by("maker_id", "h1")), { status: 200 });
    check(await post("watched", "restore", by("maker_id", "h1")), { status: 200 });
    expect(heard).toEqual([
      ["onBeforeDelete", false, undefined],
      ["onBeforeDelete", false, undefined],
      ["onAfterDelete", false, undefined],
      ["onBeforeRestore", true, undefined],
      ["onAfterRestore", true, false],
    ]);
  });
});

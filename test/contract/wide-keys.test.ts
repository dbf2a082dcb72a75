/** Records with a composite key: every action identifies one by the whole key, and changes no other. */
import { describe, expect, test } from "vitest";
import { check, column, record, records } from "./cases.ts";
import { openWide, type WideKey, wideKeys } from "./wide-keys.ts";

const service = openWide({ cache: { enabled: false }, locking: { enforceResourceLocks: true } });

/** The actions that change one record, and what each changes. */
const changes = [
  { action: "update", body: { note: "new" }, changed: { note: "new", qty: 10, status: "open" } },
  {
    action: "adjust",
    body: { adjustments: [{ field: "qty", value: -3 }] },
    changed: { note: "n0", qty: 7, status: "open" },
  },
  {
    action: "change-status",
    body: { status: "done" },
    changed: { note: "n0", qty: 10, status: "done" },
  },
] as const;

const equalities = (key: object) =>
  Object.entries(key).map(([name, value]) => ({ key: name, value }));
const first = async (endpoint: string, key: object) =>
  (await service.post(`${endpoint}/first`, { where: equalities(key) })).body.data;
const all = async ({ endpoint }: WideKey) =>
  records(await service.post(`${endpoint}/read`, { limit: 100 }));
const without = (key: object, name: string) =>
  Object.fromEntries(Object.entries(key).filter(([one]) => one !== name));

describe.each(wideKeys)("a record of $endpoint", (wide) => {
  const { endpoint, names, rows, unknown, invalid, rowId } = wide;

  test("create stores it, and answers it as first finds it", async () => {
    const answer = await service.post(`${endpoint}/create`, { ...unknown, note: "more" });
    check(answer, { status: 201, data: { ...unknown, note: "more" } });
    expect(record(answer)).toEqual(await first(endpoint, unknown));
  });

  test("create refuses a key that is taken", async () => {
    check(await service.post(`${endpoint}/create`, { ...rows[0] }), {
      status: 409,
      error: "Duplicate entry",
    });
  });

  test.each(names)(
    "create without %s is refused, as nobody makes a part of a key",
    async (name) => {
      check(await service.post(`${endpoint}/create`, { ...without(unknown, name), note: "x" }), {
        status: 400,
        error: "Validation failed",
        errors: { [name]: ["is required"] },
      });
      check(await service.post(`${endpoint}/create`, { ...unknown, [name]: null }), {
        status: 400,
        error: "Validation failed",
        errors: [name],
      });
    },
  );

  test.each(changes)("$action changes it, and no other", async ({ action, body, changed }) => {
    const before = await all(wide);
    const answer = await service.post(`${endpoint}/${action}`, { ...rows[0], ...body });
    check(answer, { status: 200, data: { ...rows[0], ...changed } });
    expect(record(answer)).toEqual(await first(endpoint, rows[0]));
    expect((await all(wide)).slice(1)).toEqual(before.slice(1));
  });

  test.each(changes)("$action without a key is refused", async ({ action, body }) => {
    check(await service.post(`${endpoint}/${action}`, body), {
      status: 400,
      error: "Invalid payload",
      message: `The primary key ${names.join(", ")} is required`,
    });
  });

  test.each(changes.flatMap((change) => names.map((name) => ({ ...change, name }))))(
    "$action without $name is refused on it",
    async ({ action, body, name }) => {
      const before = await all(wide);
      check(await service.post(`${endpoint}/${action}`, { ...without(rows[0], name), ...body }), {
        status: 400,
        error: "Validation failed",
        errors: { [name]: ["is required"] },
      });
      expect(await all(wide)).toEqual(before);
    },
  );

  test.each(changes)(
    "$action of none is 404, of what can be none 400",
    async ({ action, body }) => {
      check(await service.post(`${endpoint}/${action}`, { ...unknown, ...body }), {
        status: 404,
        error: "Not found",
      });
      check(await service.post(`${endpoint}/${action}`, { ...invalid, ...body }), {
        status: 400,
        error: "Invalid payload",
      });
    },
  );

  test.each(changes)("$action takes its ETag once", async ({ action, body, changed }) => {
    const { headers } = await service.post(`${endpoint}/first`, { where: equalities(rows[0]) });
    const ifMatch = { "If-Match": headers.get("ETag") ?? "" };
    const answer = await service.post(`${endpoint}/${action}`, { ...rows[0], ...body }, ifMatch);
    check(answer, { status: 200, data: changed });
    const again = await service.post(`${endpoint}/update`, { ...rows[0], note: "late" }, ifMatch);
    check(again, { status: 412, error: "Precondition failed" });
  });

  test("update with the key and nothing else answers it unchanged", async () => {
    const answer = await service.post(`${endpoint}/update`, { ...rows[1] });
    check(answer, { status: 200 });
    expect(record(answer)).toEqual(await first(endpoint, rows[1]));
  });

  test("next-statuses tells what may follow, and needs all of the key", async () => {
    const answer = await service.post(`${endpoint}/next-statuses`, { ...rows[1] });
    check(answer, { status: 200, data: { status: "open", allowed: ["done"] } });
    check(await service.post(`${endpoint}/next-statuses`, without(rows[1], names[0]!)), {
      status: 400,
      error: "Validation failed",
      errors: { [names[0]!]: ["is required"] },
    });
  });

  test("delete by all of its key removes it alone, with If-Match too", async () => {
    const { headers } = await service.post(`${endpoint}/first`, { where: equalities(rows[0]) });
    const answer = await service.post(
      `${endpoint}/delete`,
      { where: equalities(rows[0]) },
      { "If-Match": headers.get("ETag") ?? "" },
    );
    check(answer, { status: 200, data: { deleted_count: 1, deleted_items: [rows[0]] } });
    expect(await all(wide)).toMatchObject([rows[1], rows[2]]);
  });

  test("delete by a part of its key removes all that have it", async () => {
    const where = equalities(without(rows[0], names.at(-1)!));
    check(await service.post(`${endpoint}/delete`, { where }, { "If-Match": "*" }), {
      status: 412,
      error: "Precondition failed",
      message: `If-Match needs the primary key ${names.join(", ")} in where`,
    });
    const answer = await service.post(`${endpoint}/delete`, { where });
    check(answer, { status: 200, data: { deleted_count: 2 } });
    expect(await all(wide)).toMatchObject([rows[2]]);
  });

  test("read shows it once on pages by cursor", async () => {
    const seen: unknown[] = [];
    let cursor: unknown = true;
    while (cursor) {
      const answer: Awaited<ReturnType<typeof service.post>> = await service.post(
        `${endpoint}/read`,
        { cursor, per_page: 1, sort_columns: [{ column: "qty", direction: "desc" }] },
      );
      seen.push(...records(answer));
      cursor = answer.body.pagination.next_cursor;
    }
    expect(seen).toMatchObject(rows);
  });

  test("datatables names its row by all of its key", async () => {
    const { body } = await service.post(`${endpoint}/datatables`, { start: 0, length: 10 });
    expect(body.data[0].DT_RowId).toBe(rowId);
    expect(new Set(body.data.map((row: { DT_RowId: string }) => row.DT_RowId)).size).toBe(3);
  });

  test("lock/acquire locks it, and no other", async () => {
    const lock_keys = [{ record: rows[0] }];
    const acquired = await service.post(`${endpoint}/lock/acquire`, { lock_keys, owner: "anna" });
    check(acquired, { status: 200, data: { locked_keys: lock_keys } });
    const token = acquired.body.data.lock_token as string;
    const body = { ...rows[0], note: "x" };
    const refused = await service.post(`${endpoint}/update`, body);
    check(refused, { status: 409, error: "Lock conflict" });
    expect(refused.body.data).toMatchObject({ conflicting_key: lock_keys[0], locked_by: "anna" });
    check(await service.post(`${endpoint}/update`, { ...rows[1], note: "x" }), { status: 200 });
    const states = await service.post(`${endpoint}/lock/status`, {
      lock_keys: [...lock_keys, { record: rows[1] }],
    });
    expect(states.body.data.keys).toMatchObject([
      { record: rows[0], locked: true },
      { record: rows[1], locked: false },
    ]);
    check(await service.post(`${endpoint}/update`, body, { "X-Lock-Token": token }), {
      status: 200,
    });
    const released = await service.post(`${endpoint}/lock/release`, {
      lock_keys,
      lock_token: token,
    });
    check(released, { status: 200, data: { released_keys: 1, total_keys: 1 } });
  });

  test.each([
    ["a part of its key", { record: without(rows[0], names[0]!) }],
    ["more than its key", { record: { ...rows[0], note: "x" } }],
    ["its key beside another", { record: rows[0], key: "note", value: "x" }],
    ["no object", { record: "1_1" }],
  ])("lock/acquire refuses %s", async (_, item) => {
    check(await service.post(`${endpoint}/lock/acquire`, { lock_keys: [item] }), {
      status: 400,
      error: "Invalid payload",
      message: `A record in lock_keys must stand alone, and have every column of the key and no other: ${names.join(", ")}`,
    });
  });

  test("a repeated adjust with its Idempotency-Key counts once", async () => {
    const body = { ...rows[0], adjustments: [{ field: "qty", value: 5 }] };
    const key = { "Idempotency-Key": `adjust-${endpoint}` };
    const answers = [
      await service.post(`${endpoint}/adjust`, body, key),
      await service.post(`${endpoint}/adjust`, body, key),
    ];
    for (const answer of answers) check(answer, { status: 200, data: { ...rows[0], qty: 15 } });
    expect(answers[1]!.headers.get("Idempotency-Replayed")).toBe("true");
  });

  test("adjusts of many clients at once all count, on it alone", async () => {
    const body = { ...rows[1], adjustments: [{ field: "qty", value: 1 }] };
    const answers = await Promise.all(
      Array.from({ length: 16 }, () => service.post(`${endpoint}/adjust`, body)),
    );
    for (const answer of answers) check(answer, { status: 200 });
    expect((await all(wide)).map(({ qty }) => qty)).toEqual([10, 26, 10]);
  });
});

describe("a key that is named in another order than the table's", () => {
  test("is the same record, for locks too", async () => {
    const key = { order_id: 1, line_no: 2 };
    const acquired = await service.post("lines/lock/acquire", { lock_keys: [{ record: key }] });
    check(acquired, { status: 200 });
    check(await service.post("lines-turned/update", { ...key, note: "x" }), {
      status: 409,
      error: "Lock conflict",
    });
    const { lock_token } = acquired.body.data;
    await service.post("lines/lock/release", { lock_keys: [{ record: key }], lock_token });
    check(await service.post("lines-turned/update", { ...key, note: "x" }), {
      status: 200,
      data: { order_id: 1, line_no: 2, note: "x" },
    });
  });

  test("orders lists by its first column", async () => {
    const answer = await service.post("lines-turned/read", { limit: 10 });
    expect(column(answer, "line_no")).toEqual([1, 1, 2]);
    const { body } = await service.post("lines-turned/datatables", { start: 0, length: 1 });
    expect(body.data[0].DT_RowId).toBe("1_1");
  });
});

describe("a record that is read through a query", () => {
  test("is answered as the query shows it", async () => {
    const key = { order_id: 7, line_no: 1 };
    const made = await service.post("viewed/create", { ...key, qty: 4 });
    check(made, { status: 201, data: { ...key, twice: 8 } });
    const adjusted = await service.post("viewed/adjust", {
      ...key,
      adjustments: [{ field: "qty", value: 1 }],
    });
    check(adjusted, { status: 200, data: { ...key, twice: 10 } });
  });
});

describe("a text in a key", () => {
  test("is found as its column compares it", async () => {
    const answer = await service.post("prices/update", {
      code: "A-B",
      day: "2026-01-01",
      note: "found",
    });
    const ignoresCase = service.engine() === "mysql";
    check(
      answer,
      ignoresCase ? { status: 200, data: { code: "a-b" } } : { status: 404, error: "Not found" },
    );
  });

  test("may be empty beside another column, and a minus is a minus", async () => {
    for (const code of ["", "-"]) {
      const key = { code, day: "2026-01-01" };
      check(await service.post("prices/create", { ...key, note: "old" }), {
        status: 201,
        data: key,
      });
      check(await service.post("prices/update", { ...key, note: "new" }), {
        status: 200,
        data: { ...key, note: "new" },
      });
    }
  });
});

describe("a number in a key", () => {
  test("is the database's where it makes one, beside what the body must give", async () => {
    const body = { day: "2026-01-01", note: "first" };
    const made = await service.post("logs/create", { ...body, log_id: null });
    if (service.engine() === "sqlite") {
      check(made, { status: 400, error: "Validation failed", errors: ["log_id"] });
      return;
    }
    check(made, { status: 201, data: body });
    const { log_id } = record(made);
    expect(log_id).toEqual(expect.any(Number));
    const next = await service.post("logs/create", body);
    expect(record(next)["log_id"]).toBe(Number(log_id) + 1);
    check(await service.post("logs/update", { log_id, day: body.day, note: "changed" }), {
      status: 200,
      data: { log_id, note: "changed" },
    });
    check(await service.post("logs/create", { note: "x" }), {
      status: 400,
      error: "Validation failed",
      errors: { day: ["is required"] },
    });
  });
});

/** A primary key that is an array, which PostgreSQL takes: every write, the history and locks find their record by it. */
import { describe, expect, inject, test } from "vitest";
import { check, record, records } from "./cases.ts";
import { openFixture, openForTests } from "./harness.ts";

describe.runIf(inject("engine") === "postgres")("a key that is an array", () => {
  const fixture = openForTests(openFixture, {
    tables: [],
    setUp: () => [
      "create table routes (path integer[] primary key, note text, hits integer default 0)",
    ],
    endpoints: {
      routes: {
        tableName: "routes",
        action: {
          create: true,
          read: true,
          first: true,
          update: true,
          delete: true,
          adjust: true,
          lock: true,
          "bulk-update": true,
          "bulk-delete": true,
        },
        adjustConfig: { fields: { hits: { type: "integer" } } },
        history: true,
      },
    },
    project: { locking: { enabled: true } },
  });

  const path = [1, 2];
  const where = [{ key: "path", value: path }];
  const adjustments = [{ field: "hits", value: 2 }];

  test.each<[action: string, body: object, status: number]>([
    ["create", { path }, 201],
    ["update", { path, note: "a" }, 200],
    ["adjust", { path, adjustments }, 200],
    ["bulk-update", { data: [{ path, note: "b" }] }, 200],
    ["lock/acquire", { lock_keys: [{ key: "path", value: path }] }, 200],
    ["lock/acquire", { lock_keys: [{ record: { path } }] }, 409],
    ["bulk-delete", { keys: [{ path }] }, 200],
    ["create", { path }, 201],
    ["delete", { where }, 200],
  ])("names the record in %s", async (action, body, status) => {
    const answer = await fixture.post(`routes/${action}`, body);
    expect(answer.status, JSON.stringify(answer.body)).toBe(status);
  });

  test("names it in the history", async () => {
    const entries = records(await fixture.post("routes/history", { path }));
    expect(entries.map(({ action }) => action)).toEqual(
      ["create", "update", "adjust", "bulk-update", "bulk-delete", "create", "delete"].toReversed(),
    );
    expect(entries[0]).toMatchObject({ key: { path } });
  });

  test("is compared as a whole in where, and takes no range", async () => {
    check(await fixture.post("routes/create", { path, note: "c" }), { status: 201 });
    const first = await fixture.post("routes/first", { where: { key: "path", value: path } });
    expect(record(first)["note"]).toBe("c");
    const conditions = [{ key: "path", operator: ">", value: path }];
    check(await fixture.post("routes/read", { where: { conditions } }), {
      status: 400,
      error: "Invalid parameter",
    });
  });
});

/** Columns whose values hold others (JSON, arrays), and types that are shown but never written. */
import { describe, expect, inject, test } from "vitest";
import { check, record, records } from "./cases.ts";
import { openFixture, openForTests } from "./harness.ts";

const engine = inject("engine");
const columns = engine === "postgres" ? ["doc", "tags"] : ["doc"];

const service = openForTests(openFixture, {
  tables: [],
  setUp: () => [
    ...(engine === "postgres" ? ["create type pair as (a integer, b text)"] : []),
    `create table held (id integer primary key, name varchar(20), doc json${engine === "postgres" ? ", tags text[], words tsvector, both_of pair" : ""})`,
    `insert into held (id, name, doc) values (1, 'needle', '{"a": "needle"}'), (2, 'hay', '{"a": "needle"}')`,
    ...(engine === "postgres"
      ? ["update held set tags = '{needle}', words = 'needle', both_of = row(1, 'x') where id = 2"]
      : []),
  ],
  endpoints: {
    held: { tableName: "held", action: { read: true, update: true, datatables: true } },
  },
  project: { cache: { enabled: false } },
});

describe.each(columns)("a search of the column %s", (key) => {
  const message = `Column "${key}" cannot be searched, as its values are no texts`;

  test.each(["LIKE", "NOT LIKE", "ILIKE"])("read refuses %s", async (operator) => {
    const where = { conditions: [{ key, operator, value: "%needle%" }] };
    check(await service.post("held/read", { where }), {
      status: 400,
      error: "Invalid parameter",
      message,
    });
  });

  test.each([
    [">", ["a"]],
    ["<=", ["a"]],
    ["IN", [["a"]]],
    ["BETWEEN", [["a"], ["b"]]],
  ])("read refuses %s", async (operator, value) => {
    const where = { conditions: [{ key, operator, value }] };
    check(await service.post("held/read", { where }), {
      status: 400,
      error: "Invalid parameter",
      message: `Column "${key}" holds other values: it takes =, !=, CONTAINS, IS NULL and IS NOT NULL`,
    });
  });

  test("read refuses it as search_by", async () => {
    const body = { search_value: "needle", search_by: key };
    check(await service.post("held/read", body), {
      status: 400,
      error: "Invalid parameter",
      message,
    });
  });

  test("datatables refuses it as searchBy", async () => {
    const body = { search: { value: "needle" }, searchBy: key };
    check(await service.post("held/datatables", body), {
      status: 400,
      error: "Invalid parameter",
      message,
    });
  });
});

test("a search of all columns leaves out those whose values hold others", async () => {
  const answer = await service.post("held/read", {
    search_value: "needle",
    select: ["id"],
    ...(engine === "postgres" && {
      where: { conditions: [{ key: "words", operator: "IS NULL" }] },
    }),
  });
  expect(records(answer)).toEqual([{ id: 1 }]);
});

test.runIf(engine === "postgres")(
  "composite types and tsvector are shown, and not written",
  async () => {
    const answer = await service.post("held/update", {
      id: 2,
      name: "new",
      words: "other",
      both_of: "(2,y)",
    });
    expect(record(answer)).toMatchObject({ name: "new", words: "'needle'", both_of: "(1,x)" });
  },
);

describe("a number within JSON is never changed", () => {
  const update = async (doc: string): Promise<{ status: number; text: string }> => {
    const answer = await service.fetch("/api/test/held/update", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: `{"id": 1, "doc": ${doc}}`,
    });
    return { status: answer.status, text: await answer.text() };
  };

  const found = async (operator: string, value: string): Promise<unknown[]> =>
    records(
      await service.post(
        "held/read",
        `{"select": ["id"], "where": {"conditions": [{"key": "doc", "operator": "${operator}", "value": ${value}}]}}`,
      ),
    );

  test.each(["1.5", "-7", "9007199254740993", "-9223372036854775808", '{"n":9007199254740993}'])(
    "%s is stored, shown and found",
    async (doc) => {
      const { status, text } = await update(doc);
      expect(status).toBe(200);
      expect(text).toContain(`"doc":${doc}`);
      expect(await found("=", doc)).toEqual([{ id: 1 }]);
      expect(await found("CONTAINS", doc)).toEqual([{ id: 1 }]);
    },
  );

  test("one beside it is not found", async () => {
    await update("9007199254740993");
    expect(await found("=", "9007199254740992")).toEqual([]);
    // MariaDB compares them as doubles there.
    if (engine !== "mysql") expect(await found("CONTAINS", "9007199254740992")).toEqual([]);
    expect(await found("!=", "12345678901234567890")).toEqual([{ id: 1 }, { id: 2 }]);
  });

  test.each(["12345678901234567890", "0.12345678901234567890", "1e400", "9007199254740993.0"])(
    "%s is kept or refused",
    async (doc) => {
      await update("5");
      const { status, text } = await update(doc);
      if (engine === "sqlite") expect(status).toBe(400);
      if (status === 400) {
        expect(text).toContain("holds a number that cannot be kept exactly");
        expect(await found("=", "5")).toEqual([{ id: 1 }]);
      } else {
        expect(status).toBe(200);
        expect(text).toContain(`"doc":${doc}`);
      }
    },
  );
});

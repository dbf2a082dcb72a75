/** Columns computed by a view or query: a rule sets their type, otherwise their values compare as they are. */
import { describe, expect, test } from "vitest";
import { openFixture, openForTests } from "./harness.ts";

const fixture = openForTests(openFixture, {
  tables: [{ name: "people", columns: { id: "key", name: "text(40)", born: "integer" } }],
  setUp: (engine) => [
    "INSERT INTO people (id, name, born) VALUES ('a', 'Ann', 1990), ('b', 'Bob', 1970), ('c', 'Cid', 1980)",
    `CREATE VIEW odd AS SELECT id, name, born AS ${engine === "mysql" ? "`__proto__`" : '"__proto__"'} FROM people`,
    `CREATE VIEW people_list AS SELECT id, name, CASE WHEN born > 1975 THEN 1 ELSE 0 END AS young, born - 1900 AS years FROM people`,
  ],
  endpoints: {
    odd: { viewName: "odd", primaryKey: "id", action: { read: true, export: true } },
    people: {
      tableName: "people",
      viewName: "people_list",
      action: { read: true, aggregate: true, datatables: true, create: true },
      datatablesQuery:
        "SELECT id, CASE WHEN born > 1975 THEN 1 ELSE 0 END AS grown, born + 0 AS since FROM people",
      fieldValidation: [
        { name: "name", type: "string", constraints: { required: true } },
        { name: "young", type: "boolean" },
        { name: "grown", type: "boolean" },
        { name: "years", type: "integer" },
      ],
    },
  },
});

const read = (key: string, operator: string, value: unknown) =>
  fixture.post("people/read", { where: { conditions: [{ key, operator, value }] } });
const idsOf = ({ body }: { body: { data: { id: string }[] } }): string =>
  body.data.map(({ id }) => id).join("");

describe("a rule that names a column of the view", () => {
  test("gives its type for reading", async () => {
    const { body } = await fixture.post("people/read", { limit: 10 });
    expect(body.data[0].years).toBe(90);
    expect(idsOf(await read("years", ">", 75))).toBe("ac");
    expect((await read("years", ">", "abc")).status).toBe(400);
  });

  test("adds up the values of that type", async () => {
    const { body } = await fixture.post("people/aggregate", {
      operations: [{ function: "sum", field: "years", alias: "all" }],
    });
    expect(body.data).toEqual({ all: 240 });
  });

  test("asks nothing of what is written", async () => {
    expect((await fixture.post("people/create", { id: "d", name: "Dan", born: 1960 })).status).toBe(
      201,
    );
    await fixture.sql("DELETE FROM people WHERE id = 'd'");
  });
});

test("true and false of a rule are found among the numbers of an expression", async (context) => {
  // PostgreSQL has a boolean type, so an integer expression is a number there.
  if (fixture.engine === "postgres") return context.skip();
  expect(idsOf(await read("young", "=", true))).toBe("ac");
  expect(idsOf(await read("young", "=", false))).toBe("b");
  const { body } = await fixture.post("people/datatables", {
    columns: [{ data: "id" }, { data: "grown" }],
    where: { conditions: [{ key: "grown", operator: "=", value: true }] },
  });
  expect(body.data.map(({ grown }: { grown: unknown }) => grown)).toEqual([true, true]);
});

test("a column with a name that no object can have is left out", async () => {
  const { status, body } = await fixture.post("odd/read", {
    where: { conditions: [{ key: "id", operator: "=", value: "a" }] },
  });
  expect([status, body.data]).toEqual([200, [{ id: "a", name: "Ann" }]]);
  const sort_columns = [{ column: "__proto__", direction: "ASC" }];
  expect((await fixture.post("odd/read", { sort_columns })).body.error).toBe("Invalid field");
});

/** Full-text searches find only what their callers may see, and configurations without an index do not start. */
import { createHash } from "node:crypto";
import { beforeAll, describe, expect, inject, test } from "vitest";
import { freshDatabase } from "../servers/database.ts";
import { openSession } from "../servers/session.ts";
import { checkEnvelope } from "./cases.ts";
import { ignoringCase, openIndexed, refusal, statementsIn } from "./full-text.ts";
import { type Answer, type FixtureOptions, openForTests } from "./harness.ts";
import { createTables } from "./tables.ts";

const engine = inject("engine");

const roles = ["clerk", "guest", "other"] as const;
const key = (role: string): string => `key of ${role}`;

describe("callers", () => {
  const endpoint = {
    tableName: "notes",
    action: { read: true, lookup: true, datatables: true, update: true, delete: true },
    fieldNameLookup: { id: "id", text: "title" },
    search: { fulltext: { columns: ["title", "secret"] } },
    hiddenFields: { guest: ["secret"] },
    softDelete: { flag: "is_deleted" },
    access: Object.fromEntries(
      roles.map((role) => [role, ["read", "lookup", "datatables", "update", "delete"]]),
    ),
    rowScope: { clerk: { tenant: "a" }, guest: { tenant: "a" }, other: { tenant: "b" } },
  };
  const fixture = openForTests(openIndexed, engine, {
    tables: [
      {
        name: "notes",
        columns: {
          id: "key",
          tenant: "text(10)",
          title: "text(100)",
          secret: "text(100)",
          is_deleted: { type: "boolean", notNull: true, default: "false" },
        },
      },
    ],
    setUp: () => [
      ...ignoringCase(engine, { notes: ["title varchar(100)", "secret varchar(100)"] }),
      "insert into notes (id, tenant, title, secret) values ('1', 'a', 'Plans for spring', 'merger'), ('2', 'b', 'Plans for autumn', 'merger'), ('3', 'a', 'Plans for winter', 'none')",
    ],
    endpoints: { notes: endpoint, scoped: { ...endpoint, defaultScope: { read: { id: "3" } } } },
    project: {
      auth: {
        apiKeys: roles.map((role) => ({
          id: role,
          sha256: createHash("sha256").update(key(role)).digest("hex"),
          roles: [role],
        })),
      },
    },
  });

  async function ask(role: string, action: string, body: object, from = "notes"): Promise<Answer> {
    const headers = { "x-api-key": key(role), "x-request-mode": "static" };
    const answer = await fixture.post(`${from}/${action}`, body, headers);
    checkEnvelope(answer);
    return answer;
  }
  const search = (role: string, search_value: string, from?: string): Promise<Answer> =>
    ask(role, "read", { search_value, search_mode: "fulltext" }, from);
  const ids = ({ body }: Answer): string[] => body.data.map(({ id }: { id: string }) => id).sort();

  test("find the rows of their own scope", async () => {
    expect(ids(await search("clerk", "plans"))).toEqual(["1", "3"]);
    expect(ids(await search("other", "plans"))).toEqual(["2"]);
    expect(ids(await search("other", "-spring"))).toEqual(["2"]);
    expect(ids(await search("clerk", "plans", "scoped"))).toEqual(["3"]);
  });

  test("find by a column that they see", async () => {
    expect(ids(await search("clerk", "merger"))).toEqual(["1"]);
  });

  test.each([
    ["read", { search_value: "merger", search_mode: "fulltext" }, "Invalid parameter"],
    ["read", { search_value: "plans", search_mode: "fulltext" }, "Invalid parameter"],
    ["read", { search_mode: "fulltext" }, "Invalid parameter"],
    ["lookup", { search: "merger", search_mode: "fulltext" }, "Invalid parameter"],
    ["datatables", { search: { value: "merger" }, search_mode: "fulltext" }, "Invalid payload"],
  ])("of whom a column is hidden are refused by %s %j", async (action, body, error) => {
    const answer = await ask("guest", action, body);
    expect([answer.status, answer.body.error]).toEqual([400, error]);
    expect(answer.body.message).toBe("search_mode fulltext is not available here; leave it out");
  });

  test("of whom a column is hidden search for parts of texts in the others", async () => {
    expect(ids(await ask("guest", "read", { search_value: "plans" }))).toEqual(["1", "3"]);
    expect(ids(await ask("guest", "read", { search_value: "merger" }))).toEqual([]);
  });

  test("read of the mode in the document if they can use it", async () => {
    const modesOf = async (role: string): Promise<string> => {
      const headers = { "x-api-key": key(role) };
      const { body } = await fixture.request("/api/test/notes/openapi.json", { headers });
      return JSON.stringify(body.paths);
    };
    expect(await modesOf("clerk")).toContain('"fulltext"');
    expect(await modesOf("guest")).not.toContain('"fulltext"');
  });

  test("do not find a record that is marked as deleted, and find it when it is changed", async () => {
    const body = { where: [{ key: "id", value: "3" }] };
    expect((await ask("clerk", "update", { id: "3", title: "Plans for summer" })).status).toBe(200);
    expect(ids(await search("clerk", "summer"))).toEqual(["3"]);
    expect(ids(await search("clerk", "winter"))).toEqual([]);
    expect((await ask("clerk", "delete", body)).status).toBe(200);
    expect(ids(await search("clerk", "summer"))).toEqual([]);
    expect(ids(await search("clerk", "plans"))).toEqual(["1"]);
  });
});

describe("without the index", () => {
  const database = openForTests(freshDatabase, engine);
  const session = openForTests(() => openSession(engine, database.url));
  beforeAll(async () => {
    const columns = { id: "key", name: "text(100)", info: "longtext", qty: "integer" } as const;
    const tables = [
      { name: "goods", columns },
      { name: "strict", columns },
      { name: "more", columns: { ...columns, good_id: { type: "text(36)", references: "goods" } } },
    ] as const;
    for (const text of [
      ...createTables(engine, tables),
      "create view seen as select id, name from goods",
      ...ignoringCase(engine, {
        goods: ["name varchar(100)", "info longtext"],
        more: ["name varchar(100)", "info longtext"],
      }),
    ])
      await session.run(text);
  });

  const file = (columns: string[], more: object = {}): object => ({
    tableName: "goods",
    action: { read: true },
    search: { fulltext: { columns } },
    ...more,
  });

  const indexed = (columns: string[], language = "simple"): object =>
    file(columns, { search: { fulltext: { columns, language } } });

  async function createIndexes(endpoints: FixtureOptions["endpoints"]): Promise<void> {
    for (const text of statementsIn(await refusal(database.url, endpoints)))
      await session.run(text);
  }

  test("the service starts after its statements were run, and not before", async () => {
    const goods = file(["name", "info"]);
    const message = await refusal(database.url, { goods });
    expect(message).toContain("a full-text index on name, info");
    const statements = statementsIn(message);
    expect(statements.length).toBeGreaterThan(0);
    for (const text of statements) await session.run(text);
    expect(await refusal(database.url, { goods })).toBe("");
    // Another order is another index, and so are fewer columns.
    expect(await refusal(database.url, { goods: file(["name"]) })).toContain("on name");
  });

  describe.each<[string, object, readonly string[]]>([
    ["another language", indexed(["name", "info"], "english"), []],
    ["other columns", indexed(["info"]), []],
    [
      "what was left of it",
      indexed(["name", "info"], "english"),
      {
        sqlite: ['drop trigger "goods_name_info_fulltext_english_insert"'],
        postgres: [
          "drop index goods_name_info_fulltext_english",
          "create index goods_name_info_fulltext_english on goods using gin (to_tsvector('simple', name))",
        ],
        mysql: [],
      }[engine],
    ],
  ])("but with the index for %s", (_title, endpoint, damage) => {
    test("the statements can be run as they are, and keep what others use", async () => {
      const goods = file(["name", "info"]);
      await createIndexes({ goods });
      await createIndexes({ x: endpoint });
      for (const text of damage) await session.run(text);
      if (damage.length > 0) expect(await refusal(database.url, { x: endpoint })).not.toBe("");
      await createIndexes({ x: endpoint });
      expect(await refusal(database.url, { goods, x: endpoint })).toBe("");
    });
  });

  test.each<[string, object, RegExp]>([
    ["an unknown column", file(["nam"]), /"nam".*did you mean "name"/],
    ["a column twice", file(["name", "name"]), /each column once/],
    ["a number", file(["name", "qty"]), /a column of texts/],
    ["a hidden column", file(["name"], { hiddenFields: ["name"] }), /a column that answers show/],
    ["a column that is no field", file(["name"], { fieldName: ["id"] }), /that answers show/],
    [
      "a path",
      file(["good.name"], {
        tableName: "more",
        relations: { good: { endpoint: "x", column: "good_id" } },
      }),
      /nothing of related records/,
    ],
    ["no columns", file([]), /columns/],
    [
      "a language that there is not",
      { ...file([]), search: { fulltext: { columns: ["name"], language: "englsh" } } },
      /did you mean "english"|language/,
    ],
    [
      "a view",
      {
        viewName: "seen",
        primaryKey: "id",
        action: { read: true },
        search: { fulltext: { columns: ["name"] } },
      },
      /tableName that read, lookup or datatables read/,
    ],
    ["an unknown member", { ...file(["name"]), search: { fulltxt: {} } }, /fulltext/],
  ])("%s is a fault", async (_title, x, expected) => {
    expect(await refusal(database.url, { x })).toMatch(expected);
  });

  test("a view beside the table leaves the index to the grid", async () => {
    const x = file(["name", "info"], {
      viewName: "seen",
      action: { read: true, datatables: true },
      primaryKey: "id",
    });
    expect(await refusal(database.url, { x })).toBe("");
  });

  test.runIf(engine === "mysql")("columns that heed case are a fault", async () => {
    const x = file(["name"], { tableName: "strict" });
    expect(await refusal(database.url, { x })).toMatch(/one collation that ignores case/);
  });

  test.runIf(engine === "sqlite")("a table of FTS5 without triggers is none", async () => {
    await session.run("drop trigger goods_name_info_fulltext_simple_update");
    expect(await refusal(database.url, { x: file(["name", "info"]) })).toContain("create trigger");
  });

  test.runIf(engine === "postgres")("a generated column serves as well", async () => {
    const x = file(["name"], { fieldName: ["id", "name"] });
    const [index] = statementsIn(await refusal(database.url, { x }));
    const [, expression] = /using gin \((.*)\)$/.exec(index!)!;
    await session.run(
      `alter table goods add words tsvector generated always as ${expression} stored`,
    );
    expect(await refusal(database.url, { x })).toContain("create it");
    await session.run("create index goods_words on goods using gin (words)");
    expect(await refusal(database.url, { x })).toBe("");
  });
});

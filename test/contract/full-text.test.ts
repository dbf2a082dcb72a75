/** search_mode fulltext: the same words find the same records on every engine, through the engine's own index. */
import { describe, expect, inject, test } from "vitest";
import { connect } from "./agents.ts";
import { checkEnvelope } from "./cases.ts";
import { ignoringCase, openIndexed } from "./full-text.ts";
import { type Answer, type Fixture, openForTests } from "./harness.ts";

const engine = inject("engine");

const books: readonly [string, string | null, string | null][] = [
  ["a", "Running Shoes", "The best of the art, made for runners"],
  ["b", "foo-bar e-mail", "write to ada@example.org, version 1.5"],
  ["c", "State of the art", "don't stop; ab ovo"],
  ["d", null, "A theory about running, running and running"],
  ["e", "Über Äpfel", null],
  ["f", "Kites", "boats and kites"],
  ["g", "art the of state", "near or not and"],
];

const openShop = (locale?: string): Promise<Fixture> =>
  openIndexed(engine, {
    ...(locale !== undefined && { locale }),
    tables: [{ name: "books", columns: { id: "key", title: "text(100)", body: "longtext" } }],
    setUp: () => [
      ...ignoringCase(engine, { books: ["title varchar(100)", "body longtext"] }),
      ...books.map(
        ([id, title, body]) =>
          `insert into books (id, title, body) values ('${id}', ${text(title)}, ${text(body)})`,
      ),
    ],
    endpoints: {
      books: {
        tableName: "books",
        action: {
          read: true,
          lookup: true,
          datatables: true,
          aggregate: true,
          create: true,
          update: true,
          delete: true,
        },
        fieldNameLookup: { id: "id", text: "title" },
        search: { fulltext: { columns: ["title", "body"], language: "english" } },
      },
    },
    project: { mcp: { endpoints: ["books"] } },
  });

const fixture = openForTests(openShop);

const text = (value: string | null): string =>
  value === null ? "null" : `'${value.replaceAll("'", "''")}'`;

async function ask(action: string, body: object): Promise<Answer> {
  const headers = action === "lookup" ? { "x-request-mode": "static" } : {};
  const answer = await fixture.post(`books/${action}`, body, headers);
  checkEnvelope(answer);
  return answer;
}

const ids = ({ body }: Answer): string[] => body.data.map((row: { id: string }) => row.id);

async function found(search: string, shop = fixture): Promise<string> {
  const answer = await shop.post("books/read", { search_value: search, search_mode: "fulltext" });
  checkEnvelope(answer);
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return ids(answer).toSorted().join("");
}

describe("a search finds", () => {
  test.for<[string, string]>([
    ["shoes", "a"],
    ["SHOES", "a"],
    ["running shoes", "a"],
    ["running", "ad"],
    ["äpfel", "e"],
    ["ÜBER", "e"],
    ["the", "acg"],
    ["of the", "acg"],
    ["ab", "c"],
    ["ab ovo", "c"],
    ["to", "b"],
    ['"state of the art"', "c"],
    ["\u201Estate of the art\u201C", "c"],
    ['"best art"', ""],
    ['"of the"', "ac"],
    ['"shoes the best"', ""],
    ['"runners run"', ""],
    ['"kite boat"', ""],
    ['"run shoe"', ""],
    ["run-sho*", ""],
    ["running-sho*", "a"],
    ['boats -"kites kite"', "f"],
    ["e-mail", "b"],
    ["ada@example.org", "b"],
    ["example", "b"],
    ["1.5", "b"],
    ["don't", "c"],
    ["foo_bar", "b"],
    ["foo", "b"],
    ["art -state", "a"],
    ["art -the", ""],
    ["art -ab", "ag"],
    ['art -"state of the art"', "ag"],
    ["-running", "bcefg"],
    ["-running -art", "bef"],
    ["-the", "bdef"],
    ["run*", "ad"],
    ["runnin*", "ad"],
    ["t*", "abcdg"],
    ["th* art", "acg"],
    ["-run*", "bcefg"],
    ["boat*", "f"],
    ["foo-ba*", "b"],
    ["near", "g"],
    ["or not and", "g"],
    ["theory about", "d"],
    ["xyzzy", ""],
    ["running xyzzy", ""],
  ])("%s: %s", async ([search, expected]) => {
    expect(await found(search)).toBe(expected);
  });
});

/** C knows no letters beyond ASCII. */
describe.runIf(engine === "postgres").each(["C", "C.UTF-8"])(
  "in a database with the letters of %s",
  (locale) => {
    const shop = openForTests(openShop, locale);

    test.for<[string, string]>([
      ["äpfel", "e"],
      ["ÄPFEL über", "e"],
      ['"über äpfel"', "e"],
      ["ÜB*", "e"],
      ["apfel", ""],
      ["-äpfel -running", "bcfg"],
      ["boat", "f"],
    ])("%s: %s", async ([search, expected]) => {
      expect(await found(search, shop)).toBe(expected);
    });
  },
);

describe("a list of what was found", () => {
  test("comes with the best matches first, unless it is sorted", async () => {
    const ranked = await ask("read", { search_value: "running", search_mode: "fulltext" });
    expect(ids(ranked)).toEqual(["d", "a"]);
    const sorted = await ask("read", {
      search_value: "running",
      search_mode: "fulltext",
      sort_columns: [{ column: "id", direction: "ASC" }],
    });
    expect(ids(sorted)).toEqual(["a", "d"]);
  });

  test("is in the order of the key if no word must occur", async () => {
    const answer = await ask("read", { search_value: "-running", search_mode: "fulltext" });
    expect(ids(answer)).toEqual(["b", "c", "e", "f", "g"]);
  });

  test("has pages and a count, with other conditions too", async () => {
    const body = { search_value: "art", search_mode: "fulltext", page: 2, per_page: 1 };
    const answer = await ask("read", body);
    expect(answer.body.pagination).toMatchObject({ total_records: 3, total_pages: 3 });
    const where = { conditions: [{ key: "id", operator: "!=", value: "a" }] };
    expect(ids(await ask("read", { ...body, page: 1, per_page: 5, where })).toSorted()).toEqual([
      "c",
      "g",
    ]);
  });

  test("comes to agents with the best matches first, unless they sort it or send a cursor", async () => {
    const agent = await connect(fixture, null);
    const running = { endpoint: "books", search_value: "running", search_mode: "fulltext" };
    const listed = async (more: object): Promise<string[]> => {
      const { content, text: said } = await agent.call("read", { ...running, ...more });
      expect(content.data, said).toBeDefined();
      return content.data.map(({ id }: { id: string }) => id);
    };
    expect(await listed({})).toEqual(["d", "a"]);
    expect(await listed({ per_page: 1, page: 2 })).toEqual(["a"]);
    expect(await listed({ cursor: true })).toEqual(["a", "d"]);
    expect(await listed({ sort_columns: [{ column: "id", direction: "ASC" }] })).toEqual([
      "a",
      "d",
    ]);
    const { content } = await agent.call("read", { ...running, per_page: 1 });
    expect(content).toMatchObject({ data: [{ id: "d" }], next: { page: 2 } });
  });

  test("is walked by cursor in the order of the key", async () => {
    const seen: string[] = [];
    let cursor: string | true = true;
    while (seen.length < 10) {
      const answer = await ask("read", {
        search_value: "art",
        search_mode: "fulltext",
        cursor,
        per_page: 1,
      });
      expect(answer.status).toBe(200);
      seen.push(...ids(answer));
      const next: string | null = answer.body.pagination.next_cursor;
      if (next === null) break;
      cursor = next;
    }
    expect(seen).toEqual(["a", "c", "g"]);
  });

  test("is not continued with the cursor of another search", async () => {
    const first = await ask("read", {
      search_value: "art",
      search_mode: "fulltext",
      cursor: true,
      per_page: 1,
    });
    const cursor = first.body.pagination.next_cursor as string;
    for (const other of [
      { search_value: "state", search_mode: "fulltext" },
      { search_value: "art" },
      { search_value: "-art", search_mode: "fulltext" },
      { search_value: "art*", search_mode: "fulltext" },
    ])
      expect((await ask("read", { ...other, cursor, per_page: 1 })).status).toBe(400);
  });

  test("is not that of a search for parts of words", async () => {
    const parts = await ask("read", { search_value: "unnin", page: 1 });
    expect(ids(parts)).toEqual(["a", "d"]);
    expect(parts.body.pagination.total_records).toBe(2);
    const words = await ask("read", { search_value: "unnin", search_mode: "fulltext", page: 1 });
    expect(words.body.pagination.total_records).toBe(0);
    expect(ids(words)).toEqual([]);
  });

  test.each(["", "   ", '"', "-", "*", "& | ! ( ) ~ < > @ :* ^ +"])(
    "has all records for the text %s, which has no word",
    async (search) => {
      const answer = await ask("read", { search_value: search, search_mode: "fulltext" });
      expect(ids(answer)).toHaveLength(books.length);
    },
  );
});

describe("inflections", () => {
  test("are found by the engines that know English", async () => {
    expect(await found("boat")).toBe(engine === "mysql" ? "" : "f");
    expect(await found("runs")).toBe(engine === "mysql" ? "" : "ad");
  });

  test("are not meant by a phrase or a beginning", async () => {
    expect(await found('"boat and kites"')).toBe("");
    expect(await found("runs*")).toBe("");
  });
});

describe("lookup", () => {
  test.each(["search", "search_value"])("finds by POST, the best match first, %s", async (name) => {
    const answer = await ask("lookup", { [name]: "running", search_mode: "fulltext" });
    expect(ids(answer)).toEqual(["d", "a"]);
  });

  test.each(["search", "search_value"])("finds by GET, %s", async (name) => {
    const path = `/api/test/books/lookup?${name}=%22state+of+the+art%22&search_mode=fulltext`;
    const answer = await fixture.request(path, { headers: { "x-request-mode": "dynamic" } });
    expect(answer.body.data).toEqual([{ id: "c", text: "State of the art" }]);
  });
});

describe("datatables", () => {
  const grid = (body: object): Promise<Answer> =>
    ask("datatables", { draw: 1, search_mode: "fulltext", ...body });

  test("finds what is typed, and counts it", async () => {
    const { body } = await grid({ search: { value: "running" } });
    expect(body.data.map(({ id }: { id: string }) => id)).toEqual(["d", "a"]);
    expect([body.recordsTotal, body.recordsFiltered]).toEqual([books.length, 2]);
  });

  test("sorts as the grid says", async () => {
    const answer = await grid({ search: { value: "running" }, order: [{ column: 0, dir: "asc" }] });
    expect(ids(answer)).toEqual(["a", "d"]);
  });

  test("takes the search of a form", async () => {
    const path = "/api/test/books/datatables?draw=1&search[value]=running&search_mode=fulltext";
    const { body } = await fixture.request(path);
    expect(body.recordsFiltered).toBe(2);
  });

  test("still looks for parts of words in single columns", async () => {
    const columns = [{ data: "title", searchable: true, search: { value: "unnin" } }];
    expect(ids(await grid({ search: { value: "shoes" }, columns }))).toEqual(["a"]);
    expect(ids(await grid({ search: { value: "theory" }, columns }))).toEqual([]);
  });

  test.each([
    [{ searchBy: "title", search: { value: "art" } }, "Invalid payload"],
    [{ search_mode: "words" }, "Invalid payload"],
    [{ search_mode: ["fulltext"] }, "Invalid payload"],
  ])("refuses %j", async (body, error) => {
    const answer = await grid(body);
    expect([answer.status, answer.body.error]).toEqual([400, error]);
  });
});

test.each<object>([
  { search_mode: "words" },
  { search_mode: 1 },
  { search_mode: ["fulltext"] },
  { search_mode: { fulltext: true } },
  { search_mode: "FULLTEXT" },
  { search_mode: "fulltext", search_by: "title", search_value: "art" },
  { search_mode: "fulltext", search_value: Array.from({ length: 33 }, () => "art").join(" ") },
  { search_mode: "fulltext", search_value: "a".repeat(81) },
  { search_mode: "fulltext", search_value: `art ${"a".repeat(4000)}` },
  { search_mode: "fulltext", search_value: "\uD800" },
  { search_mode: "fulltext", search_value: ["art"] },
  { search_mode: "fulltext", search_value: "a".repeat(10_001) },
])("read refuses %j", async (body) => {
  const answer = await ask("read", body);
  expect([answer.status, answer.body.error]).toEqual([400, "Invalid parameter"]);
});

test.each(["_", "_*", "\u0301*", "-", "- "])("thousands of %j are no words", async (signs) => {
  const search = signs.repeat(10_000 / signs.length);
  const started = performance.now();
  expect(await found(search)).toBe(await found("_"));
  expect(performance.now() - started).toBeLessThan(600);
});

test("read refuses a NUL", async () => {
  const answer = await ask("read", { search_mode: "fulltext", search_value: "art\u0000" });
  expect([answer.status, answer.body.error]).toEqual([400, "Invalid payload"]);
});

describe("what means something to an engine is text", () => {
  test.for<[string, string]>([
    ["shoes | kites", ""],
    ["shoes & running", "a"],
    ["!running", "ad"],
    ["running:*", "ad"],
    ["runnin:", ""],
    ["shoes <-> running", "a"],
    ["running <2> shoes", ""],
    ["title : running", ""],
    ["{title} : running", ""],
    ["running NOT shoes", ""],
    ["running OR shoes", ""],
    ["NEAR(running shoes, 5)", ""],
    ["near", "g"],
    ["~running", "ad"],
    ["<running", "ad"],
    ["+running", "ad"],
    ["(running)", "ad"],
    ["running)", "ad"],
    ["((((running", "ad"],
    ["@running", "ad"],
    ["running @8", ""],
    ["^running", "ad"],
    ["running'", "ad"],
    ["'running", "ad"],
    ["running\\", "ad"],
    ["running%", "ad"],
    ["ru_ning", ""],
    ["running;--", "ad"],
    ['"running', "ad"],
    ['running"', "ad"],
    ['"running shoes', "a"],
    ['"""running"""', "ad"],
    ['-"running shoes', "bcdefg"],
    ["--running", "bcefg"],
    ["- running", "ad"],
    ["running -", "ad"],
    ["running ** *", "ad"],
    ["*running", "ad"],
    ["running*shoes", "a"],
    ["$$running$$", "ad"],
    ["running\tshoes\n", "a"],
    ["</b>running", ""],
    ["running\u00A0shoes", "a"],
    ["running\u2028shoes", "a"],
    ["rowgate_rank running", ""],
  ])("%s", async ([search, expected]) => {
    expect(await found(search)).toBe(expected);
  });

  test("for hundreds of texts of signs and words, on each of the actions", async () => {
    const signs = [
      ..."\"&|!()~<>@:*-+^\\%_'{}[];,./?=#$`\u0301\u200D\uFE0F",
      "the",
      "art",
      "ab",
      " ",
    ];
    let seed = 7;
    const next = (max: number): number => (seed = (seed * 48_271) % 2_147_483_647) % max;
    for (let at = 0; at < 120; at++) {
      const search = Array.from({ length: 1 + next(9) }, () => signs[next(signs.length)]).join("");
      const body = { search_mode: "fulltext", search_value: search };
      expect([search, (await ask("read", body)).status]).toEqual([search, 200]);
    }
  });
});

test("a record that was written through the service is found, changed and gone", async () => {
  const created = await ask("create", { title: "Zebra crossing", body: "stripes" });
  const id = created.body.data.id as string;
  const search = async (text: string): Promise<boolean> =>
    ids(await ask("read", { search_value: text, search_mode: "fulltext" })).includes(id);
  expect(await search("zebra stripes")).toBe(true);
  expect((await ask("update", { id, title: "Tapir" })).status).toBe(200);
  expect([await search("zebra"), await search("tapir stripes")]).toEqual([false, true]);
  expect((await ask("delete", { where: [{ key: "id", value: id }] })).status).toBe(200);
  expect(await search("tapir")).toBe(false);
});

test("aggregate and export take no search, as before", async () => {
  const answer = await ask("aggregate", { search_value: "running", search_mode: "fulltext" });
  expect([answer.status, answer.body.data]).toEqual([200, { "count_*": books.length }]);
});

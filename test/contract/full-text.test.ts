/** search_mode fulltext: the same words find the same records on every engine, through the engine's own index. */
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { checkEnvelope } from "./cases.ts";
import { ignoringCase, openIndexed } from "./full-text.ts";
import type { Answer, Fixture } from "./harness.ts";

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

let fixture: Fixture;
beforeAll(async () => {
  fixture = await openIndexed(engine, {
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
        action: { read: true, lookup: true, datatables: true, create: true },
        fieldNameLookup: { id: "id", text: "title" },
        search: { fulltext: { columns: ["title", "body"], language: "english" } },
      },
    },
  });
});
afterAll(() => fixture?.close());

const text = (value: string | null): string =>
  value === null ? "null" : `'${value.replaceAll("'", "''")}'`;

async function ask(action: string, body: object): Promise<Answer> {
  const headers = action === "lookup" ? { "x-request-mode": "static" } : {};
  const answer = await fixture.post(`books/${action}`, body, headers);
  checkEnvelope(answer);
  return answer;
}

const ids = ({ body }: Answer): string[] => body.data.map((row: { id: string }) => row.id);

async function found(search: string): Promise<string> {
  const answer = await ask("read", { search_value: search, search_mode: "fulltext" });
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

/** What a relation must be, judged when the files are loaded. */
import { describe, expect, test } from "vitest";
import type { Column } from "../../core/values/types/column.ts";
import { canRelate } from "../../core/config/compiling/compile-relations.ts";
import { column } from "../values/column.ts";
import { filesOf, load, sentenceOf } from "./shop.ts";

const reading = { read: true, first: true };
const others = {
  "receipts.json": { tableName: "receipts", action: reading },
  "lines.json": { tableName: "receipt_lines", action: { first: true } },
  "members.json": { tableName: "members", action: reading },
  "coupons.json": { tableName: "coupons", primaryKey: "code", action: reading },
  "view.json": { tableName: "product_view", primaryKey: "product_id", action: reading },
  "keyless.json": { viewQuery: "select * from products", action: reading },
  "dark.json": { tableName: "receipts", action: { datatables: true, create: true } },
};
const filesWith = (relations: unknown, own: object = {}) =>
  filesOf({
    ...others,
    "items.json": { tableName: "products", action: reading, relations, ...own },
  });

const line = { endpoint: "lines", foreignColumn: "receipt_id" };

test("a fault of one endpoint is none of those that are related to it", async () => {
  const own = { exportColumns: ["line.note"], action: { read: true, export: true } };
  const relations = { line: { endpoint: "lines", column: "product_id", key: "line_id" } };
  const broken: readonly (readonly [lines: unknown, path: string])[] = [
    ["{", "$"],
    [{ tableName: "receipt_lines", action: { first: true }, hiddenFields: 3 }, "hiddenFields"],
    [{ tableName: "receipt_lines", action: { first: "yes" } }, "action.first"],
    [{ tableName: "receipt_linse", action: { first: true } }, "tableName"],
  ];
  for (const [lines, path] of broken) {
    const { faults } = await load(
      filesOf({ "items.json": { tableName: "products", relations, ...own }, "lines.json": lines }),
    );
    expect(faults.map((fault) => [fault.file, fault.path])).toEqual([["shop/lines.json", path]]);
  }
});

describe("a relation is refused for", () => {
  const cases: readonly [name: string, relation: unknown, path: string, ...words: string[]][] = [
    ["true", true, "", "false or an object"],
    ["a text", "lines", "", "false or an object"],
    ["no endpoint", { column: "sku" }, ".endpoint", "a string", "nothing"],
    [
      "an unknown endpoint",
      { endpoint: "receits", column: "product_id" },
      ".endpoint",
      "an endpoint of the project",
      'did you mean "receipts"?',
    ],
    [
      "an endpoint named as objects' members are",
      { endpoint: "constructor", column: "product_id" },
      ".endpoint",
      "an endpoint of the project",
    ],
    [
      "an endpoint where nothing is read",
      { endpoint: "dark", column: "product_id" },
      ".endpoint",
      "an endpoint where read or first is switched on",
    ],
    [
      "neither column, foreignColumn nor through",
      { endpoint: "lines" },
      "",
      "exactly one of column (to one), foreignColumn (to many) and through (to many)",
    ],
    [
      "column and foreignColumn",
      { endpoint: "lines", column: "sku", foreignColumn: "note" },
      "",
      "exactly one of column",
    ],
    [
      "an unknown property",
      { endpoint: "lines", foreignColum: "receipt_id", column: "product_id" },
      ".foreignColum",
      "unknown property",
      'did you mean "foreignColumn"?',
    ],
    ["an empty column", { endpoint: "lines", column: "" }, ".column", "not empty"],
    ["an empty list", { endpoint: "lines", column: [] }, ".column", "not empty"],
    ["a number", { endpoint: "lines", column: 5 }, ".column", "a string or a list"],
    [
      "an unknown column here",
      { endpoint: "receipts", column: "product_di" },
      ".column",
      "a column of the endpoint items",
      'did you mean "product_id"?',
    ],
    [
      "an unknown column there",
      { endpoint: "lines", foreignColumn: "reciept_id" },
      ".foreignColumn",
      "a column of the endpoint lines",
      'did you mean "receipt_id"?',
    ],
    [
      "an unknown key",
      { endpoint: "coupons", column: "sku", key: "cod" },
      ".key",
      "a column of the endpoint coupons",
      'did you mean "code"?',
    ],
    [
      "a column named as objects' members are",
      { ...line, foreignColumn: "constructor" },
      ".foreignColumn",
      "a column of the endpoint lines",
    ],
    [
      "types that cannot be compared",
      { endpoint: "receipts", column: "sku" },
      "",
      "sku (text) and receipt_id (uuid)",
      "columns that can be compared",
    ],
    [
      "a key that is not unique",
      { endpoint: "coupons", column: "sku", key: "note" },
      "",
      "note of the endpoint coupons",
      "columns that are unique together",
    ],
    [
      "one column of a key of two",
      { endpoint: "members", column: "stock", key: "group_id" },
      "",
      "columns that are unique together",
    ],
    [
      "another column than the key of a view",
      { endpoint: "view", column: "sku", key: "sku" },
      "",
      "the primaryKey of that endpoint",
    ],
    [
      "a query without a key",
      { endpoint: "keyless", column: "sku", key: "sku" },
      "",
      "the primaryKey of that endpoint",
    ],
    [
      "no key to point at",
      { endpoint: "keyless", column: "sku" },
      ".column",
      "1 and 0 columns",
      "as many columns as the key has",
    ],
    [
      "too few columns",
      { endpoint: "members", column: "stock" },
      ".column",
      "1 and 2 columns",
      "as many columns as the key has",
    ],
    [
      "too many columns",
      { ...line, foreignColumn: ["receipt_id", "note"] },
      ".foreignColumn",
      "1 and 2 columns",
    ],
    [
      "a through without its columns",
      { endpoint: "receipts", through: { endpoint: "lines", column: "receipt_id" } },
      ".through.foreignColumn",
      "a string or a list",
      "nothing",
    ],
    [
      "a through over an unknown endpoint",
      {
        endpoint: "receipts",
        through: { endpoint: "line", column: "receipt_id", foreignColumn: "receipt_id" },
      },
      ".through.endpoint",
      'did you mean "lines"?',
    ],
    [
      "a through over an endpoint where nothing is read",
      {
        endpoint: "receipts",
        through: { endpoint: "dark", column: "receipt_id", foreignColumn: "receipt_id" },
      },
      ".through.endpoint",
      "an endpoint where read or first is switched on",
    ],
    [
      "a through over an unknown column",
      {
        endpoint: "receipts",
        through: { endpoint: "lines", column: "recept_id", foreignColumn: "receipt_id" },
      },
      ".through.column",
      'did you mean "receipt_id"?',
    ],
    [
      "a through over types that cannot be compared",
      {
        endpoint: "receipts",
        through: { endpoint: "lines", column: "receipt_id", foreignColumn: "note" },
      },
      ".through",
      "note (text) and receipt_id (uuid)",
    ],
    [
      "a through to columns that are not unique",
      {
        endpoint: "coupons",
        key: "note",
        through: { endpoint: "lines", column: "receipt_id", foreignColumn: "note" },
      },
      "",
      "note of the endpoint coupons",
      "columns that are unique together",
    ],
  ];
  test.each(cases)("%s", async (_, relation, path, ...words) => {
    const { faults, entities } = await load(filesWith({ other: relation }));
    const sentences = faults.map(sentenceOf);
    expect(sentences).toHaveLength(1);
    expect(faults[0]).toMatchObject({ file: "shop/items.json", path: `relations.other${path}` });
    for (const word of words) expect(sentences[0]).toContain(word);
    expect(entities.has("items")).toBe(false);
  });

  test.each([
    ["", '[""]', "a name of letters"],
    ["2nd", '["2nd"]', "a name of letters"],
    ["a-b", ".a-b", "a name of letters"],
    ["a.b", '["a.b"]', "a name of letters"],
    ["größe", '["größe"]', "a name of letters"],
    ["a".repeat(64), `.${"a".repeat(64)}`, "at most 63 of them"],
    ["constructor", ".constructor", "a name that objects do not have already"],
    ["prototype", ".prototype", "a name that objects do not have already"],
    ["toString", ".toString", "a name that objects do not have already"],
    ["hasOwnProperty", ".hasOwnProperty", "a name that objects do not have already"],
    ["sku", ".sku", "a name that no column has"],
    ["secret", ".secret", "a name that no column has"],
  ])("the name %j", async (name, path, expected) => {
    const { faults } = await load(
      filesWith({ [name]: { endpoint: "receipts", column: "product_id" } }, { fieldName: ["sku"] }),
    );
    expect(faults.map((fault) => fault.path)).toEqual([`relations${path}`]);
    expect(faults[0]!.expected).toContain(expected);
  });

  test("the name __proto__", async () => {
    const relations = `{"__proto__": {"endpoint": "receipts", "column": "product_id"}}`;
    const text = `{"tableName": "products", "action": {"read": true}, "relations": ${relations}}`;
    const { faults } = await load(filesOf({ ...others, "items.json": text }));
    expect(faults.map(({ path }) => path)).toEqual(["relations.__proto__"]);
  });

  test("an endpoint that reads nothing", async () => {
    const { faults } = await load(
      filesOf({
        ...others,
        "items.json": {
          datatablesQuery: "select * from products",
          action: { datatables: true },
          relations: { other: { endpoint: "receipts", column: "product_id" } },
        },
      }),
    );
    expect(faults.map(sentenceOf)[0]).toContain("no relations where nothing is read");
  });
});

test.each([
  ["to one", { endpoint: "receipts", column: "product_id" }, false],
  ["to one by another unique column", { endpoint: "coupons", column: "sku", key: "code" }, false],
  ["to one of a view", { endpoint: "view", column: "product_id" }, false],
  ["to many", { endpoint: "lines", foreignColumn: "receipt_id" }, true],
  [
    "to many by another column here",
    { endpoint: "coupons", foreignColumn: "note", key: "sku" },
    true,
  ],
  [
    "to many by a column that is not unique",
    { endpoint: "coupons", foreignColumn: "note", key: "name" },
    true,
  ],
  ["lists", { endpoint: "members", column: ["stock", "stock"] }, false],
  [
    "over a third endpoint",
    {
      endpoint: "receipts",
      through: { endpoint: "lines", column: "receipt_id", foreignColumn: "receipt_id" },
    },
    true,
  ],
])("a relation may be %s", async (_, relation, isMany) => {
  const { faults, entities } = await load(
    filesWith({ _x9: relation, ["y".repeat(63)]: relation, left_out: false }),
  );
  expect(faults.map(sentenceOf)).toEqual([]);
  const found = entities.get("items")!.relations;
  expect([...found.keys()]).toEqual(["_x9", "y".repeat(63)]);
  expect(found.get("_x9")).toMatchObject({ isMany });
});

test("a relation to an endpoint with a fault is left out with it", async () => {
  const files = new Map(filesWith({ other: { endpoint: "bad", column: "product_id" } }));
  files.set(
    "shop/bad.json",
    JSON.stringify({ tableName: "receipts", action: reading, fieldName: ["nothing"] }),
  );
  const { faults, entities } = await load(files);
  expect(faults.map(({ file }) => file)).toEqual(["shop/bad.json"]);
  expect(entities.get("items")!.relations.size).toBe(0);
});

test.each<[name: string, left: Partial<Column>, right: Partial<Column>, isFine: boolean]>([
  ["no collation known", {}, {}, true],
  ["one collation known", { comparedIn: "a" }, {}, true],
  ["the same", { comparedIn: "a" }, { comparedIn: "a" }, true],
  ["two", { comparedIn: "a" }, { comparedIn: "b" }, false],
  ["one that is not deterministic", {}, { isLooselyCollated: true }, false],
  ["one that is not told", {}, { isLooselyCollated: true, alike: "loosely" }, true],
  [
    "the same that is not",
    { comparedIn: "a", isLooselyCollated: true },
    { comparedIn: "a", isLooselyCollated: true },
    true,
  ],
])("collations that can be compared: %s", (_, left, right, isFine) => {
  const [one, other] = [left, right].map((given) => column("text", { name: "x", ...given }));
  expect(canRelate(one!, other!)).toBe(isFine);
});

const withAuth = JSON.stringify({
  database: { url: "postgres://localhost/shop" },
  auth: { apiKeys: [{ id: "x", sha256: "0".repeat(64), roles: ["clerk"] }] },
});

describe("a path that the file names", () => {
  const relations = { receipt: { endpoint: "receipts", column: "product_id" }, lines: line };
  const good = "receipt.receipt_id";
  const cases: readonly [own: object, path: string | null][] = [
    [{ fieldNameLookup: { id: "product_id", text: good } }, null],
    [{ fieldNameLookup: { id: "product_id", text: "receipt.nope" } }, "fieldNameLookup.text"],
    [{ fieldNameLookup: { id: "product_id", text: "lines.note" } }, "fieldNameLookup.text"],
    [{ fieldNameLookup: { id: "product_id", text: "name || other.name" } }, "fieldNameLookup.text"],
    [{ datatables: { searchPanes: ["name", good] } }, null],
    [{ exportColumns: ["name", good] }, null],
    [{ exportColumns: ["name", "receipt.nope"] }, "exportColumns[1]"],
    [{ exportColumns: ["nope"] }, "exportColumns[0]"],
    [{ datatables: { searchPanes: ["name", "receipt.nope"] } }, "datatables.searchPanes[1]"],
    [{ datatables: { searchBuilder: ["lines.note"] } }, "datatables.searchBuilder[0]"],
    [{ datatables: { columnControl: ["other.name"] } }, "datatables.columnControl[0]"],
    [{ datatablesWhere: [good] }, null],
    [{ datatablesWhere: ["name", "receipt.nope"] }, "datatablesWhere[1]"],
    [{ fieldLabels: { [good]: "No", name: "Name" } }, null],
    [{ fieldLabels: { "receipt.nope": "No" } }, 'fieldLabels["receipt.nope"]'],
    [{ rowScope: { clerk: { [good]: null } } }, null],
    [{ rowScope: { clerk: { "receipt.nope": 1 } } }, 'rowScope.clerk["receipt.nope"]'],
    [{ rowScope: { clerk: { "lines.note": 1 } } }, 'rowScope.clerk["lines.note"]'],
    [{ rowScope: { clerk: { receipt: 1 } } }, "rowScope.clerk.receipt"],
    [
      { rowScope: { clerk: { [good]: { operator: "NOPE", value: 1 } } } },
      `rowScope.clerk["${good}"]`,
    ],
    [
      { rowScope: { clerk: { [good]: 1 } }, datatablesQuery: "select name from products" },
      `rowScope.clerk["${good}"]`,
    ],
  ];
  test.each(cases)("%j", async (own, path) => {
    const { faults } = await load(
      new Map([
        ...filesWith(relations, { ...own, access: { clerk: "*" } }),
        ["shop/project.json", withAuth],
      ]),
    );
    expect(faults.map((fault) => fault.path)).toEqual(path === null ? [] : [path]);
  });
});

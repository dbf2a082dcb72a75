/** `numbers` of an endpoint: its compiled form, and faults that would otherwise appear at the first record. */
import { describe, expect, test } from "vitest";
import { entityOf, filesOf, load, projectFile, sentenceOf } from "./shop.ts";

const base = { action: { create: true, read: true }, tableName: "products" };
const sku = (setting: object, more: object = {}) => ({
  ...base,
  ...more,
  numbers: { sku: { format: "P-{seq:4}", ...setting } },
});
/** A column that may be empty until a status is reached. */
const name = (setting: object, more: object = {}) => ({
  ...base,
  workflow: { statusField: "secret", transitions: { draft: ["posted"], posted: [] } },
  ...more,
  numbers: { name: { format: "P-{seq:4}", onStatus: "posted", ...setting } },
});
const withRule = (constraints: object, more: object = {}) => ({
  fieldValidation: [{ name: "sku", type: "string", constraints, ...more }],
});

describe("faults at load", () => {
  const cases: readonly (readonly [string, object, string, ...string[]])[] = [
    // The column
    ["a list", { ...base, numbers: ["sku"] }, "numbers", "an object"],
    ["a text as the setting", { ...base, numbers: { sku: "P-{seq}" } }, "numbers.sku", "an object"],
    [
      "an unknown property",
      sku({ formt: "x" }),
      "numbers.sku.formt",
      "unknown property",
      'did you mean "format"?',
    ],
    [
      "an unknown column",
      { ...base, numbers: { sqku: { format: "{seq}" } } },
      "numbers.sqku",
      'did you mean "sku"?',
    ],
    [
      "a column of numbers",
      { ...base, numbers: { stock: { format: "{seq}" } } },
      "numbers.stock",
      "a integer column",
      "a text column",
    ],
    [
      "a column that the database computes",
      { ...base, numbers: { margin: { format: "{seq}" } } },
      "numbers.margin",
      "a text column",
    ],
    [
      "an audit column",
      { ...base, numbers: { created_by: { format: "{seq}" } } },
      "numbers.created_by",
      "fills",
    ],
    [
      "the column of the status",
      { ...name({}), numbers: { secret: { format: "{seq}" } } },
      "numbers.secret",
      "fills",
    ],
    [
      "a field that a rule requires",
      sku({}, withRule({ required: true })),
      "numbers.sku",
      "required",
    ],
    ["a field with a default", sku({}, withRule({}, { default: "x" })), "numbers.sku", "default"],
    [
      "a view",
      {
        ...base,
        action: { read: true },
        tableName: "product_view",
        numbers: { name: { format: "{seq}" } },
      },
      "numbers",
      "a tableName that is a table",
    ],
    [
      "a query without a table",
      { action: { read: true }, viewQuery: "select 1", numbers: { name: { format: "{seq}" } } },
      "numbers",
      "a tableName",
    ],
    [
      "storage that cannot roll back",
      { action: { read: true }, tableName: "journal", numbers: { note: { format: "{seq}" } } },
      "numbers",
      "transactions",
    ],
    // The format
    ["no format", { ...base, numbers: { sku: {} } }, "numbers.sku.format", "nothing", "a string"],
    ["an empty format", sku({ format: "" }), "numbers.sku.format", "not empty"],
    ["a format that is a number", sku({ format: 5 }), "numbers.sku.format", "5", "a string"],
    ["a format without seq", sku({ format: "P-{yyyy}" }), "numbers.sku.format", "no {seq}"],
    ["seq twice", sku({ format: "{seq}-{seq:4}" }), "numbers.sku.format", "more than one {seq}"],
    ["seq of no digits", sku({ format: "{seq:0}" }), "numbers.sku.format", "{seq:1} to {seq:18}"],
    ["seq of too many digits", sku({ format: "{seq:19}" }), "numbers.sku.format", "{seq:18}"],
    ["seq of a word", sku({ format: "{seq:four}" }), "numbers.sku.format", "{seq:1}"],
    [
      "an unknown placeholder",
      sku({ format: "{seq}{stok}" }),
      "numbers.sku.format",
      '"{stok}"',
      'did you mean "stock"?',
    ],
    [
      "a placeholder in other letters",
      sku({ format: "{seq}{YYYY}" }),
      "numbers.sku.format",
      "{YYYY}",
    ],
    ["an empty placeholder", sku({ format: "{seq}{}" }), "numbers.sku.format", '"{}"'],
    ["a brace that stays open", sku({ format: "{seq}{yyyy" }), "numbers.sku.format", "in pairs"],
    ["a brace that closes nothing", sku({ format: "{seq}}" }), "numbers.sku.format", "in pairs"],
    ["a member of objects", sku({ format: "{seq}{constructor}" }), "numbers.sku.format", "{yyyy}"],
    [
      "an amount in the format",
      sku({ format: "{price}{seq}" }),
      "numbers.sku.format",
      "a decimal column",
    ],
    [
      "a flag in the format",
      sku({ format: "{is_active}{seq}" }),
      "numbers.sku.format",
      "a boolean column",
    ],
    [
      "an instant in the format",
      sku({ format: "{deleted_at}{seq}" }),
      "numbers.sku.format",
      "a timestamp",
    ],
    [
      "the number itself in the format",
      sku({ format: "{sku}{seq}" }),
      "numbers.sku.format",
      "numbered itself",
    ],
    [
      "a column of the format that the database computes",
      sku({ format: "{margin}{seq}" }),
      "numbers.sku.format",
      "which the database fills",
    ],
    // by
    ["by as a text", sku({ by: "name" }), "numbers.sku.by", "a list"],
    ["an unknown column in by", sku({ by: ["naem"] }), "numbers.sku.by[0]", 'did you mean "name"?'],
    ["an amount in by", sku({ by: ["name", "price"] }), "numbers.sku.by[1]", "a decimal column"],
    ["an instant in by", sku({ by: ["deleted_at"] }), "numbers.sku.by[0]", "a timestamp column"],
    ["the number itself in by", sku({ by: ["sku"] }), "numbers.sku.by[0]", "numbered itself"],
    [
      "another number in by",
      { ...base, numbers: { sku: { format: "{seq}", by: ["name"] }, name: { format: "{seq}" } } },
      "numbers.sku.by[0]",
      "numbered itself",
    ],
    // date
    [
      "an unknown date",
      sku({ date: "deletd_at" }),
      "numbers.sku.date",
      'did you mean "deleted_at"?',
    ],
    [
      "a text as date",
      sku({ date: "name" }),
      "numbers.sku.date",
      "a text column",
      "date or timestamp",
    ],
    ["a list as date", sku({ date: ["deleted_at"] }), "numbers.sku.date", "a string"],
    // start
    ["a start below zero", sku({ start: -1 }), "numbers.sku.start", "-1"],
    ["a start that is no integer", sku({ start: 1.5 }), "numbers.sku.start", "1.5"],
    ["a start as text", sku({ start: "1" }), "numbers.sku.start", '"1"'],
    ["a start with more digits than seq", sku({ start: 10_000 }), "numbers.sku.start", "4 digits"],
    // onStatus
    [
      "onStatus without a workflow",
      name({}, { workflow: undefined }),
      "numbers.name.onStatus",
      "workflow",
    ],
    [
      "a status that transitions do not know",
      name({ onStatus: "poste" }),
      "numbers.name.onStatus",
      '"poste"',
      'did you mean "posted"?',
    ],
    [
      "a status that the field's rule refuses",
      name(
        { onStatus: "gone" },
        {
          workflow: { statusField: "secret" },
          fieldValidation: [{ name: "secret", type: "string", constraints: { enum: ["open"] } }],
        },
      ),
      "numbers.name.onStatus",
      "a value of secret",
    ],
    ["an empty status", name({ onStatus: "" }), "numbers.name.onStatus", "not empty"],
    [
      "onStatus of a column that is never null",
      { ...name({}), numbers: { sku: { format: "{seq}", onStatus: "posted" } } },
      "numbers.sku",
      "NOT NULL",
    ],
    // manual
    ["manual without auth", sku({ manual: ["clerk"] }), "numbers.sku.manual", '"auth"'],
    ["manual as a text", sku({ manual: "clerk" }), "numbers.sku.manual", "a list"],
    ["an empty role in manual", sku({ manual: [""] }), "numbers.sku.manual[0]", "not empty"],
    // The action
    [
      "next-number without numbers",
      { ...base, action: { "next-number": true } },
      "numbers",
      "the columns for next-number",
    ],
  ];

  test.each(cases)("%s", async (_, payload, path, ...words) => {
    const { faults } = await load(filesOf({ "items.json": payload }));
    const sentences = faults.map(sentenceOf);
    const found = sentences.find((text) => text.startsWith(`shop/items.json ${path}: `));
    expect(found, sentences.join("\n") || "no fault").toBeDefined();
    for (const word of words) expect(found).toContain(word);
  });

  test("all of a setting at once", async () => {
    const payload = sku({ format: "{stok}{seq", by: ["naem"], date: "name", manual: ["x"] });
    const { faults } = await load(filesOf({ "items.json": payload }));
    expect(faults.map(({ path }) => path).toSorted()).toEqual([
      "numbers.sku.by[0]",
      "numbers.sku.date",
      "numbers.sku.format",
      "numbers.sku.format",
      "numbers.sku.manual",
    ]);
  });

  test("another setting of the same column in another file, and the same is none", async () => {
    const files = { "items.json": sku({}), "wares.json": sku({}) };
    expect((await load(filesOf(files))).faults).toEqual([]);
    const { faults } = await load(filesOf({ ...files, "wares.json": sku({ start: 5 }) }));
    expect(faults.map(sentenceOf)).toEqual([
      expect.stringMatching(/^shop\/\w+\.json numbers\.sku: .*the same as in \w+, which numbers/),
    ]);
  });
});

describe("a plan", () => {
  test("has the parts of its format, and its sources", async () => {
    const setting = {
      format: "P{yy}-{stock}/{seq:4}x",
      by: ["name"],
      date: "deleted_at",
      start: 0,
    };
    const { entity } = await entityOf(sku(setting));
    const [plan] = entity.numbers.get("public.products")!;
    expect(plan).toMatchObject({
      column: { name: "sku" },
      format: [
        { kind: "text", text: "P" },
        { kind: "date", digits: "yy" },
        { kind: "text", text: "-" },
        { kind: "column", column: { name: "stock" } },
        { kind: "text", text: "/" },
        { kind: "seq", digits: 4 },
        { kind: "text", text: "x" },
      ],
      by: [{ name: "name" }],
      within: [],
      date: { name: "deleted_at" },
      start: 0,
      onStatus: null,
      manual: null,
    });
  });

  test("holds for every endpoint of the table, and for no other table", async () => {
    const other = { action: { create: true }, tableName: "products" };
    const { entities } = await load(filesOf({ "items.json": name({}), "other.json": other }));
    const [plan] = entities.get("other")!.numbers.get("public.products")!;
    expect(plan).toMatchObject({ onStatus: { column: { name: "secret" }, status: "posted" } });
    expect([...entities.get("other")!.numbers.keys()]).toEqual(["public.products"]);
  });

  test("names a role that access does not know", async () => {
    const auth = { apiKeys: [{ id: "x", sha256: "0".repeat(64), roles: ["clerk"] }] };
    const payload = sku({ manual: ["clrk"] }, { access: { clerk: "*", other: "*" } });
    const files = filesOf({ "items.json": payload, "project.json": { ...projectFile, auth } });
    const { notices } = await load(files);
    expect(notices.join("\n")).toMatch(/numbers\.sku\.manual names the role "clrk".*clerk/);
  });
});

/** `files` of an endpoint: faults that would otherwise appear at the first upload, and what is compiled. */
import { describe, expect, test } from "vitest";
import { filesOf, load, sentenceOf } from "./shop.ts";

const base = { action: { create: true, read: true }, tableName: "products" };
const name = (setting: object, more: object = {}) => ({
  ...base,
  ...more,
  files: { name: setting },
});

describe("faults at load", () => {
  const cases: readonly (readonly [string, object, string, ...string[]])[] = [
    // The column
    ["a list", { ...base, files: ["name"] }, "files", "an object"],
    ["a number as the setting", { ...base, files: { name: 10 } }, "files.name", "an object"],
    [
      "an unknown property",
      name({ maxMB: 5 }),
      "files.name.maxMB",
      "unknown property",
      'did you mean "maxMb"?',
    ],
    [
      "an unknown column",
      { ...base, files: { nmae: {} } },
      "files.nmae",
      "products",
      'did you mean "name"?',
    ],
    [
      "a column of numbers",
      { ...base, files: { stock: {} } },
      "files.stock",
      "a integer column",
      "a JSON or text column",
    ],
    [
      "a column that the database computes",
      { ...base, files: { margin: {} } },
      "files.margin",
      "a column for files alone",
    ],
    [
      "the primary key",
      { ...base, files: { product_id: {} } },
      "files.product_id",
      "a column for files alone",
    ],
    [
      "a column with numbers of documents",
      name({}, { numbers: { name: { format: "P-{seq:4}" } } }),
      "files.name",
      "a column for files alone",
    ],
    [
      "a field with a default",
      name(
        {},
        { fieldValidation: [{ name: "name", type: "string", constraints: {}, default: "x" }] },
      ),
      "files.name",
      "a field with a default in fieldValidation",
    ],
    [
      "a view",
      { ...name({}), action: { read: true }, tableName: "product_view" },
      "files",
      "a tableName that is a table",
    ],
    // The settings
    ["no megabyte", name({ maxMb: 0 }), "files.name.maxMb", "1"],
    ["a text as the size", name({ maxMb: "10" }), "files.name.maxMb", "a number"],
    ["half a megabyte", name({ maxMb: 0.5 }), "files.name.maxMb", "a whole number"],
    ["no types", name({ types: [] }), "files.name.types", "a list that is not empty"],
    [
      "a type that is none",
      name({ types: ["pdf"] }),
      "files.name.types[0]",
      "a media type such as",
    ],
    [
      "a misspelled type",
      name({ types: ["image/*", "aplication/pdf"] }),
      "files.name.types[1]",
      "a media type that the service recognizes",
      'did you mean "application/pdf"?',
    ],
    [
      "a type that no content shows",
      name({ types: ["model/*"] }),
      "files.name.types[0]",
      "a media type that the service recognizes",
    ],
    ["a word as multiple", name({ multiple: "yes" }), "files.name.multiple", "true or false"],
    // The actions
    [
      "file-upload without files",
      { ...base, action: { "file-upload": true } },
      "files",
      "file-upload",
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
    const payload = { ...base, files: { stock: {}, nmae: {}, name: { types: ["a/b", "c/d"] } } };
    const { faults } = await load(filesOf({ "items.json": payload }));
    expect(faults.map(({ path }) => path).toSorted()).toEqual([
      "files.name.types[0]",
      "files.name.types[1]",
      "files.nmae",
      "files.stock",
    ]);
  });

  test.each([
    ["another size", { maxMb: 5 }],
    ["another type", { types: ["image/png"] }],
    ["several files", { multiple: true }],
  ])("%s of the same column in another file, and the same is none", async (_, setting) => {
    const files = { "items.json": name({}), "wares.json": name({}) };
    expect((await load(filesOf(files))).faults).toEqual([]);
    const { faults } = await load(filesOf({ ...files, "wares.json": name(setting) }));
    expect(faults.map(sentenceOf)).toEqual([
      expect.stringMatching(/^shop\/\w+\.json files\.name: .*the same as in \w+, which has files/),
    ]);
  });
});

test("a plan has the settings of its columns, in every endpoint of the table", async () => {
  const setting = { maxMb: 2, types: ["image/*"], multiple: true };
  const other = { action: { create: true }, tableName: "products" };
  const { entities } = await load(filesOf({ "items.json": name(setting), "other.json": other }));
  for (const one of ["items", "other"]) {
    const { columns, keepDays } = entities.get(one)!.files.get("public.products")!;
    expect(keepDays).toBe(30);
    expect([...columns.values()]).toMatchObject([
      {
        column: { name: "name", type: "file", holdsMany: true },
        bytesMax: 2 * 1024 ** 2,
        types: ["image/*"],
      },
    ]);
  }
});

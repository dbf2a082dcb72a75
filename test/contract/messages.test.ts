/** `messages/<language>.json` and `errorDetails`: what is wrong with fields, in the caller's language and as data. */
import { describe, expect, test } from "vitest";
import { check, checkEnvelope } from "./cases.ts";
import { cellsOfWorkbook } from "./imported-goods.ts";
import { importerOf, workbookOf } from "./imports.ts";
import {
  type Answer,
  type Fixture,
  type FixtureOptions,
  openFixture,
  openForTests,
} from "./harness.ts";

const german = {
  required: "ist erforderlich",
  nullable: "darf nicht leer sein",
  min: "muss mindestens {min} sein",
  max: "darf höchstens {max} sein",
  maxLength: "hat mehr als {maxLength} Zeichen",
  enum: "muss eines von {enum} sein",
  pattern: "passt nicht zu {pattern}",
  unique: "gibt es schon",
  type: "ist kein Wert der Art {type}",
  positive: "muss größer als 0 sein",
  importErrors: "Fehler beim Import",
  fieldLabels: { price: "Preis", items: { name: "Bezeichnung" } },
  endpointLabels: { items: "Artikel", listed: "Liste", constructor: "x" },
  groupLabels: { Stock: "Lager" },
  stepLabels: { Finish: "Abschließen" },
  viewLabels: { Dear: "Teuer" },
};

const rules = [
  { name: "code", constraints: { required: true, maxLength: 5, pattern: "^[A-Z]" } },
  { name: "name", constraints: { nullable: false, enum: ["one", "two", "$&"] } },
  { name: "price", type: "number", constraints: { min: 0, max: 100 } },
  { name: "count", type: "integer", constraints: { positive: true, positiveMessage: "too few" } },
];

const options: FixtureOptions = {
  tables: [
    {
      name: "items",
      columns: {
        item_id: "key",
        code: { type: "text(10)", unique: true },
        name: "text(10)",
        price: "decimal(10,2)",
        count: "integer",
        due: "date",
      },
    },
    { name: "heads", columns: { head_id: "key", title: "text(10)" } },
    {
      name: "lines",
      columns: {
        line_id: "key",
        head_id: {
          type: "text(36)",
          notNull: true,
          references: { table: "heads", column: "head_id" },
        },
        amount: "integer",
      },
    },
  ],
  endpoints: {
    items: {
      tableName: "items",
      primaryKey: "item_id",
      fieldValidation: rules,
      fieldLabels: { code: "Code", price: "Price", name: "Name" },
      console: {
        label: "Goods",
        group: "Stock",
        icon: "box",
        views: { Dear: { order: ["-price"] }, Cheap: {} },
      },
      action: {
        create: true,
        read: true,
        upsert: true,
        "bulk-create": true,
        import: true,
        export: true,
      },
    },
    papers: {
      tableName: "heads",
      console: { steps: { done: "Finish", open: "Reopen" } },
      action: { "change-status": true },
      workflow: { statusField: "title", transitions: { open: ["done"], done: ["open"] } },
    },
    heads: {
      tableName: "heads",
      console: { label: "Papers", group: "Office" },
      action: { "create-composite": true },
      masterDetail: {
        detailTable: "lines",
        foreignKey: "head_id",
        detailConfig: {
          fieldValidation: [{ name: "amount", type: "integer", constraints: { min: 1 } }],
        },
      },
    },
    listed: {
      viewQuery: "select code from items where price > :least",
      primaryKey: "code",
      params: { least: { type: "integer", required: true, constraints: { max: 9 } } },
      action: { read: true },
    },
  },
  files: {
    "test/messages/de.json": JSON.stringify(german),
    "test/messages/pt-BR.json": JSON.stringify({ required: "é obrigatório" }),
  },
  project: { requests: { errorDetails: true }, batch: { enabled: true } },
};

const fixture = openForTests(openFixture, options);

const inLanguage = (path: string, body: unknown, language?: string): Promise<Answer> =>
  fixture.post(path, body, language === undefined ? {} : { "accept-language": language });
const good = { code: "A1", name: "one" };

describe("the language", () => {
  const languages: [name: string, header: string | undefined, text: string, tag: string][] = [
    ["is English without the header", undefined, "is required", "en"],
    ["is the one that is asked for", "de", "ist erforderlich", "de"],
    ["is that of the region, if there is one", "pt-BR", "é obrigatório", "pt-BR"],
    ["falls back from the region", "de-AT", "ist erforderlich", "de"],
    ["does not rise to a region", "pt", "is required", "en"],
    ["is told apart in any case", "DE-at", "ist erforderlich", "de"],
    ["is the most wanted one", "fr;q=0.9, de;q=0.5, pt-BR;q=0.8", "é obrigatório", "pt-BR"],
    ["is English where that is wanted more", "en-GB, de;q=0.9", "is required", "en"],
    ["is none that is refused", "de;q=0, pt-br;q=0.001", "é obrigatório", "pt-BR"],
    ["is English for one that there is not", "fr, ja", "is required", "en"],
    ["is English for a faulty header", "de;q=x,;;,*", "is required", "en"],
  ];
  test.each(languages)("%s", async (_, header, text, tag) => {
    const answer = await inLanguage("items/create", { name: "one" }, header);
    check(answer, { status: 400, error: "Validation failed", errors: { code: [text] } });
    expect(answer.headers.get("content-language")).toBe(tag);
    expect(answer.headers.get("vary")).toContain("Accept-Language");
  });

  test("is not told where nothing depends on it", async () => {
    const answer = await inLanguage("items/read", { limit: 1 }, "de");
    expect(answer.headers.get("content-language")).toBeNull();
  });
});

describe("in German and as data:", () => {
  const cases: [name: string, body: object, field: string, text: string, detail: object][] = [
    [
      "a rule with a bound",
      { ...good, price: -1 },
      "price",
      "muss mindestens 0 sein",
      { rule: "min", min: 0 },
    ],
    [
      "another bound",
      { ...good, price: 101 },
      "price",
      "darf höchstens 100 sein",
      { rule: "max", max: 100 },
    ],
    [
      "a length",
      { ...good, code: "ABCDEFG" },
      "code",
      "hat mehr als 5 Zeichen",
      { rule: "maxLength", maxLength: 5 },
    ],
    [
      "a list, whose values are no patterns",
      { ...good, name: "three" },
      "name",
      "muss eines von one, two, $& sein",
      { rule: "enum", enum: ["one", "two", "$&"] },
    ],
    ["a flag", { ...good, name: null }, "name", "darf nicht leer sein", { rule: "nullable" }],
    [
      "a pattern",
      { ...good, code: "a" },
      "code",
      "passt nicht zu ^[A-Z]",
      { rule: "pattern", pattern: "^[A-Z]" },
    ],
    [
      "the type of a rule",
      { ...good, price: "x" },
      "price",
      "ist kein Wert der Art decimal",
      { rule: "type", type: "decimal" },
    ],
    [
      "the type of a column without a rule",
      { ...good, due: "soon" },
      "due",
      "ist kein Wert der Art date",
      { rule: "type", type: "date" },
    ],
    [
      "a text of the configuration",
      { ...good, count: 0 },
      "count",
      "too few",
      { rule: "positive" },
    ],
  ];
  test.each(cases)("%s", async (_, body, field, text, detail) => {
    const answer = await inLanguage("items/create", body, "de");
    expect(answer.body).toMatchObject({ error: "Validation failed", message: "Invalid data" });
    expect(answer.body.errors).toEqual({ [field]: [text] });
    expect(answer.body.details).toEqual({ [field]: [detail] });
  });

  test("what the database refuses", async () => {
    await inLanguage("items/create", { ...good, code: "DUP" });
    const answer = await inLanguage("items/create", { ...good, code: "DUP" }, "de");
    expect(answer).toMatchObject({ status: 409, body: { error: "Duplicate entry" } });
    if (answer.body.errors !== undefined)
      expect(answer.body.errors).toEqual({ code: ["gibt es schon"] });
    expect(answer.body.details).toBeUndefined();
  });

  test("records of bulk writes", async () => {
    const data = [
      { ...good, code: "B1", price: -1 },
      { ...good, code: "B2" },
    ];
    const all = await inLanguage("items/bulk-create", { data }, "de");
    expect(all.body.errors).toEqual({ "[0].price": ["muss mindestens 0 sein"] });
    expect(all.body.details).toEqual({ "[0].price": [{ rule: "min", min: 0 }] });
    const each = await inLanguage("items/bulk-create", { data, mode: "each" }, "de");
    expect(each.status).toBe(207);
    expect(each.headers.get("content-language")).toBe("de");
    expect(each.body.results[0]).toMatchObject({
      error: "Validation failed",
      errors: { price: ["muss mindestens 0 sein"] },
      details: { price: [{ rule: "min", min: 0 }] },
    });
  });

  test("details of a document", async () => {
    const body = { heads: { title: "x", lines: [{ amount: 2 }, { amount: 0 }] } };
    const { body: answered } = await inLanguage("heads/create-composite", body, "de");
    expect(answered.errors).toEqual({ "lines[1].amount": ["muss mindestens 1 sein"] });
    expect(answered.details).toEqual({ "lines[1].amount": [{ rule: "min", min: 1 }] });
  });

  test("parameters of a query", async () => {
    const over = await inLanguage("listed/read", { params: { least: 10 }, limit: 1 }, "de");
    expect(over.body.errors).toEqual({ "params.least": ["darf höchstens 9 sein"] });
    expect(over.body.details).toEqual({ "params.least": [{ rule: "max", max: 9 }] });
    const unknown = await inLanguage("listed/read", { params: { least: 1, x: 1 }, limit: 1 }, "de");
    expect(unknown.body.errors).toEqual({ "params.x": ["is unknown"] });
    expect(unknown.body.details).toEqual({ "params.x": [{ message: "is unknown" }] });
  });

  test("steps of a batch", async () => {
    const steps = [{ endpoint: "items", action: "create", body: { ...good, price: -1 } }];
    const { body } = await inLanguage("_batch", { steps }, "de");
    expect(body).toMatchObject({
      failed_step: { index: 0 },
      errors: { price: ["muss mindestens 0 sein"] },
      details: { price: [{ rule: "min", min: 0 }] },
    });
  });
});

/** The steps of an import, and the file of its errors, in a language. */
function importerIn(language: string) {
  const request: Fixture["request"] = (path, init) =>
    fixture.request(path, {
      ...init,
      headers: { ...Object.fromEntries(new Headers(init?.headers)), "accept-language": language },
    });
  const importer = importerOf({
    post: (path, body) => fixture.post(path, body, { "accept-language": language }),
    request,
  });
  const rejected = async (file: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> => {
    const { body } = await importer.previewed("items", file);
    const path = `/api/test/items/import-errors?job_id=${body.job_id}`;
    return new Uint8Array(await (await fixture.fetch(path)).arrayBuffer());
  };
  return { ...importer, rejected };
}

test("rows of an import are judged in the language of the request", async () => {
  const importer = importerIn("de-CH");
  const rows = [
    // The label of that language, too: an export has it as its heading.
    ["code", "Bezeichnung", "price"],
    ["I1", "one", -3],
    [null, "one", 3],
  ];
  const { body } = await importer.previewed("items", await workbookOf(rows));
  const text = JSON.stringify(body);
  expect(text).toContain("price: muss mindestens 0 sein");
  expect(text).toContain("code: ist erforderlich");
  expect(text).not.toContain("Bezeichnung: ist erforderlich");
}, 90_000);

const fields = ["code", "price"];
test.each<[name: string, language: string, headings: string[], expected: string[]]>([
  ["a language", "de-CH", fields, [...fields, "Fehler beim Import"]],
  ["one without that text", "pt-BR", fields, [...fields, "Import errors"]],
  ["English", "en", fields, [...fields, "Import errors"]],
  [
    "a language, of a file of errors in English",
    "de",
    [...fields, "Import errors"],
    [...fields, "Fehler beim Import"],
  ],
  [
    "English, of a file of errors in a language",
    "en",
    ["code", "Fehler beim Import", "price"],
    [...fields, "Import errors"],
  ],
  [
    "a language, beside a column that looks like it",
    "de",
    [...fields, "Fehler"],
    [...fields, "Fehler", "Fehler beim Import"],
  ],
])(
  "the file of the errors of an import has the reasons under a heading in %s",
  async (_, language, headings, expected) => {
    const cellOf = (heading: string) =>
      heading === "code" ? null : heading === "price" ? 3 : "old";
    const file = await workbookOf([headings, headings.map(cellOf)]);
    const [first, second] = await cellsOfWorkbook(await importerIn(language).rejected(file));
    expect(first).toEqual(expected);
    expect(second).toEqual([
      ...expected.slice(0, -1).map(cellOf),
      expect.stringMatching(language.startsWith("de") ? /^code: ist erforderlich/ : /^code: /),
    ]);
  },
  90_000,
);

test.each([
  ["de", "csv", "Bezeichnung"],
  ["en", "csv", "Name"],
  ["de", "jsonl", '"name"'],
])(
  "an export in %s as %s calls a field %s",
  async (language, format, heading) => {
    await fixture.sql("delete from items");
    await inLanguage("items/create", { ...good, code: "E1" });
    const started = await inLanguage(
      "items/export",
      { format, select: ["code", "name"] },
      language,
    );
    check(started, { status: 200 });
    const { job_id } = started.body;
    const status = () => fixture.request(`/api/test/items/export-status?job_id=${job_id}`);
    await expect
      .poll(async () => (await status()).body.status, { timeout: 30_000 })
      .toBe("completed");
    const file = await fixture.fetch(`/api/test/items/export-download?job_id=${job_id}`);
    expect((await file.text()).split(/\r?\n/)[0]).toContain(heading);
  },
  90_000,
);

test("an answer is kept for an Idempotency-Key in no language", async () => {
  const data = [{ ...good, code: "K1", price: -1 }];
  const send = (language: string) =>
    fixture.post(
      "items/bulk-create",
      { data, mode: "each" },
      { "idempotency-key": "once", "accept-language": language },
    );
  expect((await send("de")).body.results[0].errors.price).toEqual(["muss mindestens 0 sein"]);
  expect((await send("en")).body.results[0].errors.price).toEqual(["must be at least 0"]);
});

test("without errorDetails and messages, answers are what they were", async () => {
  const plain = await openFixture({ ...options, files: {}, project: {} });
  const answer = await plain.post("items/create", { name: "one" }, { "accept-language": "de" });
  checkEnvelope(answer);
  expect(answer.body.errors).toEqual({ code: ["is required"] });
  expect(answer.headers.get("content-language")).toBeNull();
  expect(answer.headers.get("vary")).toBeNull();
  await plain.close();
});

test("OpenAPI has the labels of the language", async () => {
  const labels = async (language: string) => {
    const { body, headers } = await fixture.request("/api/test/openapi.json", {
      headers: { "accept-language": language },
    });
    expect(headers.get("vary")).toContain("Accept-Language");
    return JSON.stringify(body);
  };
  expect(await labels("en")).toContain('"Price"');
  const text = await labels("de");
  for (const label of ['"Preis"', '"Bezeichnung"', '"Code"']) expect(text).toContain(label);
  expect(text).not.toContain('"Price"');
});

describe("names of endpoints, groups and steps:", () => {
  const goods = { label: "Artikel", group: "Lager", icon: "box" };
  const heads = { label: "Papers", group: "Office" };
  const own = { items: { ...goods, label: "Goods", group: "Stock" }, heads };
  const german = { items: goods, heads, listed: { label: "Liste" } };
  const languages: [header: string, names: object, verb: string][] = [
    ["de-AT", german, "Abschließen"],
    ["fr, de;q=0.2", german, "Abschließen"],
    ["en", own, "Finish"],
    ["pt-BR", own, "Finish"],
  ];
  test.each(languages)("%s", async (language, names, verb) => {
    const headers = { accept: "application/json", "accept-language": language };
    const index = await fixture.request("/", { headers });
    expect(index.headers.get("vary")).toBe("Accept, Accept-Language");
    const menu = index.body.projects[0].endpoints.flatMap((one: Record<string, any>) =>
      one["console"] ? [[one["name"], one["console"]]] : [],
    );
    expect(Object.fromEntries(menu)).toEqual(names);
    const { body } = await fixture.request("/api/test/openapi.json", { headers });
    const tags = body.tags.flatMap(({ "x-rowgate": notes }: Record<string, any>) =>
      notes?.console ? [[notes.endpoint, notes.console]] : [],
    );
    const { papers, ...rest } = Object.fromEntries(tags);
    expect(papers).toEqual({ steps: { done: verb, open: "Reopen" } });
    const { views, ...items } = rest.items;
    expect({ ...rest, items }).toEqual(names);
    expect(views).toMatchObject([{ name: names === german ? "Teuer" : "Dear" }, { name: "Cheap" }]);
  });
});

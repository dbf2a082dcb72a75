/**
 * The client that `rowgate client` writes: the program of docs/clients.md compiles in strict mode and runs against the
 * demo. It no longer compiles when the demo loses a column that it uses.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { clientCode } from "../../app/clients/client-code.ts";
import { shareTypes } from "../../app/clients/shared-types.ts";
import { importFrom } from "../../app/start/settings/component-modules.ts";
import { readConfigFiles } from "../../app/start/settings/config-files.ts";
import type { Listening } from "../../app/start/servers/listening.ts";
import { createLog } from "../../app/start/observing/log.ts";
import { listen } from "../../app/start/servers/node.ts";
import { openService } from "../../app/start/servers/wire.ts";
import { createDemo } from "../../configs/demo/create.ts";
import type { OpenApiDocument } from "../../core/openapi/describe.ts";
import { type Outcome, runAside } from "../running/run-aside.ts";

const root = join(import.meta.dirname, "../..");
const page = readFileSync(join(root, "docs/clients.md"), "utf8");
const [, program = "", printed = ""] =
  /```ts\n(import \{ createClient \} from "\.\/demo-client[^]*?)```[^]*?```text\n([^]*?)```/.exec(
    page,
  ) ?? [];

const folder = mkdtempSync(join(tmpdir(), "rowgate-test-client-"));
const database = join(folder, "demo.db");
let demo: Listening;
beforeAll(async () => {
  createDemo(database);
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  demo = await serve({});
});
afterAll(async () => {
  await demo?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Serves the demo. `products`, `project`: properties that replace those in these files. `copies`: further products. */
async function serve(
  products: object,
  project: object = {},
  copies: readonly string[] = [],
): Promise<Listening> {
  const configs = join(root, "configs");
  const files = new Map(await readConfigFiles(configs));
  const own = JSON.parse(files.get("demo/products.json") ?? "{}") as object;
  files.set("demo/products.json", JSON.stringify({ ...own, ...products }));
  const copy = JSON.stringify({ tableName: "products", action: { read: true, create: true } });
  for (const name of copies) files.set(`demo/${name}.json`, copy);
  const settings = JSON.parse(files.get("demo/project.json") ?? "{}") as object;
  files.set("demo/project.json", JSON.stringify({ ...settings, ...project }));
  const storage = `file:${join(folder, "files")}`;
  const env = { DEMO_DATABASE_URL: `sqlite:${database}`, STORAGE_URL: storage, PORT: "0" };
  const importComponent = importFrom(configs);
  return listen(await openService({ files, env, log: createLog("silent"), importComponent }));
}

const compilerOptions = {
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noUnusedLocals: true,
  noUnusedParameters: true,
  erasableSyntaxOnly: true,
  isolatedModules: true,
  verbatimModuleSyntax: true,
  allowImportingTsExtensions: true,
  noEmit: true,
  target: "esnext",
  module: "nodenext",
  lib: ["esnext"],
  types: ["node"],
};

/** Compiles a program, or that of the page, with a client for that service. */
async function compile(
  name: string,
  { url }: Listening,
  { text = program, options = {} }: { text?: string; options?: object } = {},
): Promise<Outcome> {
  const response = await fetch(`${url}/api/demo/openapi.json`);
  const place = join(folder, name);
  mkdirSync(place);
  const client = clientCode((await response.json()) as OpenApiDocument, "the project demo");
  writeFileSync(join(place, "demo-client.ts"), client);
  writeFileSync(join(place, "program.ts"), text);
  writeFileSync(join(place, "package.json"), '{ "type": "module" }');
  const config = { compilerOptions: { ...compilerOptions, ...options }, files: ["program.ts"] };
  writeFileSync(join(place, "tsconfig.json"), JSON.stringify(config));
  const compiler = join(root, "node_modules/typescript/bin/tsc");
  return runAside(process.execPath, [compiler, "-p", place]);
}

test("the program of docs/clients.md compiles in strict mode, and prints what stands below it", async () => {
  const { stdout, status } = await compile("whole", demo);
  expect([stdout, status]).toEqual(["", 0]);
  const env = { ...process.env, SERVICE_URL: demo.url };
  const ran = await runAside(process.execPath, [join(folder, "whole/program.ts")], env);
  expect(ran.stdout, ran.stderr).toBe(printed);
}, 60_000);

test("compiles for a web page that is built for browsers of 2020", async () => {
  const text = `
import { createClient } from "./demo-client.ts";
export const { products } = createClient({ baseUrl: "" });
`;
  const options = {
    target: "es2020",
    lib: ["es2020", "dom", "dom.iterable"],
    types: [],
    module: "esnext",
    moduleResolution: "bundler",
    noPropertyAccessFromIndexSignature: true,
    noImplicitReturns: true,
  };
  const { stdout, status } = await compile("web", demo, { text, options });
  expect([stdout, status]).toEqual(["", 0]);
}, 60_000);

test("a column that the entity has lost is an error where the program uses it", async () => {
  const hidden = await serve({ hiddenFields: ["price"], exportColumns: ["sku"], console: {} });
  const { stdout, status } = await compile("hidden", hidden).finally(() => hidden.stop());
  expect(status).not.toBe(0);
  // The further lines of an error are indented.
  const errors = stdout.split(/\n(?=\S)/).filter((error) => error.includes("program.ts"));
  expect(errors.length).toBeGreaterThan(2);
  for (const error of errors) expect(error).toMatch(/price/);
}, 60_000);

const pagedProgram = `
import { createClient, type ProductsRead } from "./demo-client.ts";
const { products } = createClient({ baseUrl: "http://localhost" });
const paged = await products.read({ page: 1, per_page: 5 });
if (paged.ok) paged.body.pagination.current_page.toFixed();
const behind = await products.read({ cursor: true, sort_columns: [{ column: "name" }] });
if (behind.ok) behind.body.pagination.next_cursor?.length;
const listed = await products.read({ limit: 3, cursor: null });
// @ts-expect-error: a list without page has no pagination.
if (listed.ok) listed.body.pagination;
// @ts-expect-error: a page by its number has no cursor.
if (paged.ok) paged.body.pagination.next_cursor;
const anything: ProductsRead = JSON.parse("{}");
const answer = await products.read(anything);
// @ts-expect-error: it may be absent.
if (answer.ok) answer.body.pagination.per_page;
if (answer.ok) answer.body.pagination?.per_page.toFixed();
// @ts-expect-error: no such member.
await products.read({ page: 1, pag: 2 });
// @ts-expect-error: no such column.
await products.read({ page: 1, select: ["pric"] });
if (listed.ok) listed.body.data[0]?.price;
`;

test("the pagination of an answer follows from what was sent", async () => {
  const { stdout, status } = await compile("paged", demo, { text: pagedProgram });
  expect([stdout, status]).toEqual(["", 0]);
}, 60_000);

const shownProgram = `
import { createClient, type StockReceiptsRead } from "./demo-client.ts";
type Same<One, Other> = (<T>() => T extends One ? 1 : 2) extends <T>() => T extends Other ? 1 : 2 ? true : false;
const same = <One, Other>(is: Same<One, Other>): boolean => is;
const { stockReceipts, products } = createClient({ baseUrl: "http://localhost" });

const named = await stockReceipts.read({ select: ["receipt_number", "total_amount", "supplier.name", "supplier.city"] });
if (named.ok) {
  type Row = (typeof named.body.data)[number];
  same<keyof Row, "receipt_number" | "total_amount" | "supplier">(true);
  same<Row["total_amount"], number>(true);
  same<keyof NonNullable<Row["supplier"]>, "name" | "city">(true);
  same<NonNullable<Row["supplier"]>["name"], string>(true);
  same<null extends Row["supplier"] ? "may be absent" : "is there", "may be absent">(true);
}

const whole = await stockReceipts.first({ where: { key: "receipt_number", value: "A" }, expand: ["supplier", "lines"], versions: true });
if (whole.ok && whole.body.data !== null) {
  const { receipt_number, supplier, lines, _version } = whole.body.data;
  same<[typeof receipt_number, typeof _version], [string | null, string]>(true);
  supplier?.country.toUpperCase();
  lines[0]?.product_id.toUpperCase();
  // @ts-expect-error: it was not expanded.
  whole.body.data.warehouse;
}

const narrow = await stockReceipts.read({
  page: 1,
  select: ["receipt_number", "supplier.name"],
  expand: { supplier: { select: ["city"] }, lines: { select: ["line_number"], limit: 3, expand: ["product"] } },
});
if (narrow.ok) {
  narrow.body.pagination.current_page.toFixed();
  const [row] = narrow.body.data;
  same<keyof NonNullable<NonNullable<typeof row>["supplier"]>, "name" | "city">(true);
  const [line] = row?.lines ?? [];
  same<keyof NonNullable<typeof line>, "line_number" | "product">(true);
}

const deep = await stockReceipts.read({ select: ["status"], expand: { lines: { limit: 1, expand: { product: { select: ["sku"] } } } } });
if (deep.ok) deep.body.data[0]?.lines[0]?.product;

const amounts = await stockReceipts.read({
  expand: { lines: { operations: [{ function: "sum", formula: "qty_received * unit_price", alias: "sum" }] } },
});
if (amounts.ok) amounts.body.data[0]?.lines["sum"];

const figures = await products.read({ select: ["sku"], expand: { receipt_lines: { operations: [{ function: "count", field: "*", alias: "n" }] } } });
if (figures.ok) {
  figures.body.data[0]?.receipt_lines["n"];
  // @ts-expect-error: they are figures, no list.
  figures.body.data[0]?.receipt_lines[0]?.line_id;
}

const all = await products.read({ limit: 1 });
if (all.ok) {
  all.body.data[0]?.sku.toUpperCase();
  // @ts-expect-error: only with versions.
  all.body.data[0]?._version;
  // @ts-expect-error: only with select or expand.
  all.body.data[0]?.supplier;
}

// What is only known while the program runs may be anything.
const request: StockReceiptsRead = JSON.parse("{}");
const answer = await stockReceipts.read(request);
if (answer.ok) {
  same<undefined extends (typeof answer.body.data)[number]["receipt_number"] ? true : false, true>(true);
  answer.body.data[0]?.supplier?.name;
}

// @ts-expect-error: no such relation.
await stockReceipts.read({ limit: 1, expand: ["suppliers"] });
// @ts-expect-error: no such column of the related record.
await stockReceipts.read({ limit: 1, select: ["supplier.nam"] });
// @ts-expect-error: the relation leads to one record.
await stockReceipts.read({ limit: 1, expand: { supplier: { limit: 3 } } });
`;

test("a record has the members that select and expand name", async () => {
  const { stdout, status } = await compile("shown", demo, { text: shownProgram });
  expect([stdout, status]).toEqual(["", 0]);
}, 60_000);

test("endpoints have the names of TypeScript's own types, and no relations", async () => {
  const names = ["extract", "generator", "omit", "exclude", "readonly", "return-type"];
  const others = ["abort-signal", "date", "promise", "record", "columns", "class"];
  const named = await serve({}, {}, [...names, ...others]);
  const text = `
import { createClient } from "./demo-client.ts";
const { extract } = createClient({ baseUrl: "http://localhost" });
// Its records have no relations, and the members that select names.
const listed = await extract.read({ limit: 1, select: ["price"], versions: true });
if (listed.ok) {
  listed.body.data[0]?.price.toFixed();
  listed.body.data[0]?._version.trim();
  // @ts-expect-error: it was not selected.
  listed.body.data[0]?.name;
}
`;
  const { stdout, status } = await compile("named", named, { text }).finally(() => named.stop());
  expect([stdout, status]).toEqual(["", 0]);
}, 60_000);

const batchProgram = `
import { createClient } from "./demo-client.ts";
const client = createClient({ baseUrl: process.env["SERVICE_URL"] ?? "" });
const answer = await client.batch(
  [
    { id: "c", endpoint: "categories", action: "create", body: { code: "BATCH", name: "Batched" } },
    {
      endpoint: "categories",
      action: "update",
      body: { category_id: { $ref: "c.data.category_id" }, description: { $ref: "c.data.name" } },
    },
    { endpoint: "categories", action: "read", body: { page: 1, where: { conditions: [{ key: "name", operator: "=", value: { $ref: "c.data.name" } }] } } },
  ],
  { dry_run: true },
);
if (!answer.ok) throw new Error(JSON.stringify(answer.error));
const [created, updated, listed] = answer.body.data;
const name: string | null | undefined = created.body.data?.name;
console.log(name, updated.body.data?.description, listed.body.data.length, answer.body.dry_run);
const reads = await client.batch(
  [
    { endpoint: "products", action: "read", body: { page: 1, per_page: 1 } },
    { endpoint: "products", action: "read", body: { page: 0 } },
  ],
  { independent: true },
);
if (!reads.ok) throw new Error(JSON.stringify(reads.error));
const [, faulty] = reads.body.data;
console.log(faulty.status, faulty.body.success ? "" : faulty.body.error);
const failing = await client.batch([{ id: "x", endpoint: "categories", action: "update", body: { category_id: "none", name: "x" } }]);
if (!failing.ok) console.log(failing.status, failing.error.failed_step?.id);
// @ts-expect-error: no such endpoint.
await client.batch([{ endpoint: "categoris", action: "read", body: { page: 1 } }], { dry_run: true });
// @ts-expect-error: no such action.
await client.batch([{ endpoint: "categories", action: "datatables", body: {} }], { dry_run: true });
// @ts-expect-error: no such column.
await client.batch([{ endpoint: "categories", action: "create", body: { nam: "x" } }], { dry_run: true });
`;

test("a batch takes typed steps with references, and gives typed answers", async () => {
  const batching = await serve({}, { batch: { enabled: true } });
  try {
    const { stdout, status } = await compile("batch", batching, { text: batchProgram });
    expect([stdout, status]).toEqual(["", 0]);
    const env = { ...process.env, SERVICE_URL: batching.url };
    const ran = await runAside(process.execPath, [join(folder, "batch/program.ts")], env);
    expect(ran.stdout, ran.stderr).toBe("Batched Batched 1 true\n400 Invalid parameter\n404 x\n");
  } finally {
    await batching.stop();
  }
}, 60_000);

describe("types that several have alike", () => {
  const named = (name: string, ...members: string[]) => ({
    name,
    text: `{\n${members.join("\n")}\n}`,
  });
  const textsOf = (types: { name: string; text: string }[]): Record<string, string> =>
    Object.fromEntries(
      shareTypes(types, new Set(types.map(({ name }) => name))).map(({ name, text }) => [
        name,
        text,
      ]),
    );

  test("become one with parameters for texts and for other types", () => {
    const types = ["A", "B", "C"].flatMap((one) => [
      { name: one, text: `"${one}"` },
      named(
        `${one}Where`,
        `key: "${one}" | "id";`,
        `"op": "=" | "<";`,
        `of?: ${one}[];`,
        `/** key "x" */`,
      ),
    ]);
    const found = textsOf(types);
    expect(found["AWhere"]).toBe(`WherePart<"A" | "id", A>`);
    expect(found["WherePart<A, B>"]).toBe(
      `{\nkey: A;\n"op": "=" | "<";\nof?: B[];\n/** key "x" */\n}`,
    );
  });

  test.each([
    ["two only", ["A", "B"], (one: string) => named(one, `key: "${one}";`, "value: string;")],
    ["a bracket in a text", ["A", "B", "C"], (one: string) => named(one, `key: "${one}{";`)],
    ["itself", ["A", "B", "C"], (one: string) => named(one, `key: "k";`, `next: ${one};`)],
    [
      "too many parameters",
      ["A", "B", "C"],
      (one: string) => named(one, ...[1, 2, 3, 4, 5, 6, 7].map((at) => `k${at}: "${one}${at}";`)),
    ],
  ])("stay as they are: %s", (_, names, make) => {
    const types = names.map(make);
    expect(shareTypes(types, new Set(names))).toEqual(types);
  });

  test("keep the fields of a record, which others name", () => {
    const fields = ["a", "b", "c", "d", "e", "f"].map((one) => `${one}: number;`);
    const record = named("Order", ...fields);
    const answer = { name: "OrderAnswer", text: `{\nok: true;\ndata: ${record.text};\n}` };
    expect(textsOf([record, answer])).toEqual({
      Order: record.text,
      OrderAnswer: "{\nok: true;\ndata: Order;\n}",
    });
  });
});

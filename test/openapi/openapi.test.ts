/**
 * The OpenAPI document without a database: linter, names, examples, size. The contract tests compare it with answers.
 */
import { createDemo } from "../../configs/demo/create.ts";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { importFrom } from "../../app/start/settings/component-modules.ts";
import { readConfigFiles } from "../../app/start/settings/config-files.ts";
import { openService } from "../../app/start/servers/wire.ts";
import { textMatching } from "../../core/openapi/pattern-example.ts";
import { camelCase, distinctNames, pascalCase } from "../../core/openapi/naming.ts";
import { exampleOf } from "../../core/openapi/schema-example.ts";
import type { JsonSchema } from "../../core/values/json-schema.ts";
import { faultsIn } from "./lint.ts";
import { openDocument } from "./openapi-document.ts";

const configs = join(import.meta.dirname, "../../configs");

describe("the document of the demo", () => {
  let folder: string;
  let text: string;
  let older: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "rowgate-test-openapi-"));
    createDemo(join(folder, "demo.db"));
    const service = await openService({
      files: await readConfigFiles(configs),
      env: { DEMO_DATABASE_URL: `sqlite:${join(folder, "demo.db")}`, LOG_LEVEL: "silent" },
      importComponent: importFrom(configs),
    });
    await service.ready;
    text = await (await service.app.request("/openapi.json")).text();
    older = await (await service.app.request("/openapi.json?version=3.0")).text();
    await service.close();
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test.for(["3.1.0", "3.0.3"])("passes the linter of Redocly as version %s", async (version) => {
    const source = version === "3.1.0" ? text : older;
    expect((JSON.parse(source) as { openapi: string }).openapi).toBe(version);
    expect(await faultsIn(source)).toEqual([]);
  });

  test("has a different operationId for each operation", () => {
    const ids = openDocument(JSON.parse(text)).operations.map(({ id }) => id);
    expect(ids.length).toBeGreaterThan(70);
    expect(ids.length - new Set(ids).size).toBe(0);
    expect(ids).toContain("demoStockReceiptsCreateComposite");
  });

  test("takes no more than 10,000 bytes for an endpoint with relations, as it is sent", () => {
    expect(gzipSync(text).length / 6).toBeLessThan(10_000);
  });
});

test.each([
  ["visit-create-composite", "VisitCreateComposite", "visitCreateComposite"],
  ["lock/acquire", "LockAcquire", "lockAcquire"],
  ["stock_receipts", "StockReceipts", "stockReceipts"],
  ["purchaseOrders", "PurchaseOrders", "purchaseOrders"],
])("the name %s is %s, and %s of an operation", (name, pascal, camel) => {
  expect([pascalCase(name), camelCase(name)]).toEqual([pascal, camel]);
});

test("names that are the same without their signs get numbers, and one of signs alone a name", () => {
  expect([...distinctNames(["a-b", "a_b", "aB", "_", "a-404", "a_404"]).values()]).toEqual([
    "AB",
    "AB2",
    "AB3",
    "Unnamed",
    "A404",
    "A404_2",
  ]);
});

test.each([
  ["^[A-Z]{3}-[0-9]{4}$", "AAA-1111"],
  ["^(draft|posted)$", "draft"],
  ["^\\d+(\\.\\d{2})?$", "1.11"],
  ["^[^a-z ]x*$", "A1"],
  ["^(?:EU)?[\\w.]+$", "EUA"],
])("an example of the pattern %s", (pattern) => {
  const text = textMatching(pattern);
  expect(text).toMatch(new RegExp(pattern, "u"));
});

test.each(["^(?=.*x).+$", "^(a)\\1$", "^\\p{Lu}+$"])(
  "the pattern %s has no example, rather than a wrong one",
  (pattern) => {
    const text = textMatching(pattern);
    expect(text === null || new RegExp(pattern, "u").test(text)).toBe(true);
  },
);

test("a pattern that would stop other engines is answered at once", () => {
  const startedMs = performance.now();
  textMatching("^(a+)+$".repeat(1));
  textMatching(`^(${"a".repeat(30)}|a+)+b$`);
  expect(performance.now() - startedMs).toBeLessThan(1_000);
});

test.each<[string, JsonSchema, unknown]>([
  [
    "a number within a narrow range",
    { type: "number", minimum: 0.25, maximum: 0.75, multipleOf: 0.25 },
    0.75,
  ],
  ["a number above zero", { type: "integer", exclusiveMinimum: 99 }, 100],
  ["a short text", { type: "string", maxLength: 3 }, "Val"],
  ["a long text", { type: "string", minLength: 8 }, "Valuexxx"],
  ["a text of no form that is known", { type: "string", format: "hostname" }, undefined],
  [
    "a text that is both a date and a pattern",
    { type: "string", format: "date", pattern: "^2" },
    undefined,
  ],
  [
    "a list of different items",
    { type: "array", items: { type: "string" }, minItems: 2, uniqueItems: true },
    undefined,
  ],
  ["a range that holds nothing", { type: "integer", minimum: 3, maximum: 2 }, undefined],
  [
    "an object whose member has no example",
    { type: "object", properties: { a: { type: "string", format: "hostname" } }, required: ["a"] },
    undefined,
  ],
  ["a label", { enum: [null, "red"] }, "red"],
])("the example of %s", (_title, schema, expected) => {
  expect(exampleOf(schema)).toEqual(expected);
});

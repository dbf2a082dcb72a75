/** The collection of `rowgate openapi --format postman`: its requests, sent unchanged, reach the actions. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { postmanCollection } from "../../app/clients/postman.ts";
import { createLog } from "../../app/start/observing/log.ts";
import { printOpenApi } from "../../app/start/commands/print-openapi.ts";
import { openService, type Service } from "../../app/start/servers/wire.ts";
import { importFrom } from "../../app/start/settings/component-modules.ts";
import { readConfigFiles } from "../../app/start/settings/config-files.ts";
import type { OpenApiDocument } from "../../core/openapi/describe.ts";
import { createDemo } from "../../configs/demo/create.ts";

interface Item {
  readonly name: string;
  readonly request: {
    readonly method: string;
    readonly header: readonly { key: string; value: string; disabled?: boolean }[];
    readonly url: { readonly raw: string };
    readonly body?: { readonly mode: string; readonly raw?: string };
  };
}
interface Collection {
  readonly info: { readonly name: string; readonly schema: string };
  readonly variable: readonly { key: string; value: string }[];
  readonly auth?: object;
  readonly item: readonly { readonly name: string; readonly item: readonly Item[] }[];
}

const folder = mkdtempSync(join(tmpdir(), "rowgate-test-postman-"));
const configs = join(import.meta.dirname, "../../configs");
const env = {
  CONFIG_DIR: configs,
  DEMO_DATABASE_URL: `sqlite:${join(folder, "demo.db")}`,
  STORAGE_URL: `file:${join(folder, "files")}`,
};
let demo: Service;
let collection: Collection;
beforeAll(async () => {
  createDemo(join(folder, "demo.db"));
  const out = join(folder, "collection.json");
  await printOpenApi(["--format", "postman", "--project", "demo", "--out", out], { ...env });
  collection = JSON.parse(readFileSync(out, "utf8")) as Collection;
  const files = await readConfigFiles(configs);
  const importComponent = importFrom(configs);
  demo = await openService({ files, env, log: createLog("silent"), importComponent });
});
afterAll(async () => {
  await demo?.close();
  rmSync(folder, { recursive: true, force: true });
});

test("the collection has a folder for each endpoint and a request for each action", () => {
  expect(collection.info).toEqual({
    name: "demo",
    schema: "https://schema.getpostman.com/json/collection/v2.1.0/collection.json",
  });
  expect(collection.item.map(({ name }) => name)).toEqual([
    "categories",
    "products",
    "receipts-by-supplier",
    "stock-receipt-lines",
    "stock-receipts",
    "suppliers",
    "warehouses",
    "lock",
    "batch",
    "changes",
  ]);
  expect(collection.item[0]!.item.map(({ name }) => name)).toEqual([
    "create",
    "read",
    "first",
    "update",
    "delete",
    "lookupSearch",
    "lookup",
  ]);
  expect(collection.variable).toEqual([{ key: "baseUrl", value: "http://localhost:3000" }]);
  expect(collection).not.toHaveProperty("auth");
});

test("each request is understood by the service as it stands", async () => {
  const refused: string[] = [];
  for (const { request } of collection.item.flatMap(({ item }) => item)) {
    const { method, header, url, body } = request;
    if (body?.mode === "formdata") continue;
    const sent = header.filter(({ disabled }) => disabled !== true);
    const response = await demo.app.request(url.raw.replace("{{baseUrl}}", ""), {
      method,
      headers: sent.map(({ key, value }): [string, string] => [key, value]),
      ...(body && { body: body.raw }),
    });
    const { error, message } = (await response.json().catch(() => ({}))) as Record<string, string>;
    const isUnknownPath =
      response.status === 404 &&
      /^Unknown (project|endpoint|action)|No resource|switched off/.test(message ?? "");
    if (
      isUnknownPath ||
      [405, 415, 500].includes(response.status) ||
      error === "Invalid Request Mode"
    )
      refused.push(`${url.raw}: ${response.status} ${message}`);
  }
  expect(refused).toEqual([]);
});

test("where a project asks for credentials, the collection has a variable for the key", () => {
  const document: OpenApiDocument = {
    openapi: "3.1.0",
    info: {},
    servers: [],
    security: [],
    tags: [],
    paths: {},
    components: {
      securitySchemes: { apiKey: { type: "apiKey", in: "header", name: "X-Api-Key" } },
    },
  };
  const { variable, auth } = postmanCollection(document, "shop") as Collection;
  expect(variable.map(({ key }) => key)).toEqual(["baseUrl", "apiKey"]);
  expect(JSON.stringify(auth)).toContain("{{apiKey}}");
});

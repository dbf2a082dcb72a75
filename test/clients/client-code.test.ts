/**
 * The client that `rowgate client` writes, in use: the program of docs/clients.md is compiled in strict mode and run against the
 * demo, and does not compile any more when the demo has lost a column that it uses.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { clientCode } from "../../app/clients/client-code.ts";
import { importFrom } from "../../app/start/component-modules.ts";
import { readConfigFiles } from "../../app/start/config-files.ts";
import type { Listening } from "../../app/start/listening.ts";
import { createLog } from "../../app/start/log.ts";
import { listen } from "../../app/start/node.ts";
import { openService } from "../../app/start/wire.ts";
import { createDemo } from "../../configs/demo/create.ts";
import type { OpenApiDocument } from "../../core/openapi/describe.ts";
import { type Outcome, runAside } from "../run-aside.ts";

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

/** The demo; `products`: what the endpoint's file says in place of its own. */
async function serve(products: object): Promise<Listening> {
  const configs = join(root, "configs");
  const files = new Map(await readConfigFiles(configs));
  const own = JSON.parse(files.get("demo/products.json") ?? "{}") as object;
  files.set("demo/products.json", JSON.stringify({ ...own, ...products }));
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

/** Compiles the program of the page with a client for that service. */
async function compile(name: string, { url }: Listening): Promise<Outcome> {
  const response = await fetch(`${url}/api/demo/openapi.json`);
  const place = join(folder, name);
  mkdirSync(place);
  const client = clientCode((await response.json()) as OpenApiDocument, "the project demo");
  writeFileSync(join(place, "demo-client.ts"), client);
  writeFileSync(join(place, "program.ts"), program);
  writeFileSync(join(place, "package.json"), '{ "type": "module" }');
  const config = { compilerOptions, files: ["program.ts"] };
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

test("a column that the entity has lost is an error where the program uses it", async () => {
  const hidden = await serve({ hiddenFields: ["price"] });
  const { stdout, status } = await compile("hidden", hidden).finally(() => hidden.stop());
  expect(status).not.toBe(0);
  const errors = stdout.split("\n").filter((line) => line.includes("program.ts"));
  expect(errors.length).toBeGreaterThan(2);
  for (const error of errors) expect(error).toMatch(/price/);
}, 60_000);

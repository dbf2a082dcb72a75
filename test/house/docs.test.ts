/**
 * The pages of the actions are correct: each action has one, each row of its tables names an existing test, and the
 * examples, sent to the demo project, give the printed answers. So do the examples of `docs/components.md`, which are
 * files of the demo. A comment below each table, hidden from readers, names the tests of its rows.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { importFrom } from "../../app/start/settings/component-modules.ts";
import { readConfigFiles } from "../../app/start/settings/config-files.ts";
import { createLog } from "../../app/start/observing/log.ts";
import { checkConfig } from "../../app/start/commands/check-config.ts";
import { openService, type Service } from "../../app/start/servers/wire.ts";
import { createDemo } from "../../configs/demo/create.ts";
import { actionNames, actions } from "../../core/actions.ts";
import { workbookOf } from "../contract/imports.ts";
import { testedTablesOf, type TestOfRow } from "./page-tables.ts";

const root = join(import.meta.dirname, "../..");
const readText = (path: string) => readFileSync(join(root, path), "utf8");
const pages = readdirSync(join(root, "docs/actions")).map((file) => ({
  file,
  text: readText(`docs/actions/${file}`),
}));

test("each action has a page in docs/actions, and each page an action", () => {
  expect(pages.map(({ file }) => file.replace(".md", "")).toSorted()).toEqual(
    [...actionNames].map((name) => name.replace("/", "-")).toSorted(),
  );
});

describe.each(pages)("docs/actions/$file", ({ text }) => {
  test("each row of the page's tables has a line in the comment below, which names a test that exists", () => {
    const tables = testedTablesOf(text);
    expect(tables.flatMap(({ rows }) => rows).length).toBeGreaterThan(10);
    for (const { rows, tests } of tables) expect(tests.map(({ row }) => row)).toEqual(rows);
    expect(tables.flatMap(({ tests }) => tests).filter((named) => !isThere(named))).toEqual([]);
  });

  test("the page's examples give the answers that stand below them", async () => {
    expect(examplesOf(text).length).toBeGreaterThan(0);
    await follow(text, (got, printed) => expect(got).toMatchObject(printed));
  });
});

describe("docs/components.md", () => {
  const text = readText("docs/components.md");

  test("the page shows the component of the demo, and how suppliers.json names it", () => {
    const [, shown = ""] = /```ts\n([^]*?)```/.exec(text) ?? [];
    expect(shown).toBe(readText("configs/demo/components/suppliers.ts"));
    const [, named = ""] = /```json\n("components"[^]*?)```/.exec(text) ?? [];
    const { components } = JSON.parse(readText("configs/demo/suppliers.json"));
    expect(JSON.parse(`{${named}}`)).toEqual({ components });
  });

  const examples = examplesOf(text);
  test("the examples give the answers below them", async () => {
    await follow(text, (got, printed) => expect(got).toEqual(printed));
  });

  test("the page has three examples", () => {
    expect(examples).toHaveLength(3);
  });
});

test("docs/documents.md: the demo is configured as the page shows it", () => {
  const [, shown = ""] =
    /```json\n("masterDetail"[^]*?)```/.exec(readText("docs/documents.md")) ?? [];
  const demoFile = JSON.parse(readText("configs/demo/stock-receipts.json"));
  expect(demoFile).toMatchObject(JSON.parse(`{${shown}}`));
});

test("docs/documents.md: each command gives the answer that stands below it", async () => {
  const text = readText("docs/documents.md");
  expect(examplesOf(text)).toHaveLength(4);
  await follow(text, (got, printed) => expect(got).toEqual(printed));
});

test("docs/hooks.md: the configuration is good", async () => {
  const [, hooked = ""] = /```json\n([^]*?)```/.exec(readText("docs/hooks.md")) ?? [];
  expect(hooked).toContain("{{record.");
  const project = JSON.stringify({ database: { url: `sqlite:${join(folder, "demo.db")}` } });
  const files = new Map([
    ["demo/project.json", project],
    ["demo/hooked.json", hooked],
  ]);
  const { faults } = await checkConfig({ files, env: {} });
  expect(faults).toEqual([]);
});

test("docs/idempotency.md: each command gives the answer that stands below it", async () => {
  const text = readText("docs/idempotency.md");
  expect(examplesOf(text)).toHaveLength(3);
  await follow(text, (got, printed) => expect(got).toMatchObject(printed));
});

test.each([
  ["idempotency", "Idempotency-Key"],
  ["dry-runs", "Prefer"],
] as const)("docs/%s.md: names each action that takes %s", (page, header) => {
  const text = readText(`docs/${page}.md`);
  const taking = actions.filter(({ headers }) => headers.has(header)).map(({ name }) => name);
  expect(taking.filter((name) => !text.includes(`[\`${name}\`](actions/${name}.md)`))).toEqual([]);
});

test.each([
  ["idempotency", 1],
  ["changes", 3],
])("docs/%s.md: the statements are those of the engines", (page, tables) => {
  const statements = readText(`docs/${page}.md`).match(/^create table .*(?=;)/gm);
  const engines = ["postgres", "mysql", "sqlite"].map((name) =>
    readText(`db/engines/${name}/engine.ts`),
  );
  expect(statements).toHaveLength(engines.length * tables);
  for (const [at, statement] of statements!.entries())
    expect(engines[Math.floor(at / tables)]).toContain(`"${statement}"`);
});

test("docs/other-tools.md: each command gives the answer that stands below it", async () => {
  const text = readText("docs/other-tools.md");
  expect(examplesOf(text)).toHaveLength(2);
  await follow(text, (got, printed) => expect(got).toEqual(printed));
});

test("docs/agents.md: the configuration is good", async () => {
  const files = await readConfigFiles(join(root, "configs"));
  const [project, endpoint] = [
    ...readText("docs/agents.md").matchAll(/```json\n(\{ "mcp"[^]*?|\{\n  "tableName"[^]*?)```/g),
  ];
  const database = { url: `sqlite:${join(folder, "demo.db")}` };
  const apiKeys = [{ id: "agent", sha256: "0".repeat(64), roles: ["agent"] }];
  const found = await checkConfig({
    files: new Map([
      ...files,
      [
        "demo/project.json",
        JSON.stringify({ ...JSON.parse(project![1]!), database, auth: { apiKeys } }),
      ],
      ["demo/agent-products.json", endpoint![1]!],
    ]),
    env: {},
    importComponent: importFrom(join(root, "configs")),
  });
  expect(found.faults).toEqual([]);
});

test("docs/workflows.md: each command gives the answer that stands below it", async () => {
  const text = readText("docs/workflows.md");
  expect(examplesOf(text).length).toBeGreaterThan(3);
  await follow(text, (got, printed) => expect(got).toMatchObject(printed));
});

test("the export of docs/exports.md gives the file that stands there", async () => {
  const text = readText("docs/exports.md");
  const jobId = await follow(text, (got, printed) => expect(got).toMatchObject(printed));
  const [, path = "", file = ""] =
    /localhost:3000([^\s"]+)"\n```\n\n```csv\n([^]*?)```/.exec(text) ?? [];
  const response = await demo.app.request(path.replace("$JOB_ID", jobId));
  expect((await response.text()).replaceAll("\r\n", "\n")).toBe(file);
});

test("the import of docs/imports.md goes as it stands there", async () => {
  const text = readText("docs/imports.md");
  expect(examplesOf(text).length).toBeGreaterThan(4);
  await follow(text, (got, printed) => expect(got).toMatchObject(printed));
});

/**
 * Sends the page's examples in order and compares each answer with the printed one. Resolves with the last job's id.
 */
async function follow(
  text: string,
  compare: (got: object, printed: object) => void,
): Promise<string> {
  let jobId = "";
  let uploadId = "";
  /** Tokens of locks by those that are printed on the page. */
  const tokens = new Map<string, string>();
  for (const { path, headers, body, sendsFile, answer } of examplesOf(text)) {
    const given = body
      .replace("$JOB_ID", jobId)
      .replace("$UPLOAD_ID", uploadId)
      .replace(/"[\da-f-]{36}"/g, (printed) => tokens.get(printed) ?? printed);
    const sent = sendsFile ? await fileIn(text) : given;
    const got = await settled(path.replace("$JOB_ID", jobId), { headers, body: sent });
    compare(withoutChance(got) as object, withoutChance(answer) as object);
    if (typeof got["job_id"] === "string") jobId = got["job_id"];
    if (typeof got["upload_id"] === "string") uploadId = got["upload_id"];
    const [printed, token] = [answer, got].map(({ data }) => JSON.stringify(data?.lock_token));
    if (printed && token) tokens.set(printed, token);
  }
  return jobId;
}

// oxlint-disable-next-line no-explicit-any -- the pages show answers of every shape
type Body = Record<string, any>;

/** Sends the request. For a job, repeats it until the job has ended, as a reader of the page does. */
async function settled(
  path: string,
  { headers, body }: { headers: [string, string][]; body: string | FormData },
): Promise<Body> {
  for (;;) {
    const init = body === "" ? { headers } : { method: "POST", headers, body };
    const got = (await (await demo.app.request(path, init)).json()) as Body;
    const isUnderWay = ["pending", "processing", "validating"].includes(String(got["status"]));
    if (!path.includes("-status") || !isUnderWay) return got;
    await sleep(20);
  }
}

/** The workbook that the page shows as a table. */
async function fileIn(text: string): Promise<FormData> {
  const [, csv = ""] = /```csv\n([^]*?)```/.exec(text) ?? [];
  const rows = csv
    .trim()
    .split("\n")
    .map((line) => line.split(",").map((cell) => (/^[\d.]+$/.test(cell) ? Number(cell) : cell)));
  const form = new FormData();
  form.append("file", new File([await workbookOf(rows)], "products.xlsx"));
  return form;
}

let demo: Service;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "rowgate-docs-"));
  createDemo(join(folder, "demo.db"));
  const files = await readConfigFiles(join(root, "configs"));
  const importComponent = importFrom(join(root, "configs"));
  const env = {
    DEMO_DATABASE_URL: `sqlite:${join(folder, "demo.db")}`,
    STORAGE_URL: `file:${join(folder, "files")}`,
  };
  demo = await openService({ files, env, log: createLog("silent"), importComponent });
  await demo.ready;
});
afterAll(async () => {
  await demo?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Whether the file of test/contract has a test of this title. */
function isThere({ file, title }: TestOfRow): boolean {
  return readText(`test/contract/${file}.test.ts`).includes(`"${title}"`);
}

/** Each request of curl, with the answer in JSON that follows it. */
function examplesOf(text: string) {
  const pairs = text.matchAll(/```sh\n(curl[^]*?)```[^]*?```json\n([^]*?)```/g);
  return [...pairs].map(([, request = "", answer = ""]) => {
    const [, path = ""] = /localhost:3000([^\s"']+)/.exec(request) ?? [];
    const [, quote, quoted = ""] = /-d (["'])([^]*?)\1\s*$/.exec(request) ?? [];
    const body = quote === '"' ? quoted.replaceAll('\\"', '"') : quoted;
    const headers = [...request.matchAll(/-H '([\w-]+): ([^']+)'/g)].map(
      ([, name = "", value = ""]): [string, string] => [name, value],
    );
    const sendsFile = request.includes(" -F ");
    return { path, headers, body, sendsFile, answer: JSON.parse(answer) };
  });
}

/** Generated ids, fences and the times of this run, which no page can know. */
function withoutChance(value: unknown): unknown {
  const text = JSON.stringify(value)
    .replace(/"(updated_at|timestamp|created_at|acquired_at)":"[^"]*"/g, '"$1":"<time>"')
    .replace(/"fence":\d+/g, '"fence":"<fence>"')
    .replace(/[\da-f]{8}-[\da-f-]{27}/g, "<uuid>");
  return JSON.parse(text);
}

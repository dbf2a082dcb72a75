/**
 * The pages of the actions tell the truth: each action has one, each row of its tables names a test that exists, and the worked
 * examples, sent to the demo project, give the answers that stand below them.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createLog } from "../app/log.ts";
import { openService, type Service } from "../app/wire.ts";
import { createDemo } from "../configs/demo/create.ts";
import { actionNames } from "../core/actions.ts";

const root = join(import.meta.dirname, "..");
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
  test("the page names a test that exists in each row of its tables", () => {
    const rows = rowsOf(text);
    expect(rows.length).toBeGreaterThan(10);
    expect(rows.filter((row) => !isShown(row))).toEqual([]);
  });

  test("the page's examples give the answers that stand below them", async () => {
    const examples = examplesOf(text);
    expect(examples.length).toBeGreaterThan(0);
    /** Tokens by those that are printed on the page. */
    const tokens = new Map<string, string>();
    for (const { path, headers, body, answer } of examples) {
      const response = await demo.app.request(path, {
        method: "POST",
        headers,
        body: body.replace(/"[\da-f-]{36}"/g, (printed) => tokens.get(printed) ?? printed),
      });
      const got = await response.json();
      expect(withoutChance(got)).toMatchObject(withoutChance(answer) as object);
      const [printed, token] = [answer, got].map(({ data }) => JSON.stringify(data?.lock_token));
      if (printed && token) tokens.set(printed, token);
    }
  });
});

let demo: Service;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "rowgate-docs-"));
  createDemo(join(folder, "demo.db"));
  const names = readdirSync(join(root, "configs/demo")).filter((name) => name.endsWith(".json"));
  const files = new Map(names.map((name) => [`demo/${name}`, readText(`configs/demo/${name}`)]));
  const env = { DEMO_DATABASE_URL: `sqlite:${join(folder, "demo.db")}` };
  demo = await openService({ files, env, log: createLog("silent") });
  await demo.ready;
});
afterAll(async () => {
  await demo?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Rows of tables, without the heading and the line below it. */
function rowsOf(text: string): string[] {
  const lines = text.split("\n");
  return lines.filter(
    (line, at) =>
      line.startsWith("|") && !line.startsWith("| -") && !lines[at + 1]?.startsWith("| -"),
  );
}

/** Whether the row's last cell, `file`: title, names a test of that file. */
function isShown(row: string): boolean {
  const cell = row.split("|").at(-2)?.trim() ?? "";
  const [, file, title] = /^`([\w-]+)`: (.+)$/.exec(cell) ?? [];
  return title !== undefined && readText(`test/contract/${file}.test.ts`).includes(`"${title}"`);
}

/** Each request of curl, with the answer in JSON that follows it. */
function examplesOf(text: string) {
  const pairs = text.matchAll(/```sh\n(curl[^]*?)```[^]*?```json\n([^]*?)```/g);
  return [...pairs].map(([, request = "", answer = ""]) => {
    const [, path = "", body = ""] = /localhost:3000(\S+)[^]*?-d '([^']*)'/.exec(request) ?? [];
    const headers = [...request.matchAll(/-H '([\w-]+): ([^']+)'/g)].map(
      ([, name = "", value = ""]): [string, string] => [name, value],
    );
    return { path, headers, body, answer: JSON.parse(answer) };
  });
}

/** Generated ids, fences and the times of this run, which no page can know. */
function withoutChance(value: unknown): unknown {
  const text = JSON.stringify(value)
    .replace(/"(updated_at|timestamp|created_at|acquired_at)":"[^"]*"/g, '"$1":"<time>"')
    .replace(/"fence":\d+/g, '"fence":"<fence>"')
    .replace(/"[\da-f]{8}-[\da-f-]{27}"/g, '"<uuid>"');
  return JSON.parse(text);
}

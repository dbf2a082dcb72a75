/**
 * Runs the README and the tour: each `sh` block directly followed by a `json` block runs against the demo project and
 * must print that JSON. On a machine without curl, `curl.ts` replaces it. The README's steps for your own database use
 * SQLite.
 */
import { spawnSync } from "node:child_process";
import { globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { afterAll, beforeAll, expect, test } from "vitest";
import { importFrom } from "../../app/start/settings/component-modules.ts";
import { readConfigFiles } from "../../app/start/settings/config-files.ts";
import { createLog } from "../../app/start/observing/log.ts";
import type { Listening } from "../../app/start/servers/listening.ts";
import { listen } from "../../app/start/servers/node.ts";
import { runInit } from "../../app/start/commands/init.ts";
import { openService } from "../../app/start/servers/wire.ts";
import { createDemo } from "../../configs/demo/create.ts";
import { actionNames } from "../../core/actions.ts";
import { runAside } from "../running/run-aside.ts";

const root = join(import.meta.dirname, "../..");
const folder = mkdtempSync(join(tmpdir(), "rowgate-test-readme-"));
let listening: Listening;

beforeAll(async () => {
  const database = join(folder, "demo.db");
  createDemo(database);
  const env = { DEMO_DATABASE_URL: `sqlite:${database}`, PORT: "0" };
  const configs = join(root, "configs");
  const files = await readConfigFiles(configs);
  const importComponent = importFrom(configs);
  listening = await listen(
    await openService({ files, env, log: createLog("silent"), importComponent }),
  );
});

afterAll(async () => {
  await listening?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const readText = (path: string) => readFileSync(join(root, path), "utf8");
const readme = readText("README.md");
const tour = readText("docs/tour.md");
const pairs = [
  ...(readme + tour).matchAll(/^```sh\n(curl [^`]*)```\n\n```json\n([^`]*)```$/gm),
].map(([, command = "", answer = ""]) => ({
  command,
  answer,
  title: /api\/\S+/.exec(command)?.[0] ?? command,
}));
const hasCurl = spawnSync("curl", ["--version"]).status === 0;

test("the README and the tour show the six basic actions with their answers", () => {
  const shown = new Set(pairs.map(({ title }) => title.split("/").at(-1)));
  expect([...shown].toSorted()).toEqual(["adjust", "create", "delete", "first", "read", "update"]);
});

test("the README and the index say how many actions there are", () => {
  for (const page of [readme, readText("docs/README.md")])
    expect(countsIn(page)).toEqual([String(actionNames.length)]);
  expect(countsIn(tour)).toEqual([]);
});

/** Every number of actions that the page names; a smaller one would be taken for all of them. */
const countsIn = (page: string): string[] =>
  [
    ...page.matchAll(
      /\b(\d+|two|three|four|five|six|seven|eight|nine|ten)\s+(?:\w+\s+)?actions\b/gi,
    ),
  ].map(([, count = ""]) => count);

test("the index links to every page", () => {
  const index = readText("docs/README.md");
  const pages = globSync("**/*.md", { cwd: join(root, "docs"), exclude: ["README.md"] });
  expect(pages.filter((page) => !index.includes(`](${page})`))).toEqual([]);
});

test("the README's steps for your own database give its rows", async () => {
  const [, section = ""] = readme.split("## Your own database");
  const steps = [...section.matchAll(/```sh\n([^]*?)```/g)].map(([, step = ""]) => step);
  const [writeFiles = "", , request = ""] = steps;
  const database = join(folder, "shop.db");
  const connection = new Database(database);
  connection.exec("create table customers (customer_id integer primary key, name text not null)");
  connection.exec("insert into customers (name) values ('Anna')");
  connection.close();
  const [, args = ""] = /rowgate -- init (.*)/.exec(writeFiles) ?? [];
  const url = `sqlite:${database}`;
  await runInit({
    args: args.split(" ").map((arg) => arg.replace("$SHOP_DATABASE_URL", url)),
    env: { CONFIG_DIR: join(folder, "projects") },
    out: () => undefined,
  });
  const shop = await openService({
    files: await readConfigFiles(join(folder, "projects")),
    env: { SHOP_DATABASE_URL: url },
    log: createLog("silent"),
  });
  await shop.ready;
  const [, path = "", body = ""] = /localhost:3000(\S+).* -d '(.*)'/.exec(request) ?? [];
  const headers = { "content-type": "application/json" };
  const response = await shop.app.request(path, { method: "POST", headers, body });
  expect(await response.json()).toMatchObject({ data: [{ customer_id: 1, name: "Anna" }] });
  await shop.close();
});

// One after the other, as a reader would: later answers show what earlier commands wrote.
test.for(pairs)(
  "$title answers what is printed in the README or the tour",
  async ({ command, answer }) => {
    const standIn = `curl() { "${process.execPath}" "${join(import.meta.dirname, "curl.ts")}" "$@"; }\n`;
    const script =
      (hasCurl ? "" : standIn) + command.replaceAll("http://localhost:3000", listening.url);
    const { stdout, stderr, status } = await runAside("sh", ["-c", script]);
    expect(status, stderr).toBe(0);
    const [got, printed] = [settled(JSON.parse(stdout)), settled(JSON.parse(answer))];
    expect(JSON.stringify(got, null, 2)).toBe(JSON.stringify(printed, null, 2));
  },
);

/** The value with the times of this run, and of the one that was printed, replaced; the demo's own times stay. */
function settled(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value), (_name, member) =>
    typeof member === "string" && isRecent(member) ? "now" : member,
  );
}

/** Demo data ends in summer 2026; later times come from a run. */
const isRecent = (text: string): boolean =>
  /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(text) && text > "2026-11-01";

/**
 * Executes the README: each `sh` block that is followed at once by a `json` block is run against the demo project, and
 * must print that JSON. Where the machine has no curl, `curl.ts` beside this file stands in for it.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { importFrom, readConfigFiles } from "../app/start/config-files.ts";
import { createLog } from "../app/start/log.ts";
import type { Listening } from "../app/start/listening.ts";
import { listen } from "../app/start/node.ts";
import { openService } from "../app/start/wire.ts";
import { createDemo } from "../configs/demo/create.ts";
import { runAside } from "./run-aside.ts";

const root = join(import.meta.dirname, "..");
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

const readme = readFileSync(join(root, "README.md"), "utf8");
const pairs = [...readme.matchAll(/^```sh\n(curl [^`]*)```\n\n```json\n([^`]*)```$/gm)].map(
  ([, command = "", answer = ""]) => ({
    command,
    answer,
    title: /api\/\S+/.exec(command)?.[0] ?? command,
  }),
);
const hasCurl = spawnSync("curl", ["--version"]).status === 0;

test("the README shows every action with its answer", () => {
  const shown = new Set(pairs.map(({ title }) => title.split("/").at(-1)));
  expect([...shown].toSorted()).toEqual(["adjust", "create", "delete", "first", "read", "update"]);
});

// One after the other, as a reader would: later answers show what earlier commands wrote.
test.for(pairs)(
  "the README's $title answers what is printed there",
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

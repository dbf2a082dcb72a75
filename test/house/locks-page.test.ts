/**
 * Runs all `sh` blocks of docs/locks.md in one shell, against the demo project. Each prints the `json` block below it.
 * On a machine without curl, `curl.ts` replaces it.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { importFrom } from "../../app/start/settings/component-modules.ts";
import { readConfigFiles } from "../../app/start/settings/config-files.ts";
import { createLog } from "../../app/start/observing/log.ts";
import type { Listening } from "../../app/start/servers/listening.ts";
import { listen } from "../../app/start/servers/node.ts";
import { openService } from "../../app/start/servers/wire.ts";
import { createDemo } from "../../configs/demo/create.ts";
import { runAside } from "../running/run-aside.ts";

const root = join(import.meta.dirname, "../..");
const folder = mkdtempSync(join(tmpdir(), "rowgate-test-locks-page-"));
let listening: Listening;

beforeAll(async () => {
  const database = join(folder, "demo.db");
  createDemo(database);
  const env = { DEMO_DATABASE_URL: `sqlite:${database}`, PORT: "0" };
  const files = await readConfigFiles(join(root, "configs"));
  const importComponent = importFrom(join(root, "configs"));
  listening = await listen(
    await openService({ files, env, log: createLog("silent"), importComponent }),
  );
});

afterAll(async () => {
  await listening?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const page = readFileSync(join(root, "docs/locks.md"), "utf8");
const blocks = [...page.matchAll(/^```sh\n([^`]*)```\n\n```json\n([^`]*)```$/gm)].map(
  ([, command = "", answer = ""]) => ({ command, answer }),
);
const hasCurl = spawnSync("curl", ["--version"]).status === 0;
const separator = "=== next ===";

test("docs/locks.md answers what is printed there", async () => {
  const standIn = `curl() { "${process.execPath}" "${join(import.meta.dirname, "curl.ts")}" "$@"; }\n`;
  const script = blocks.map(({ command }) => `${command}\necho; echo "${separator}"\n`).join("");
  const { stdout, stderr, status } = await runAside("sh", [
    "-ec",
    (hasCurl ? "" : standIn) + script.replaceAll("http://localhost:3000", listening.url),
  ]);
  expect(status, stderr).toBe(0);
  const answers = stdout.split(separator).slice(0, -1);
  expect(answers).toHaveLength(blocks.length);
  expect(blocks.length).toBeGreaterThan(4);
  for (const [at, { answer }] of blocks.entries())
    expect(settled(answers[at]!)).toMatchObject(settled(answer) as object);
});

/** The JSON with what only this run knows replaced: times, seconds that are left, tokens and fences. */
function settled(text: string): unknown {
  const chance = ["timestamp", "acquired_at", "lock_token", "fence", "ttl_remaining"];
  return JSON.parse(text, (name, member) => (chance.includes(name) ? typeof member : member));
}

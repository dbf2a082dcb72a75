import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

test("the lockfile keeps npm from building the driver of SQLite, which has builds for each platform", () => {
  const text = readFileSync(join(import.meta.dirname, "../../package-lock.json"), "utf8");
  const { packages } = JSON.parse(text) as { packages: Record<string, { gypfile?: boolean }> };
  // npm install drops the line `"gypfile": false`: restore it. Without it, npm ci needs Python and Node.js headers.
  expect(packages["node_modules/better-sqlite3"]?.gypfile).toBe(false);
});

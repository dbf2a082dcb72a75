/** docs/troubleshooting.md: every message that it quotes is one of the program's. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";

const root = join(import.meta.dirname, "../..");
const page = readFileSync(join(root, "docs/troubleshooting.md"), "utf8");

/** The sources, with texts that are continued on the next line as one. */
const sources = globSync("{app,core,db,jobs}/**/*.ts", { cwd: root })
  .map((path) => readFileSync(join(root, path), "utf8"))
  .join("\n")
  .replace(/["'`] \+\s+["'`]/g, "")
  .replaceAll('\\"', '"');

const messages = page
  .split(/^## /m)
  .filter((section) => /^\| Message /m.test(section))
  .flatMap((section) => [...section.matchAll(/^\| `([^`]+)` /gm)].map(([, text = ""]) => text));

test("the page has messages", () => {
  expect(messages.length).toBeGreaterThan(30);
});

describe("the sources contain", () => {
  test.each(messages)("%s", (message) => {
    const parts = message.split("…").filter((part) => /\w{2}/.test(part));
    expect(parts.length).toBeGreaterThan(0);
    expect(parts.filter((part) => !sources.includes(part))).toEqual([]);
  });
});

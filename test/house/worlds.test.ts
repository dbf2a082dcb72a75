/** test/worlds.md lists every file that has tables for several tests, and each of its tables. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { rowsUnder } from "./page-tables.ts";

const folder = join(import.meta.dirname, "..");
const read = (path: string): string => readFileSync(join(folder, path), "utf8");

/** A table in the words of `contract/tables.ts`, in SQL, and as `config/shop.ts` makes it. */
const declared =
  /name: "([a-z]\w*)",\s*columns(?!: \[)|(?:create table|CREATE TABLE) (?:if not exists )?["`]?([a-z]\w*)["`]? ?\(|\btable\(\s*"(\w+)",/g;

const tablesOf = (path: string): string[] => {
  const names = [...read(path).matchAll(declared)].map(([, ...found]) => found.find(Boolean)!);
  return [...new Set(names)].toSorted();
};

test("test/worlds.md has every world with its tables", () => {
  const helpers = globSync("**/*.ts", {
    cwd: folder,
    exclude: ["**/node_modules/**", "**/*.test.ts"],
  });
  const found = helpers
    .map((path) => path.replaceAll("\\", "/"))
    .filter((path) => tablesOf(path).length > 0);
  expect(found.length).toBeGreaterThan(20);
  const listed = rowsUnder("# Worlds of the tests", read("worlds.md"));
  const told = listed.map(([file, tables]) => [wordsOf(file!)[0]!, wordsOf(tables!).toSorted()]);
  expect(Object.fromEntries(told)).toEqual(
    Object.fromEntries(found.map((path) => [path, tablesOf(path)])),
  );
});

const wordsOf = (cell: string): string[] =>
  [...cell.matchAll(/`([^`]+)`/g)].map(([, word]) => word!);

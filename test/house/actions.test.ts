/**
 * The list of actions and what their definitions say of each other. For their truth: `contract/definitions.test.ts`.
 */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { actionGroups, actionNames, actions, plannedActions } from "../../core/actions.ts";

const root = join(import.meta.dirname, "../..");
const readText = (path: string): string => readFileSync(join(root, path), "utf8");
const list = readText("core/actions.ts");

test.each(globSync("core/actions/*.ts", { cwd: root }))("%s is listed", (path) => {
  expect(list).toContain(`"./${path.replaceAll("\\", "/").replace("core/", "")}"`);
});

test("names are given once, and none of them is planned or that of another group", () => {
  expect(new Set(actionNames).size).toBe(actions.length);
  expect(actionNames.filter((name) => plannedActions.has(name))).toEqual([]);
  const others = actions.filter(({ name, group }) => actionGroups.has(name) && group !== name);
  expect(others).toEqual([]);
});

test.each(actions)("$name says what it does in one sentence", ({ summary }) => {
  expect(summary).toMatch(/^[A-Z][^.]+\.$/);
});

test.each(actions)(
  "the page of $name tells of the headers that it honours",
  ({ name, headers }) => {
    const page = readText(`docs/actions/${name.replace("/", "-")}.md`);
    expect([...headers].filter((header) => !page.includes(header))).toEqual([]);
  },
);

test("an action follows one that there is", () => {
  const followed = actions.flatMap(({ follows }) => follows ?? []);
  expect(followed.filter((name) => !actionNames.includes(name))).toEqual([]);
});

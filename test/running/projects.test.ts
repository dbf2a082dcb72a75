/** Each test file is in a project, each project is run by one of two commands, and package.json has both commands. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { TestProjectInlineConfiguration } from "vitest/config";
import config from "../../vitest.config.ts";
import { projects, projectsOf } from "./projects.ts";

const root = join(import.meta.dirname, "../..");
const configured = (config.test?.projects ?? []) as TestProjectInlineConfiguration[];
const nameOf = ({ test }: TestProjectInlineConfiguration) => String(test?.name);

const filesOf = ({ test }: TestProjectInlineConfiguration): string[] =>
  globSync([...(test?.include ?? [])], { cwd: root, exclude: [...(test?.exclude ?? [])] });

test("each project of vitest.config.ts is run by exactly one of npm test and npm run test:deep", () => {
  const run = [...projectsOf("test"), ...projectsOf("test:deep")];
  expect(run.toSorted()).toEqual(configured.map(nameOf).toSorted());
  expect(new Set(run).size).toBe(run.length);
});

test("each test file is in a project", () => {
  const found = new Set(configured.flatMap(filesOf));
  const written = globSync("test/**/*.test.ts", { cwd: root, exclude: ["**/node_modules"] });
  expect(written.length).toBeGreaterThan(100);
  expect(written.filter((file) => !found.has(file))).toEqual([]);
});

test("each test file is in the folder of what it tests", () => {
  expect(globSync("test/*.test.ts", { cwd: root })).toEqual([]);
});

test.each(["sqlite", "postgres", "mysql"])(
  "the contract is tested on %s: most of it by npm test, the rest by the deep tests",
  (engine) => {
    expect(projects[engine]?.command).toBe("test");
    const on = (...names: string[]) =>
      new Set(configured.filter((one) => names.includes(nameOf(one))).flatMap(filesOf));
    const contract = globSync("test/contract/*.test.ts", { cwd: root });
    const inMinutes = on(engine);
    const left = contract.filter((file) => !inMinutes.has(file));
    expect(left.length).toBeLessThan(contract.length / 3);
    const deep = on(`long-${engine}`, `relations-${engine}`, `fuzz-${engine}`);
    expect(left.filter((file) => !deep.has(file))).toEqual([]);
  },
);

test("package.json has both commands, and .ci/run runs them", () => {
  const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  expect(scripts).toMatchObject({
    test: "node test/run.ts",
    "test:deep": "node test/run.ts --deep",
  });
  const lines = readFileSync(join(root, ".ci/run"), "utf8").split("\n");
  expect(lines).toEqual(expect.arrayContaining(["npm test", "npm run test:deep"]));
});

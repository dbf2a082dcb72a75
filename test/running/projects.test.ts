/** Each test file is in a project, each project is run by one of three commands, and package.json has these. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { TestProjectInlineConfiguration } from "vitest/config";
import config from "../../vitest.config.ts";
import { projects } from "./projects.ts";

const root = join(import.meta.dirname, "../..");
const configured = (config.test?.projects ?? []) as TestProjectInlineConfiguration[];
const nameOf = ({ test }: TestProjectInlineConfiguration) => String(test?.name);

const filesOf = ({ test }: TestProjectInlineConfiguration): string[] =>
  globSync([...(test?.include ?? [])], { cwd: root, exclude: [...(test?.exclude ?? [])] });

test("each project of vitest.config.ts is run by a command", () => {
  expect(Object.keys(projects).toSorted()).toEqual(configured.map(nameOf).toSorted());
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
  "the contract is tested on %s: most of it by npm test, the rest by the other commands",
  (engine) => {
    expect(projects[engine]?.command).toBe("test");
    const on = (...names: string[]) =>
      new Set(configured.filter((one) => names.includes(nameOf(one))).flatMap(filesOf));
    const contract = globSync("test/contract/*.test.ts", { cwd: root });
    const inMinutes = on(engine);
    const left = contract.filter((file) => !inMinutes.has(file));
    expect(left.length).toBeLessThan(contract.length * 0.4);
    const others = on(...["long", "alike", "relations", "fuzz"].map((name) => `${name}-${engine}`));
    expect(left.filter((file) => !others.has(file))).toEqual([]);
  },
);

test("package.json has the commands, and .ci/run runs all but those before a release", () => {
  const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  expect(scripts).toMatchObject({
    test: "node test/run.ts",
    "test:deep": "node test/run.ts --deep",
    "test:release": "node test/run.ts --release",
  });
  const lines = readFileSync(join(root, ".ci/run"), "utf8").split("\n");
  expect(lines).toEqual(expect.arrayContaining(["npm test", "npm run test:deep"]));
});

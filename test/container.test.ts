/** The files that put the service into containers name what is there: folders, programs, packages, ports. No engine is asked. */
import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import packageJson from "../package.json" with { type: "json" };

const root = join(import.meta.dirname, "..");
const read = (path: string): string => readFileSync(join(root, path), "utf8");

const dockerfile = read("Dockerfile");
/** What the image takes from the project, stage by stage. */
const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, paths = ""]) =>
  paths.split(" "),
);
const lastStage = dockerfile.slice(dockerfile.lastIndexOf("\nFROM "));

test("the image takes only what is there, and what .dockerignore lets through", () => {
  const allowed = new Set([...read(".dockerignore").matchAll(/^!(.+)$/gm)].map(([, path]) => path));
  expect(copied.length).toBeGreaterThan(5);
  expect(copied.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  expect([...new Set(copied)].filter((path) => !allowed.has(path))).toEqual([]);
});

test("the image holds every folder with sources that the command line can reach", () => {
  const folders = ["app", "core", "db", "jobs", "configs"];
  const inLastStage = folders.filter((folder) =>
    lastStage.includes(`\nCOPY ${folder} ${folder}\n`),
  );
  expect(inLastStage).toEqual(folders);
});

test.each([
  ["a program that compose.yaml starts", read("compose.yaml").matchAll(/[\w/-]+\.ts\b/g)],
  ["a program that the Dockerfile starts", dockerfile.matchAll(/[\w/-]+\.ts\b/g)],
])("%s is there", (_, found) => {
  const programs = [...found].map(([path]) => path);
  expect(programs.length).toBeGreaterThan(0);
  expect(programs.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});

test("the image's Node.js is the one that the packages ask for", () => {
  const major = /\d+/.exec(packageJson.engines.node)?.[0];
  expect(dockerfile).toContain(`node:${major}-`);
  expect(dockerfile).toContain(`nodejs${major}-`);
});

test("the last stage is not root's", () => {
  expect(lastStage).toMatch(/^\nFROM \S+:nonroot$/m);
  expect(lastStage).not.toMatch(/^USER /m);
});

test("kustomization.yaml names every manifest beside it", () => {
  const folder = "deploy/kubernetes";
  const manifests = globSync("*.yaml", { cwd: join(root, folder) });
  const named = read(`${folder}/kustomization.yaml`);
  const left = manifests.filter(
    (name) => name !== "kustomization.yaml" && !named.includes(`- ${name}`),
  );
  expect(manifests.length).toBeGreaterThan(3);
  expect(left).toEqual([]);
});

test("the workers scale by the lists in which BullMQ keeps the jobs", async () => {
  const { keyPrefix } = await import("../jobs/queue/bullmq/redis-server.ts");
  const { parseEnv } = await import("../app/start/env.ts");
  const lists = [...read("deploy/kubernetes/worker-scaling.yaml").matchAll(/listName: "(.+?)"/g)];
  const keys = lists.map(([, name]) => name);
  const queue = `${keyPrefix}:${parseEnv({}).queueName}`;
  expect(keys).toEqual([`${queue}:wait`, `${queue}:active`]);
});

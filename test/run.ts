/**
 * `npm test`: finds or starts the servers that the chosen tests need, and Chromium, runs Vitest with their addresses, stops what
 * it started, and prints the count. Takes Vitest's own arguments: `npm test -- --project sqlite`, `npm test -- adjust -t "below"`.
 * However this process ends, even by SIGKILL, its servers end with it (`servers/keeper.ts`).
 */
import { setPriority } from "node:os";
import { join } from "node:path";
import { createVitest, parseCLI, type Vitest } from "vitest/node";
import { Tally } from "./reporter.ts";
import type { ServerName } from "./servers/choose.ts";
import { findOrInstallChromium } from "./servers/chromium.ts";
import { findOrInstallSoffice } from "./servers/soffice.ts";
import { startServers, type Servers } from "./servers/start.ts";

/** The servers that a project's tests use. Keep in step with the projects of `vitest.config.ts`. */
const needs: Record<string, readonly ServerName[]> = {
  unit: [],
  sqlite: [],
  postgres: ["postgres", "redis"],
  mysql: ["mysql", "redis"],
  parity: ["postgres", "mysql"],
  stores: ["redis"],
  jobs: ["postgres", "mysql", "redis"],
  runtime: ["postgres", "mysql", "redis"],
  workerd: ["postgres", "mysql", "redis"],
  "workerd-postgres": ["postgres", "redis"],
  "workerd-mysql": ["mysql", "redis"],
  browser: [],
  office: ["postgres", "mysql"],
};

/** Run only when they are asked for, and why: `npm test` says so. */
const onDemand: Record<string, string> = {
  office: 'exports in LibreOffice, which is large; "npm run test:office" opens them',
  "workerd-postgres": 'the contract in workerd; "npm test -- --project workerd-postgres" runs it',
  "workerd-mysql": 'the same on MySQL; "npm test -- --project workerd-mysql"',
};

// The many processes that tests start read the sources compiled: each takes half the time to begin. Nothing else is kept there.
process.env["NODE_COMPILE_CACHE"] ??= join(import.meta.dirname, "../node_modules/.cache/compiled");

// Jobs run at 10, and would wait for every test that runs beside them. One step above it, everything gets its share.
setPriority(9);

const tally = new Tally();
let vitest: Vitest | undefined;
let servers: Servers | undefined;

try {
  const { filter, options } = parseCLI(["vitest", ...process.argv.slice(2)]);
  const reporters = [...[options.reporters ?? "default"].flat(), tally];
  const projects = [options.project ?? []].flat();
  const isWhole = !projects.some((name) => !name.startsWith("!"));
  if (isWhole) projects.push(...Object.keys(onDemand).map((name) => `!${name}`));
  vitest = await createVitest({ ...options, project: projects, reporters, watch: false });
  const specifications = await vitest.globTestSpecifications(filter);
  const wanted = new Set(specifications.flatMap(({ project }) => needs[project.name] ?? []));
  const say = (line: string): void => console.log(line);
  if (specifications.some(({ project }) => project.name === "browser")) {
    vitest.provide("chromium", findOrInstallChromium(say));
  }
  if (specifications.some(({ project }) => project.name === "office")) {
    vitest.provide("soffice", findOrInstallSoffice(say));
  }
  if (isWhole) for (const what of Object.values(onDemand)) say(`Left out: ${what}`);
  servers = await startServers([...wanted], say);
  vitest.provide("serverUrls", servers.urls);
  await vitest.start(filter);
} catch (error) {
  tally.addFault();
  console.error(error instanceof Error ? error.message : error);
} finally {
  await vitest?.close();
  await servers?.stop();
}

console.log(tally.text());
// Not `exitCode`: a handle that a test left open must not keep the command from ending.
process.exit(tally.isGood() ? 0 : 1);

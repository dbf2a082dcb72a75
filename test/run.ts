/**
 * `npm test`, with `--deep` `npm run test:deep`, and with `--release` `npm run test:release`: finds or starts the servers
 * and programs that the chosen tests need, runs Vitest, stops what it started, and prints the count. Takes Vitest's
 * arguments: `npm test -- adjust -t "below"`; `--project` picks projects of any command. The servers end with this
 * process, even after SIGKILL (`servers/keeper.ts`).
 */
import { setPriority } from "node:os";
import { basename, join } from "node:path";
import { createVitest, parseCLI, type Vitest } from "vitest/node";
import { projects } from "./running/projects.ts";
import { Tally } from "./running/reporter.ts";
import { findOrInstallCaddy } from "./servers/caddy.ts";
import { findOrInstallChromium } from "./servers/chromium.ts";
import { findOrInstallPgBouncer } from "./servers/pgbouncer.ts";
import { findOrInstallSoffice } from "./servers/soffice.ts";
import { startServers, type Servers } from "./servers/start.ts";

// The many processes that tests start use compiled sources from this cache, which halves their start time.
process.env["NODE_COMPILE_CACHE"] ??= join(import.meta.dirname, "../node_modules/.cache/compiled");

// Jobs run at priority 10 and would wait for every test beside them. One step above it, all get processor time.
setPriority(9);

/** `parseCLI` returns `--reporter` under this name, which its types lack. With it, Vitest ignores other reporters. */
interface ReporterOption {
  readonly reporter?: string | readonly string[];
}

/**
 * Files that failed run once more, with nothing beside them: a busy machine can miss a time limit. The count names those
 * that passed then. When more than these fail, it was not the machine.
 */
const mostAgain = 6;

const tally = new Tally();
let vitest: Vitest | undefined;
let servers: Servers | undefined;

try {
  const args = process.argv.slice(2);
  const isOf = (word: string): boolean => args.includes(word);
  const command = isOf("--release") ? "test:release" : isOf("--deep") ? "test:deep" : "test";
  const { filter, options } = parseCLI([
    "vitest",
    ...args.filter((word) => word !== "--deep" && word !== "--release"),
  ]);
  // For two cores: most tests also wait, for a server or a process. The deep ones watch the time as well.
  options.maxWorkers ??= command === "test:deep" ? 5 : 6;
  const { reporter = "default", ...rest } = options as typeof options & ReporterOption;
  const reporters = [...[reporter].flat(), tally];
  const project = [options.project ?? []].flat();
  const isWhole = !project.some((name) => !name.startsWith("!"));
  const left = isWhole
    ? Object.keys(projects).filter((name) => projects[name]!.command !== command)
    : [];
  project.push(...left.map((name) => `!${name}`));
  vitest = await createVitest({ ...rest, project, reporters, watch: false });
  const specifications = await vitest.globTestSpecifications(filter);
  const chosen = [...new Set(specifications.map((one) => one.project.name))];
  const needed = chosen.flatMap((name) => projects[name] ?? []);
  const programs = needed.flatMap((needs) => needs.programs ?? []);
  const say = (line: string): void => console.log(line);
  if (left.length > 0) say(`Left to other commands: ${left.join(", ")}`);
  if (programs.includes("chromium")) vitest.provide("chromium", findOrInstallChromium(say));
  if (programs.includes("soffice")) vitest.provide("soffice", findOrInstallSoffice(say));
  if (programs.includes("pgbouncer")) vitest.provide("pgbouncer", findOrInstallPgBouncer(say));
  if (programs.includes("caddy")) vitest.provide("caddy", findOrInstallCaddy(say));
  // Vitest would call them one after the other.
  const installs = vitest.projects
    .filter(({ name }) => chosen.includes(name))
    .flatMap(({ config }) => config.globalSetup)
    .filter((file) => basename(file) === "install.ts");
  [servers] = await Promise.all([
    startServers([...new Set(needed.flatMap((needs) => needs.servers))], say),
    ...[...new Set(installs)].map(async (file) => (await import(file)).default()),
  ]);
  vitest.provide("serverUrls", servers.urls);
  const first = await vitest.start(filter);
  const failed = first.testModules.filter((module) => module.state() === "failed");
  if (failed.length <= mostAgain && first.unhandledErrors.length === 0 && failed.length > 0) {
    say(`\nOnce more, alone: ${failed.map((module) => module.relativeModuleId).join(", ")}`);
    await vitest.runTestSpecifications(failed.map((module) => module.toTestSpecification()));
  }
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

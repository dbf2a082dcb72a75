/**
 * `npm run test:runtimes [-- bun deno sqlite …]`: runs the whole contract suite in process on Node, the newest Node,
 * Bun and Deno, on all three engines, in sequence, and prints a table of results. Names of runtimes and engines
 * restrict the run; any other argument is part of a test file's path. Takes 15 minutes or more.
 */
import { startServers } from "../servers/start.ts";
import {
  contractEngines,
  contractRuntimes,
  type ContractRuntime,
  runContract,
  runtimeTitle,
} from "./contract-run.ts";
import install from "./install.ts";

const asked = process.argv.slice(2);
const runtimes = askedOf(contractRuntimes);
const engines = askedOf(contractEngines);
const known: readonly string[] = [...contractRuntimes, ...contractEngines];
const paths = asked.filter((name) => !known.includes(name));
const files = paths.length > 0 ? paths : ["test/contract/"];

/** A run takes some six minutes on a quiet machine. */
const timeoutMs = 30 * 60_000;

await install();
const servers = await startServers(
  engines.length === 1 && engines[0] === "sqlite" ? [] : ["postgres", "mysql", "redis"],
  (line) => console.log(line),
);
const rows: (readonly string[])[] = [];
const failures: string[] = [];
try {
  for (const runtime of runtimes) await add(runtime);
} finally {
  await servers.stop();
}

console.log(`\n${tableOf([["runtime", ...engines], ...rows])}\n`);
console.log(
  "passed / failed / skipped; the skipped ones are those that an engine lacks, on each runtime.",
);
for (const title of failures) console.log(`FAILED ${title}`);
process.exit(failures.length > 0 ? 1 : 0);

async function add(runtime: ContractRuntime): Promise<void> {
  const title = runtimeTitle(runtime);
  const startedMs = performance.now();
  const run = await runContract(runtime, { engines, files, urls: servers.urls, timeoutMs });
  const cells = engines.map((engine) => {
    const count = run.counts.get(engine);
    return count ? `${count.passed} / ${count.failed} / ${count.skipped}` : "did not run";
  });
  rows.push([title, ...cells]);
  const isGood = engines.every((engine) => run.counts.get(engine)?.failed === 0);
  if (!isGood && run.failed.length === 0) failures.push(`${title}\n${run.output.slice(-4000)}`);
  for (const name of run.failed) failures.push(`${title}: ${name}`);
  const seconds = Math.round((performance.now() - startedMs) / 1000);
  console.log(`${title}: ${cells.join(", ")} (${seconds} s)`);
}

function askedOf<Name extends string>(names: readonly Name[]): readonly Name[] {
  const chosen = names.filter((name) => asked.includes(name));
  return chosen.length > 0 ? chosen : names;
}

/** In Markdown, so that it can be kept as it is. */
function tableOf([head = [], ...lines]: readonly (readonly string[])[]): string {
  const rule = head.map((_, at) => (at === 0 ? "---" : "--:"));
  return [head, rule, ...lines].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

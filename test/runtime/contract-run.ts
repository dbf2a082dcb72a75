/**
 * Runs contract tests with Vitest on another runtime, so that the service runs in that process, on all three engines.
 * `matrix.ts` runs all of them, `runtime-contract.test.ts` the core.
 */
import { execFile, execFileSync } from "node:child_process";
import { join } from "node:path";
import type { ServerUrls } from "../servers/start.ts";
import { commandFor, newestNode } from "./runtimes.ts";

export const contractRuntimes = ["node", "newest node", "bun", "deno"] as const;
export type ContractRuntime = (typeof contractRuntimes)[number];

export const contractEngines = ["sqlite", "postgres", "mysql"] as const;
export type ContractEngine = (typeof contractEngines)[number];

export interface ContractRun {
  /** By engine; an engine whose tests did not run is missing. */
  readonly counts: ReadonlyMap<ContractEngine, Count>;
  /** Titles of what failed. */
  readonly failed: readonly string[];
  /** All that Vitest wrote, without colours. */
  readonly output: string;
}

export interface Count {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

export interface ContractRunOptions {
  /** Parts of the paths of test files. */
  readonly files: readonly string[];
  readonly engines: readonly ContractEngine[];
  readonly urls: ServerUrls;
  readonly timeoutMs: number;
}

/** Rejects when the runtime is not installed. */
export async function runContract(
  runtime: ContractRuntime,
  options: ContractRunOptions,
): Promise<ContractRun> {
  const { engines, files, urls, timeoutMs } = options;
  const { program, args, pool } = commandOf(runtime);
  const projects = engines.flatMap((engine) =>
    projectsOf(engine).flatMap((name) => ["--project", name]),
  );
  const script = join(import.meta.dirname, "../run.ts");
  const env = {
    ...process.env,
    NO_COLOR: "1",
    DENO_NO_UPDATE_CHECK: "1",
    TEST_RUNTIME: runtimeTitle(runtime),
    ...Object.fromEntries(
      Object.entries(urls).map(([name, url]) => [`TEST_${name.toUpperCase()}_URL`, url]),
    ),
  };
  const given = { env, timeout: timeoutMs, maxBuffer: 256 * 1024 ** 2 };
  return new Promise((resolve) => {
    execFile(
      program,
      [...args, script, ...projects, "--pool", pool, ...files],
      given,
      (error, ...said) =>
        resolve(read(error?.killed ? [...said, `It was ended after ${timeoutMs} ms`] : said)),
    );
  });
}

/** `bun 1.4.5`, as `expect-runtime.ts` compares it. */
export function runtimeTitle(runtime: ContractRuntime): string {
  const said = execFileSync(commandOf(runtime).program, ["--version"], { encoding: "utf8" });
  const [version = ""] = /\d+\.\d+\.\d+/.exec(said) ?? [];
  return `${runtime.replace("newest ", "")} ${version}`;
}

interface Command {
  readonly program: string;
  readonly args: readonly string[];
  readonly pool: "forks" | "threads";
}

function commandOf(runtime: ContractRuntime): Command {
  const program = runtime === "newest node" ? newestNode() : (commandFor(runtime)?.[0] ?? null);
  if (!program)
    throw new Error(`There is no program for ${runtime}: ${process.platform} ${process.arch}`);
  if (runtime === "deno") return { program, args: ["run", "--allow-all"], pool: "forks" };
  // How Vitest watches its processes is unknown to Bun (oven-sh/bun#33593); its threads are Bun's as well.
  if (runtime === "bun") return { program, args: ["--bun", "--no-env-file"], pool: "threads" };
  return { program, args: [], pool: "forks" };
}

/** The Vitest projects with the contract on that engine: exports and imports in every place. */
const projectsOf = (engine: ContractEngine): string[] => [engine, `places-${engine}`];

/** What `test/run.ts` prints: Vitest's list of failures, and the table of `running/reporter.ts`. */
function read(said: readonly string[]): ContractRun {
  const output = said.join("\n");
  const counts = new Map<ContractEngine, Count>();
  for (const engine of contractEngines) {
    const row = new RegExp(
      `^(?:${projectsOf(engine).join("|")}) +(\\d+) +(\\d+) +(\\d+) +\\d+$`,
      "gm",
    );
    for (const [, passed, failed, skipped] of output.matchAll(row)) {
      const sum = counts.get(engine) ?? { passed: 0, failed: 0, skipped: 0 };
      counts.set(engine, {
        passed: sum.passed + Number(passed),
        failed: sum.failed + Number(failed),
        skipped: sum.skipped + Number(skipped),
      });
    }
  }
  const failed = [...output.matchAll(/^ FAIL +(.*)$/gm)].map(([, title = ""]) => title.trim());
  return { counts, failed: [...new Set(failed)], output };
}

/**
 * Where the programs of the three runtimes are, and how each runs a .ts file. Bun and Deno come from
 * `programs/package.json`, apart from the project's packages. They are called directly, because install scripts do not
 * run.
 */
import { spawnSync } from "node:child_process";
import { existsSync, globSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";

/** The folder into which `npm ci` puts Bun, Deno and the newest Node. */
export const programs = join(import.meta.dirname, "programs");

export type Runtime = "node" | "bun" | "deno";

const root = join(import.meta.dirname, "../..");

type Command = readonly [program: string, ...args: string[]];

/** The command line that runs a .ts file which talks to these hosts; null when the runtime is not installed. */
export function commandFor(runtime: Runtime, hosts: readonly string[] = []): Command | null {
  if (runtime === "node") return [process.execPath];
  const program = installed(runtime);
  return program
    ? [program, ...argsFor(runtime, grants(program, { hosts, reads: [], writes: [] }))]
    : null;
}

/**
 * The command that runs `app/start/cli.ts` with this environment, on the runtime in the PATH, else on that of
 * `programs/`; null without either.
 */
export function rowgateCommand(
  runtime: Exclude<Runtime, "node">,
  env: Readonly<Record<string, string | undefined>>,
): Command | null {
  const found = onPath(runtime, env["PATH"] ?? "") ?? installed(runtime);
  if (!found) return null;
  const program = runtime === "deno" ? ownProgram(found) : found;
  const storage = env["STORAGE_URL"] || "file:./data/files";
  const writes = storage.startsWith("file:") ? [resolve(storage.slice("file:".length))] : [];
  const reads = [resolve(env["CONFIG_DIR"] || "configs")];
  return [program, ...argsFor(runtime, grants(program, { hosts: [], reads, writes }))];
}

/** Deno's own: what npm puts into the PATH is a script, which only starts the program that asks for permissions. */
const ownProgram = (deno: string): string =>
  spawnSync(deno, ["eval", "console.log(Deno.execPath())"], { encoding: "utf8" }).stdout?.trim() ||
  deno;

/** The newest Node that npm has; null when it is not installed. */
export function newestNode(): string | null {
  const [program] = globSync("node_modules/node-*/bin/node{,.exe}", { cwd: programs });
  return program ? join(programs, program) : null;
}

function installed(runtime: Exclude<Runtime, "node">): string | null {
  const pattern = runtime === "bun" ? "@oven/*/bin/bun{,.exe}" : "@deno/*/deno{,.exe}";
  const [program] = globSync(`node_modules/${pattern}`, { cwd: programs });
  return program ? join(programs, program) : null;
}

function onPath(runtime: string, path: string): string | null {
  const names = process.platform === "win32" ? [`${runtime}.exe`] : [runtime];
  const places = path.split(delimiter).filter((folder) => folder !== "");
  const found = places.flatMap((folder) => names.map((name) => join(folder, name)));
  return found.find((file) => existsSync(file)) ?? null;
}

/** Bun would read `.env` by default and so use another environment than Node and Deno. */
const argsFor = (runtime: Runtime, denoGrants: readonly string[]): string[] =>
  runtime === "bun" ? ["--no-env-file"] : ["run", ...denoGrants];

interface Reach {
  /** None: all. */
  readonly hosts: readonly string[];
  /** Beside the project's own folder and that of temporary files. */
  readonly reads: readonly string[];
  readonly writes: readonly string[];
}

/**
 * Permissions of the service on Deno: network, files, and the native SQLite driver, which opens its files itself.
 * `sys`: logs need the host name; packages (UUIDs of version 1, files) and the driver's search for its binary need the
 * rest. Keep in step with docs/runtimes.md.
 */
function grants(program: string, { hosts, reads, writes }: Reach): string[] {
  return [
    "--no-prompt",
    hosts.length > 0 ? `--allow-net=${hosts.join(",")}` : "--allow-net",
    "--allow-env",
    `--allow-read=${[root, tmpdir(), ...reads, ...writes].join(",")}`,
    `--allow-write=${[tmpdir(), ...writes].join(",")}`,
    "--allow-sys=hostname,cpus,networkInterfaces,umask",
    `--allow-ffi=${join(root, "node_modules/better-sqlite3")}`,
    // Long reads of SQLite run in separate processes.
    `--allow-run=${program}`,
  ];
}

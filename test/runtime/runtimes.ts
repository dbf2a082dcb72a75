/**
 * Where the programs of the three runtimes are, and how each runs a .ts file. Bun and Deno come from the
 * package.json in `programs/`, apart from the project's packages; they are called directly, because install scripts do not run.
 */
import { globSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The folder into which `npm ci` puts Bun and Deno. */
export const programs = join(import.meta.dirname, "programs");

export type Runtime = "node" | "bun" | "deno";

/** The command line that runs a .ts file which talks to these hosts; null when the runtime is not installed. */
export function commandFor(
  runtime: Runtime,
  hosts: readonly string[] = [],
): readonly [program: string, ...args: string[]] | null {
  if (runtime === "node") return [process.execPath];
  const pattern = runtime === "bun" ? "@oven/*/bin/bun{,.exe}" : "@deno/*/deno{,.exe}";
  const [program] = globSync(`node_modules/${pattern}`, { cwd: programs });
  if (!program) return null;
  const path = join(programs, program);
  return runtime === "bun" ? [path] : [path, "run", ...denoGrants(hosts)];
}

/** All that the service needs on Deno: its sockets and files, the native SQLite driver, and what drivers ask of the host. */
function denoGrants(hosts: readonly string[]): string[] {
  const root = join(import.meta.dirname, "../..");
  return [
    "--no-prompt",
    `--allow-net=${hosts.join(",")}`,
    `--allow-read=${root},${tmpdir()}`,
    `--allow-write=${tmpdir()}`,
    `--allow-ffi=${join(root, "node_modules")}`,
    "--allow-env",
    "--allow-sys",
  ];
}

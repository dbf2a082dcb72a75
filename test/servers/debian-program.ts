/** A program that a test drives: an installed one, else Debian's package, which root installs. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { installPackages, thisMachine } from "./machine.ts";

export interface DebianProgram {
  /** As people call it. */
  readonly title: string;
  readonly command: string;
  readonly debianPackage: string;
  /** Prints the version and ends with 0. */
  readonly versionArgument: string;
  /** Which tests need it, as `of poolers`. */
  readonly tests: string;
}

/** The path of the program. `say` gets it, and a line before an installation. Throws an Error that says what to do. */
export function findOrInstall(program: DebianProgram, say: (line: string) => void): string {
  const path = find(program) ?? install(program, say);
  say(`${program.title}: ${path}`);
  return path;
}

function install(program: DebianProgram, say: (line: string) => void): string {
  const { title, command, debianPackage, tests } = program;
  if (thisMachine.mayInstall()) {
    say(`Installing ${debianPackage} …`);
    installPackages([debianPackage]);
  }
  const path = find(program);
  if (path !== null) return path;
  throw new Error(
    `The tests ${tests} need ${title} and found none: install it (on Debian: the package ${debianPackage}), and have ${command} on the PATH.`,
  );
}

function find({ command, versionArgument }: DebianProgram): string | null {
  const folders = (process.env["PATH"] ?? "").split(delimiter).filter(Boolean);
  const runs = (path: string): boolean =>
    existsSync(path) &&
    spawnSync(path, [versionArgument], { stdio: "ignore", timeout: 20_000 }).status === 0;
  return (
    [...folders, "/usr/bin", "/usr/sbin"].map((folder) => join(folder, command)).find(runs) ?? null
  );
}

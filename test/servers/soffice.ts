/**
 * Where the tests of office files get LibreOffice from: an installed one, else Debian's package for root. `test/run.ts` calls this when the
 * project `office` is asked for.
 */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { installPackages, thisMachine } from "./machine.ts";

const debianPackage = "libreoffice-calc-nogui";

/** The path of the program. `say` gets one line, and one before the installation. Throws an Error that says what to do. */
export function findOrInstallSoffice(say: (line: string) => void): string {
  const program = findProgram() ?? install(say);
  say(`LibreOffice: ${program}`);
  return program;
}

function install(say: (line: string) => void): string {
  if (thisMachine.mayInstall()) {
    say(`Installing ${debianPackage} …`);
    installPackages([debianPackage]);
  }
  const program = findProgram();
  if (program !== null) return program;
  throw new Error(
    `The tests of office files need LibreOffice and found none: install it (on Debian: the package ${debianPackage}), and have soffice on the PATH.`,
  );
}

function findProgram(): string | null {
  const folders = [...(process.env.PATH ?? "").split(delimiter).filter(Boolean), "/usr/bin"];
  return folders.map((folder) => join(folder, "soffice")).find(runs) ?? null;
}

const runs = (program: string): boolean =>
  existsSync(program) &&
  spawnSync(program, ["--version"], { stdio: "ignore", timeout: 20_000 }).status === 0;

declare module "vitest" {
  interface ProvidedContext {
    /** The program of LibreOffice; absent where no test of the run needs it, and without `test/run.ts`. */
    soffice: string | undefined;
  }
}

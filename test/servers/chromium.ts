/**
 * Where the browser tests get Chromium or Chrome from: the first of three ways that is possible. Like `choose.ts`, the
 * choice asks about the machine and changes nothing, so that `chromium.test.ts` can try every kind of machine.
 */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { installPackages, thisMachine } from "./machine.ts";

export interface BrowserMachine {
  /** The program that the environment names, if any. */
  given(): string | undefined;
  /** The path of a Chromium that starts; null without one. */
  findProgram(): string | null;
  /** True for root on Debian, Ubuntu and their derivatives. */
  mayInstall(): boolean;
}

export type BrowserChoice =
  | { readonly from: "environment" | "programs"; readonly program: string }
  | { readonly from: "install" }
  | { readonly from: "nowhere"; readonly advice: string };

const advice =
  "The browser tests need Chromium or Chrome and found none: install it (on Debian: the package chromium), or set TEST_CHROMIUM " +
  `to its program, or leave these tests out with --project '!smoke' or '!browser'.`;

export function chooseChromium(machine: BrowserMachine): BrowserChoice {
  const given = machine.given();
  if (given) return { from: "environment", program: given };
  const program = machine.findProgram();
  if (program !== null) return { from: "programs", program };
  if (machine.mayInstall()) return { from: "install" };
  return { from: "nowhere", advice };
}

/** The path of the program. `say` gets it, and a line before an installation. Throws an Error that says what to do. */
export function findOrInstallChromium(say: (line: string) => void): string {
  const program = programOf(chooseChromium(thisMachineForBrowsers), say);
  say(`Chromium: ${program}`);
  return program;
}

function programOf(choice: BrowserChoice, say: (line: string) => void): string {
  switch (choice.from) {
    case "environment":
      if (runs(choice.program)) return choice.program;
      throw new Error(
        `TEST_CHROMIUM=${choice.program} is no program that runs: correct the path, or unset it to let the tests find or install Chromium.`,
      );
    case "programs":
      return choice.program;
    case "install": {
      const program = installSome(["chromium-headless-shell", "chromium"], say);
      if (program !== null) return program;
      throw new Error(
        `The package chromium is installed, but holds no program that runs. ${advice}`,
      );
    }
    case "nowhere":
      throw new Error(choice.advice);
  }
}

/** Installs the first of the packages that exists here. Throws if that is none. Null: no program of it runs. */
function installSome([name, ...others]: string[], say: (line: string) => void): string | null {
  say(`Installing ${name} …`);
  try {
    installPackages([name!]);
  } catch (error) {
    if (others.length === 0) throw error;
    return installSome(others, say);
  }
  return findProgram();
}

const thisMachineForBrowsers: BrowserMachine = {
  given: () => process.env["TEST_CHROMIUM"],
  findProgram,
  mayInstall: thisMachine.mayInstall,
};

/** The first is the same browser without windows, and takes half of the processor's time. */
const names = [
  "chromium-headless-shell",
  "chrome-headless-shell",
  "chromium",
  "chromium-browser",
  "google-chrome-stable",
  "google-chrome",
];

/** Off the PATH: where the installers of macOS and Windows put it. */
const usualPlaces = [
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
  "C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe",
  "C:\\Program Files (x86)\\Google\\Chrome\\Application\\chrome.exe",
];

function findProgram(): string | null {
  const folders = [...(process.env.PATH ?? "").split(delimiter).filter(Boolean), "/usr/bin"];
  const candidates = [
    ...names.flatMap((name) => folders.map((folder) => join(folder, name))),
    ...usualPlaces,
  ];
  return candidates.find(runs) ?? null;
}

/** The file can exist without a browser: Ubuntu's chromium-browser is a script that requires a snap. */
function runs(program: string): boolean {
  if (!existsSync(program)) return false;
  // On Windows, `--version` would open a window.
  if (process.platform === "win32") return true;
  return spawnSync(program, ["--version"], { stdio: "ignore", timeout: 20_000 }).status === 0;
}

declare module "vitest" {
  interface ProvidedContext {
    /** The program of Chromium; absent where no test of the run needs it, and without `test/run.ts`. */
    chromium: string | undefined;
  }
}

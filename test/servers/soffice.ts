/** Finds or installs LibreOffice for the tests of office files. */
import { findOrInstall } from "./debian-program.ts";

/** The path of the program; see `findOrInstall`. */
export const findOrInstallSoffice = (say: (line: string) => void): string =>
  findOrInstall(
    {
      title: "LibreOffice",
      command: "soffice",
      debianPackage: "libreoffice-calc-nogui",
      versionArgument: "--version",
      tests: "of office files",
    },
    say,
  );

declare module "vitest" {
  interface ProvidedContext {
    /** The program of LibreOffice; absent where no test of the run needs it, and without `test/run.ts`. */
    soffice: string | undefined;
  }
}

/** The providers fit the types of the real packages, and the programs of the docs compile in strict mode. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { programs } from "./install.ts";
import { entries, programWith, root } from "./page-programs.ts";

const folder = mkdtempSync(join(tmpdir(), "rowgate-test-adapters-"));
beforeAll(() => {
  symlinkSync(join(programs, "node_modules"), join(folder, "node_modules"));
  const compilerOptions = {
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: true,
    noEmit: true,
    allowImportingTsExtensions: true,
    target: "esnext",
    module: "esnext",
    moduleResolution: "bundler",
    lib: ["esnext", "dom", "dom.iterable"],
    jsx: "react-jsx",
    types: [],
    paths: Object.fromEntries(Object.entries(entries).map(([name, file]) => [name, [file]])),
  };
  writeFileSync(
    join(folder, "tsconfig.json"),
    JSON.stringify({ compilerOptions, include: ["./*.tsx"] }),
  );
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What the compiler says of these programs, by name. */
function faultsOf(named: Readonly<Record<string, string>>): string {
  for (const [name, code] of Object.entries(named))
    writeFileSync(join(folder, `${name}.tsx`), code);
  const tsc = join(root, "node_modules/.bin/tsc");
  const { stdout } = spawnSync(tsc, ["-p", folder], { encoding: "utf8" });
  for (const name of Object.keys(named)) rmSync(join(folder, `${name}.tsx`));
  return stdout;
}

const options = '{ baseUrl: "http://localhost:3000", project: "demo" }';
const providerOf = (entry: string, core: string) => `
  import type { DataProvider } from "${core}";
  import { dataProvider, type ProviderOptions } from "${entry}";
  const options: ProviderOptions = ${options};
  export const provider: DataProvider = dataProvider(options);
  // Where the interface has members that may be absent, all are there.
  export const all: Required<DataProvider> = dataProvider(options);`;

test("the program of docs/grids.md compiles", () => {
  expect(faultsOf({ page: programWith("@mui/x-data-grid", "docs/grids.md") })).toBe("");
});

test("the live and the audit-log provider for Refine fit its types", () => {
  const code = `
    import type { AuditLogProvider, LiveProvider } from "@refinedev/core";
    import { auditLogProvider, liveProvider } from "rowgate/refine";
    export const live: LiveProvider = liveProvider(${options});
    export const log: AuditLogProvider = auditLogProvider(${options});`;
  expect(faultsOf({ providers: code })).toBe("");
});

describe.each([
  { entry: "rowgate/react-admin", core: "ra-core" },
  { entry: "rowgate/refine", core: "@refinedev/core" },
] as const)("$entry", ({ entry, core }) => {
  test("is a DataProvider, and the program of the page compiles", () => {
    const named = { provider: providerOf(entry, core), page: programWith(entry) };
    expect(faultsOf(named)).toBe("");
  });

  test("takes neither an unknown option nor a project without an address", () => {
    const wrong = (text: string) => providerOf(entry, core).replace(options, text);
    expect(faultsOf({ wrong: wrong('{ baseUrl: "", project: "demo", apikey: "" }') })).toContain(
      "apikey",
    );
    expect(faultsOf({ wrong: wrong('{ project: "demo" }') })).toContain("baseUrl");
  });
});

/**
 * `prepack` and `postpack` of `npm pack` and `npm publish`. `prepack` compiles the sources into `dist/` as JavaScript
 * with types, because Node.js runs no TypeScript from `node_modules`, and rewrites package.json for users. Packages
 * that include their own Node.js are only for this checkout. `postpack` restores the old package.json.
 */
import { spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { vendorFiles } from "../../console/client-files.ts";

const root = join(import.meta.dirname, "../../..");
const manifest = join(root, "package.json");
const original = join(root, "node_modules/.cache/package.json.original");

/** What only developers of this project need. */
const left = [
  "private",
  "scripts",
  "devDependencies",
  "optionalDependencies",
  "overrides",
  "allowScripts",
  "scarfSettings",
];

function prepack(): void {
  rmSync(join(root, "dist"), { recursive: true, force: true });
  const { status } = spawnSync("tsc", ["-p", "tsconfig.build.json"], {
    cwd: root,
    stdio: ["ignore", "inherit", "inherit"],
    shell: process.platform === "win32",
  });
  if (status !== 0) process.exit(1);
  // Scripts, styles and texts for browsers are sent as they are.
  for (const file of globSync(["app/**/*.{js,css}", "app/console/client/words/*.json"], {
    cwd: root,
  }))
    cpSync(join(root, file), join(root, "dist", file));
  bringSwaggerUi();
  bringConsoleLibraries();
  bringExcelJs();
  bundleAdapters();
  const text = readFileSync(manifest, "utf8");
  mkdirSync(dirname(original), { recursive: true });
  writeFileSync(original, text);
  const { dependencies, ...members } = JSON.parse(text) as { dependencies: object };
  const brought = [
    "exceljs",
    "swagger-ui-dist",
    ...Object.values(vendorFiles).map((one) => one.package),
  ];
  const needed = Object.entries(dependencies).filter(([name]) => !brought.includes(name));
  const own = { ...members, dependencies: Object.fromEntries(needed) };
  const kept = Object.entries(own).filter(([name]) => !left.includes(name));
  writeFileSync(manifest, `${JSON.stringify(Object.fromEntries(kept), null, 2)}\n`);
}

/**
 * Copies the files of the page `/docs` into the package. As a dependency, Swagger UI would need six times the space,
 * and one of its own dependencies reports each installation to its maker.
 */
function bringSwaggerUi(): void {
  const from = join(root, "node_modules/swagger-ui-dist");
  const to = join(root, "dist/app/pages/swagger-ui");
  for (const file of ["swagger-ui.css", "swagger-ui-bundle.js", "LICENSE", "NOTICE"])
    cpSync(join(from, file), join(to, file));
  const { version } = JSON.parse(readFileSync(join(from, "package.json"), "utf8")) as {
    version: string;
  };
  writeFileSync(join(to, "package.json"), JSON.stringify({ version }));
}

/** Copies the libraries of the console into the package, which then needs no other file of theirs. */
function bringConsoleLibraries(): void {
  for (const [name, { package: from, file }] of Object.entries(vendorFiles)) {
    const folder = join(root, "node_modules", from);
    const to = join(root, "dist/app/console/client", name);
    cpSync(join(folder, file), to);
    const [license] = globSync("[Ll][Ii][Cc][Ee][Nn][Ss][Ee]*", { cwd: folder });
    if (license !== undefined) cpSync(join(folder, license), `${to}.LICENSE`);
  }
}

/**
 * Copies the browser build of exceljs, which writes the same bytes and loads faster. As a dependency, exceljs would
 * install about 190 more packages: over a quarter of the whole installation. The sources load the package itself,
 * because Deno refuses the browser build: it assigns to `__proto__`.
 */
function bringExcelJs(): void {
  const from = join(root, "node_modules/exceljs");
  const to = join(root, "dist/jobs/workbook");
  // Named .cjs because it is no ES module, and a file named .js would be loaded as one.
  cpSync(join(from, "dist/exceljs.bare.min.js"), join(to, "exceljs.cjs"));
  cpSync(join(from, "LICENSE"), join(to, "exceljs.cjs.LICENSE"));
  const importer = join(to, "guided-workbook.js");
  const text = readFileSync(importer, "utf8");
  const own = text.replace('import("exceljs")', 'import("./exceljs.cjs")');
  if (own === text) throw new Error("guided-workbook.ts does not load exceljs");
  writeFileSync(importer, own);
}

/** Makes each data provider one file, which pages can also load or copy without a bundler. */
function bundleAdapters(): void {
  const folder = join(root, "dist/app/adapters");
  const names = ["react-admin.js", "refine.js"];
  for (const name of names) {
    const file = join(folder, name);
    const { status } = spawnSync("rolldown", [file, "--file", file], {
      cwd: root,
      stdio: ["ignore", "ignore", "inherit"],
      shell: process.platform === "win32",
    });
    if (status !== 0) process.exit(1);
  }
  for (const name of globSync("*.js", { cwd: folder }))
    if (!names.includes(name)) rmSync(join(folder, name));
}

function postpack(): void {
  if (existsSync(original)) renameSync(original, manifest);
}

if (process.argv[2] === "prepack") prepack();
else if (process.argv[2] === "postpack") postpack();
else throw new Error("pack.ts takes prepack or postpack");

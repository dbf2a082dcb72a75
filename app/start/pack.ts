/**
 * `npm pack` and `npm publish`: `prepack` compiles the sources to JavaScript with types in `dist/`, because Node.js runs no TypeScript from
 * `node_modules`, and gives package.json the form that users get; `postpack` puts the old one back. The packages that bring
 * a Node.js of their own are for this checkout alone.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

const root = join(import.meta.dirname, "../..");
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
];

function prepack(): void {
  rmSync(join(root, "dist"), { recursive: true, force: true });
  const { status } = spawnSync("tsc", ["-p", "tsconfig.build.json"], {
    cwd: root,
    stdio: ["ignore", "inherit", "inherit"],
    shell: process.platform === "win32",
  });
  if (status !== 0) process.exit(1);
  const text = readFileSync(manifest, "utf8");
  mkdirSync(dirname(original), { recursive: true });
  writeFileSync(original, text);
  const kept = Object.entries(JSON.parse(text) as object).filter(([name]) => !left.includes(name));
  writeFileSync(manifest, `${JSON.stringify(Object.fromEntries(kept), null, 2)}\n`);
}

function postpack(): void {
  if (existsSync(original)) renameSync(original, manifest);
}

if (process.argv[2] === "prepack") prepack();
else if (process.argv[2] === "postpack") postpack();
else throw new Error("pack.ts takes prepack or postpack");

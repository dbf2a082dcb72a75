/**
 * The npm package as users get it: packed once for all test files, and unpacked into an empty folder with its
 * dependencies and a small database. The sources are out of its reach.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import type { TestProject } from "vitest/node";

export const root = join(import.meta.dirname, "../..");

declare module "vitest" {
  interface ProvidedContext {
    /** The folder with `node_modules` and the tarball. */
    unpacked: string;
    /** The text of package.json before it was packed. */
    packageJson: string;
  }
}

export default function unpack({ provide }: TestProject): () => void {
  provide("packageJson", readFileSync(join(root, "package.json"), "utf8"));
  const folder = mkdtempSync(join(tmpdir(), "rowgate-package-"));
  provide("unpacked", folder);
  run("npm", ["pack", "--pack-destination", folder], root);
  const modules = join(folder, "node_modules");
  mkdirSync(modules);
  for (const name of readdirSync(join(root, "node_modules")))
    if (!name.startsWith(".") && !brought.includes(name))
      symlinkSync(join(root, "node_modules", name), join(modules, name));
  run("tar", ["xzf", tarballIn(folder), "-C", modules], folder);
  run("mv", ["package", "rowgate"], modules);
  fillDatabase(join(folder, "shop.db"));
  return () => rmSync(folder, { recursive: true, force: true });
}

/** Packages of which the tarball has what it needs. */
export const brought = ["datatables.net", "exceljs", "swagger-ui-dist", "tom-select"];

export const tarballIn = (folder: string): string =>
  join(
    folder,
    readdirSync(folder).find((name) => name.endsWith(".tgz"))!,
  );

function run(command: string, args: readonly string[], cwd: string): void {
  const { status, stderr } = spawnSync(command, args, { cwd, encoding: "utf8" });
  if (status !== 0) throw new Error(stderr);
}

/** A database with one table. */
export function fillDatabase(path: string): void {
  const database = new Database(path);
  // A second try of a test finds the first one's.
  database.exec("drop table if exists goods");
  database.exec("create table goods (id integer primary key, name varchar(40) not null)");
  database.exec("insert into goods (name) values ('nails'), ('screws')");
  database.close();
}

/**
 * What `check` and `serve` report about files and folders without permission: the same sentence, with project and file.
 * Tests that run as root start the processes as another user, because root may use everything.
 */
import { spawn } from "node:child_process";
import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { afterEach, beforeEach, expect, test } from "vitest";

const cli = join(import.meta.dirname, "../../app/start/cli.ts");
const isRoot = process.getuid?.() === 0;
/** `nobody` of most systems. */
const other = { uid: 65_534, gid: 65_534 };

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "rowgate-test-rights-"));
  await mkdir(join(folder, "configs/shop"), { recursive: true });
  await mkdir(join(folder, "data"));
  const database = new Database(join(folder, "data/shop.db"));
  database.exec("create table things (id text primary key)");
  database.close();
  const url = `sqlite:${join(folder, "data/shop.db")}`;
  await write("configs/shop/project.json", { database: { url } });
  await write("configs/shop/things.json", { tableName: "things", action: { read: true } });
  await chmod(folder, 0o755);
});
afterEach(async () => {
  for (const path of ["configs", "configs/shop", "data"]) await chmod(join(folder, path), 0o755);
  await rm(folder, { recursive: true, force: true });
});

const write = (path: string, content: object) =>
  writeFile(join(folder, path), JSON.stringify(content));

/** Runs the command to its end and returns its status and its messages. */
async function run(command: string): Promise<{ status: number | null; stderr: string }> {
  const child = spawn(process.execPath, [cli, command], {
    cwd: folder,
    env: {
      PATH: process.env["PATH"],
      CONFIG_DIR: join(folder, "configs"),
      PORT: "0",
      LOG_LEVEL: "fatal",
      // The folder of the sources may not be writable for the other user.
      NODE_COMPILE_CACHE: join(folder, "compiled"),
    },
    stdio: ["ignore", "ignore", "pipe"],
    ...(isRoot && other),
  });
  let stderr = "";
  child.stderr.on("data", (chunk) => (stderr += chunk));
  const status = await new Promise<number | null>((resolve) => child.once("close", resolve));
  return { status, stderr: stderr.replaceAll(folder, "") };
}

interface Case {
  readonly fault: string;
  readonly path: string;
  readonly mode: number;
  readonly says: string;
}

const cases: Case[] = [
  {
    fault: "a configuration folder that may not be read",
    path: "configs",
    mode: 0o000,
    says: "CONFIG_DIR=/configs cannot be read; name a folder that holds one folder for each project\n",
  },
  {
    fault: "a file of the configuration that may not be read",
    path: "configs/shop/things.json",
    mode: 0o000,
    says: "/configs/shop/things.json cannot be read (EACCES); give the user of this process the right to read it\n",
  },
  {
    fault: "a database file that may not be read",
    path: "data/shop.db",
    mode: 0o000,
    says: "shop (shop/project.json): the file /data/shop.db cannot be opened; give the service read and write access to the file and its folder\n",
  },
  {
    fault: "a database file that may not be written",
    path: "data/shop.db",
    mode: 0o444,
    says: "shop (shop/project.json): the file /data/shop.db, or its folder, cannot be written to; give the service write access to both: SQLite keeps its log next to the database\n",
  },
  {
    fault: "a folder of a database that may not be written",
    path: "data",
    mode: 0o555,
    says: "shop (shop/project.json): the file /data/shop.db, or its folder, cannot be written to; give the service write access to both: SQLite keeps its log next to the database\n",
  },
];

test.skipIf(process.platform === "win32").each(cases)(
  "$fault is one sentence of check and serve",
  async ({ path, mode, says }) => {
    for (const one of ["data", "data/shop.db"])
      await chmod(join(folder, one), one === "data" ? 0o777 : 0o666);
    await chmod(join(folder, path), mode);
    for (const command of ["check", "serve"])
      expect({ command, ...(await run(command)) }).toEqual({ command, status: 1, stderr: says });
  },
);

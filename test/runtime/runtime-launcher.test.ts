/** `npm run rowgate:bun` and `rowgate:deno`: the same command line as on Node, in an environment that is the same. */
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { afterAll, describe, expect, test } from "vitest";
import { programs, rowgateCommand } from "./runtimes.ts";

const folder = mkdtempSync(join(tmpdir(), "rowgate-test-launcher-"));
const database = join(folder, "shop.db");
new Database(database).exec("create table orders (id integer primary key)").close();
const writeProject = (name: string, path: string) => {
  mkdirSync(join(folder, name, "shop"), { recursive: true });
  const project = { database: { url: `sqlite:${path}` } };
  writeFileSync(join(folder, name, "shop/project.json"), JSON.stringify(project));
};
writeProject("configs", database);
writeProject("wrong", join(folder, "none.db"));
// Only Bun would read this file.
writeFileSync(join(folder, ".env"), "CONFIG_DIR=/nowhere\n");
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe.each(["bun", "deno"])("rowgate on %s", (runtime) => {
  const rowgate = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
    spawnSync(process.execPath, [join(import.meta.dirname, "rowgate.ts"), runtime, ...args], {
      cwd: folder,
      encoding: "utf8",
      env: { ...process.env, ...env },
    });

  test("checks the configuration of the folder that it is started in, whatever stands in .env", () => {
    const { status, stdout, stderr } = rowgate(["check"]);
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(stdout).toContain("The configuration in configs is valid");
  });

  test("checks a database without a change to its file", () => {
    const before = readFileSync(database, "base64");
    expect(rowgate(["check"]).status).toBe(0);
    expect(readFileSync(database, "base64")).toBe(before);
  });

  test("names a database file that is missing, and makes none", () => {
    const { status, stderr } = rowgate(["check"], { CONFIG_DIR: "wrong" });
    const path = join(folder, "none.db");
    expect([status, stderr]).toEqual([
      1,
      `shop (shop/project.json): there is no file ${path}; correct the path in database.url, or create the database (the service does not create it)\n`,
    ]);
    expect(readdirSync(folder)).not.toContain("none.db");
  });

  test("says in one sentence that its port is taken", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const { port } = other.address() as AddressInfo;
    const { status, stderr } = rowgate(["serve"], { PORT: String(port), LOG_LEVEL: "fatal" });
    other.close();
    expect([status, stderr]).toEqual([
      1,
      `Port ${port} of 127.0.0.1 is taken by another program; end it, or set PORT to another port\n`,
    ]);
  });

  test("hands on the exit code of a fault", () => {
    const { status, stderr } = rowgate(["srve"]);
    expect(status).toBe(1);
    expect(stderr).toContain("Usage:");
  });
});

test("Deno may start its own program, also where npm's script stands for it in the PATH", () => {
  const scripts = join(programs, "node_modules/.bin");
  const [program, ...args] = rowgateCommand("deno", { PATH: scripts })!;
  expect(program.startsWith(scripts)).toBe(false);
  expect(args).toContain(`--allow-run=${program}`);
});

test("a runtime that is none is refused", () => {
  const script = join(import.meta.dirname, "rowgate.ts");
  const { status, stderr } = spawnSync(process.execPath, [script, "nodo"], { encoding: "utf8" });
  expect(status).not.toBe(0);
  expect(stderr).toContain('No runtime is called "nodo"');
});

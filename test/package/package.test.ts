/**
 * The npm package, as its users have it: packed, unpacked into an empty folder beside its dependencies, and run from there. Nothing of the sources is
 * within reach.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import Database from "better-sqlite3";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

const root = join(import.meta.dirname, "../..");
const folder = mkdtempSync(join(tmpdir(), "rowgate-package-"));
const modules = join(folder, "node_modules");
const before = readFileSync(join(root, "package.json"), "utf8");
let tarball: string;
let serving: ChildProcess | null = null;

beforeAll(() => {
  const packed = run("npm", ["pack", "--pack-destination", folder], root);
  expect(packed.status, packed.stderr).toBe(0);
  tarball = join(
    folder,
    readdirSync(folder).find((name) => name.endsWith(".tgz"))!,
  );
  mkdirSync(modules);
  for (const name of readdirSync(join(root, "node_modules")))
    if (!name.startsWith(".")) symlinkSync(join(root, "node_modules", name), join(modules, name));
  run("tar", ["xzf", tarball, "-C", modules], folder);
  run("mv", ["package", "rowgate"], modules);
  const database = new Database(join(folder, "shop.db"));
  database.exec("create table goods (id integer primary key, name varchar(40) not null)");
  database.exec("insert into goods (name) values ('nails'), ('screws')");
  database.close();
}, 120_000);
afterAll(() => {
  serving?.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

function run(command: string, args: readonly string[], cwd: string) {
  return spawnSync(command, args, { cwd, encoding: "utf8" });
}

const cli = join(modules, "rowgate/dist/app/start/cli.js");
const rowgate = (...args: string[]) => run(process.execPath, [cli, ...args], folder);

async function serve(): Promise<string> {
  serving = spawn(process.execPath, [cli, "serve"], {
    cwd: folder,
    env: { ...process.env, PORT: "0" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let printed = "";
  serving.stdout!.on("data", (chunk) => (printed += chunk));
  for (;;) {
    const [, url] = /listens on (\S+)/.exec(printed) ?? [];
    if (url !== undefined) return url;
    await pause(20);
  }
}

// oxlint-disable-next-line no-explicit-any -- tests look into answers of every shape
const post = async (url: string, body: object): Promise<any> =>
  (
    await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    })
  ).json();

describe("the tarball", () => {
  test("is small, and holds neither tests nor TypeScript sources", () => {
    expect(statSync(tarball).size).toBeLessThan(3_000_000);
    const names = run("tar", ["tzf", tarball], folder).stdout.split("\n");
    const unwanted = names.filter(
      (name) => /(^|\/)(test|bench|node_modules)\//.test(name) || /(?<!\.d)\.ts$/.test(name),
    );
    expect(unwanted).toEqual([]);
  });

  test("has no dependency that only developers need, and leaves package.json as it was", () => {
    const packed = JSON.parse(readFileSync(join(modules, "rowgate/package.json"), "utf8"));
    expect(Object.keys(packed)).not.toContain("optionalDependencies");
    expect(Object.keys(packed)).not.toContain("devDependencies");
    expect(readFileSync(join(root, "package.json"), "utf8")).toBe(before);
  });
});

describe("from an empty folder", () => {
  test("init, check and serve lead to a grid and an export", async () => {
    const init = rowgate("init", "--database", "sqlite:./shop.db");
    expect(init.status, init.stderr).toBe(0);
    const check = rowgate("check");
    expect(check.status, check.stderr).toBe(0);
    const url = await serve();
    const grid = await post(`${url}/api/shop/goods/datatables`, { draw: 1, start: 0, length: 5 });
    expect(grid.data.map(({ name }: { name: string }) => name)).toEqual(["nails", "screws"]);
    const { job_id } = await post(`${url}/api/shop/goods/export`, { format: "csv" });
    const status = `${url}/api/shop/goods/export-status?job_id=${job_id}`;
    const stateOf = async (): Promise<unknown> =>
      ((await (await fetch(status)).json()) as { status: unknown }).status;
    await expect.poll(stateOf, { timeout: 15_000 }).toBe("completed");
  });

  test("a service can be mounted in somebody's own program", () => {
    writeFileSync(
      join(folder, "app.mjs"),
      `import { createRowgate } from "rowgate";
       import { Hono } from "hono";
       const rowgate = await createRowgate({ configDir: "configs", env: { LOG_LEVEL: "silent" } });
       const app = new Hono().mount("/data", rowgate.fetch);
       const headers = { "content-type": "application/json" };
       const body = JSON.stringify({ where: { key: "id", value: 2 } });
       const answer = await app.request("/data/api/shop/goods/first", { method: "POST", headers, body });
       console.log((await answer.json()).data.name);
       await rowgate.close();`,
    );
    const { stdout, stderr } = run(process.execPath, ["app.mjs"], folder);
    expect(stdout.trim(), stderr).toBe("screws");
  });

  test("handlers find their types", () => {
    const types = (member: string): string =>
      `import type { HookContext } from "rowgate";
       export const check = ({ ${member} }: HookContext): string => String(${member});`;
    writeFileSync(join(folder, "good.ts"), types("endpoint"));
    writeFileSync(join(folder, "bad.ts"), types("endpiont"));
    const options = [
      "--noEmit",
      "--strict",
      "--module",
      "nodenext",
      "--target",
      "esnext",
      "--types",
      "node",
    ];
    const compile = (file: string) =>
      run(join(root, "node_modules/.bin/tsc"), [...options, "--ignoreConfig", file], folder);
    const good = compile("good.ts");
    expect(good.status, good.stdout).toBe(0);
    expect(compile("bad.ts").stdout).toContain("endpiont");
  });
});

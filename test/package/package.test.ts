/** The npm package as users get it: its contents, and its use from an empty folder. */
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, inject, test } from "vitest";
import { commandFor } from "../runtime/runtimes.ts";
import { endPrograms, exported, post, serve } from "./programs.ts";
import { brought, fillDatabase, root, tarballIn } from "./unpack.ts";

const folder = inject("unpacked");
const modules = join(folder, "node_modules");
const tarball = tarballIn(folder);

afterEach(endPrograms);

function run(command: string, args: readonly string[], cwd: string) {
  return spawnSync(command, args, { cwd, encoding: "utf8" });
}

const cli = join(modules, "rowgate/dist/app/start/cli.js");
const [bun = ""] = commandFor("bun") ?? [];

describe("the tarball", () => {
  test("is small, and holds neither tests nor TypeScript sources", () => {
    expect(statSync(tarball).size).toBeLessThan(3_000_000);
    const names = run("tar", ["tzf", tarball], folder).stdout.split("\n");
    const unwanted = names.filter(
      (name) => /(^|\/)(test|bench|node_modules)\//.test(name) || /(?<!\.d)\.ts$/.test(name),
    );
    expect(unwanted).toEqual([]);
  });

  test("depends on no package of which it brings the files that it needs", () => {
    const packed = JSON.parse(readFileSync(join(modules, "rowgate/package.json"), "utf8"));
    const named = Object.keys(packed.dependencies);
    expect(named).toContain("hono");
    expect(named.filter((name) => brought.includes(name))).toEqual([]);
  });

  test("brings the files of /docs along", () => {
    expect(readdirSync(join(modules, "rowgate/dist/app/pages/swagger-ui")).toSorted()).toEqual([
      "LICENSE",
      "NOTICE",
      "package.json",
      "swagger-ui-bundle.js",
      "swagger-ui.css",
    ]);
  });

  test("brings the console along, with its two libraries and their licences", () => {
    const client = join(modules, "rowgate/dist/app/console/client");
    expect(readdirSync(client)).toEqual(expect.arrayContaining(["main.js", "styles", "views"]));
    expect(readdirSync(join(client, "vendor")).toSorted()).toEqual([
      "datatables.js",
      "datatables.js.LICENSE",
      "tom-select.js",
      "tom-select.js.LICENSE",
    ]);
  });

  test.each(["react-admin", "refine"])("has the data provider for %s in one file", async (name) => {
    const adapters = join(modules, "rowgate/dist/app/adapters");
    expect(
      readdirSync(adapters)
        .filter((file) => file.endsWith(".js"))
        .toSorted(),
    ).toEqual(["react-admin.js", "refine.js"]);
    const text = readFileSync(join(adapters, `${name}.js`), "utf8");
    expect(text).not.toMatch(/^import |\bimport\(|\bprocess\b|\bBuffer\b/m);
    const program = `
      import { dataProvider } from "rowgate/${name}";
      const provider = dataProvider({ baseUrl: "http://localhost", project: "shop" });
      console.log(Object.keys(provider).includes("getMany"));`;
    writeFileSync(join(folder, `${name}.mjs`), program);
    expect(run(process.execPath, [`${name}.mjs`], folder).stdout).toBe("true\n");
  });

  test("has no dependency that only developers need, and leaves package.json as it was", () => {
    const packed = JSON.parse(readFileSync(join(modules, "rowgate/package.json"), "utf8"));
    expect(Object.keys(packed)).not.toContain("optionalDependencies");
    expect(Object.keys(packed)).not.toContain("devDependencies");
    expect(readFileSync(join(root, "package.json"), "utf8")).toBe(inject("packageJson"));
  });
});

describe("from an empty folder", () => {
  test.each([
    { runtime: "Node.js", command: process.execPath },
    { runtime: "Bun", command: bun },
  ])("init, check and serve lead to a grid and an export on $runtime", async (use) => {
    const { runtime, command } = use;
    const cwd = join(folder, `empty folder for ${runtime}`);
    mkdirSync(cwd, { recursive: true });
    fillDatabase(join(cwd, "shop.db"));
    const rowgate = (...args: string[]) => run(command, [cli, ...args], cwd);
    const init = rowgate("init", "--database", "sqlite:./shop.db", "--force");
    expect(init.status, init.stderr).toBe(0);
    const check = rowgate("check");
    expect(check.status, check.stderr).toBe(0);
    const url = await serve({ command, args: [cli, "serve"], cwd });
    const grid = await post(`${url}/api/shop/goods/datatables`, { draw: 1, start: 0, length: 5 });
    expect(grid.data.map(({ name }: { name: string }) => name)).toEqual(["nails", "screws"]);
    const file = await fetch(url + (await exported(`${url}/api/shop/goods`)));
    expect(await file.text()).toContain("screws");
    const template = await fetch(`${url}/api/shop/goods/import-template`);
    expect([template.status, (await template.text()).slice(0, 2)]).toEqual([200, "PK"]);
    const page = await (await fetch(`${url}/docs`)).text();
    const files = [...page.matchAll(/(?:href|src)="((?:docs|assets)\/[^"]+)"/g)];
    const statuses = files.map(async ([, file]) => (await fetch(`${url}/${file}`)).status);
    expect(await Promise.all(statuses)).toEqual([200, 200, 200, 200, 200, 200]);
  });

  test("serve --init alone serves the database of DATABASE_URL, as in the container", async () => {
    const cwd = join(folder, "container");
    mkdirSync(cwd, { recursive: true });
    fillDatabase(join(cwd, "shop.db"));
    const env = { DATABASE_URL: "sqlite:./shop.db", CONFIG_DIR: "data/configs" };
    const command = process.execPath;
    const url = await serve({ command, args: [cli, "serve", "--init"], cwd, env });
    const grid = await post(`${url}/api/shop/goods/datatables`, { draw: 1, start: 0, length: 5 });
    expect(grid.recordsTotal).toBe(2);
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

  test.each(["react-admin", "refine"])("pages find the types of the provider for %s", (name) => {
    const program = (option: string) =>
      `import { dataProvider } from "rowgate/${name}";
       export const provider = dataProvider({ ${option}: "http://localhost", project: "shop" });`;
    writeFileSync(join(folder, "page.ts"), program("baseUrl"));
    writeFileSync(join(folder, "bad-page.ts"), program("baseUlr"));
    const compile = (file: string) =>
      run(
        join(root, "node_modules/.bin/tsc"),
        [
          "--noEmit",
          "--strict",
          "--module",
          "esnext",
          "--moduleResolution",
          "bundler",
          "--lib",
          "esnext,dom",
          "--types",
          "",
          "--ignoreConfig",
          file,
        ],
        folder,
      );
    const good = compile("page.ts");
    expect(good.status, good.stdout).toBe(0);
    expect(compile("bad-page.ts").stdout).toContain("baseUlr");
  });
});

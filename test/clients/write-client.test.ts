/** The arguments of `rowgate client`. What it writes is in `client-code.test.ts`. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { afterAll, beforeAll, expect, test } from "vitest";
import { printOpenApi, writeClient } from "../../app/start/commands/print-openapi.ts";

const folder = mkdtempSync(join(tmpdir(), "rowgate-test-write-client-"));
const out = join(folder, "client.ts");
beforeAll(() => {
  for (const project of ["shop", "store"]) {
    const database = join(folder, `${project}.db`);
    const connection = new Database(database);
    connection.exec("create table goods (id text primary key not null, name text)");
    connection.close();
    mkdirSync(join(folder, "configs", project), { recursive: true });
    const write = (name: string, content: object): void =>
      writeFileSync(join(folder, "configs", project, name), JSON.stringify(content));
    write("project.json", { database: { url: `sqlite:${database}` } });
    write("goods.json", { tableName: "goods", action: { read: true } });
  }
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const env = { CONFIG_DIR: join(folder, "configs") };
const run = (...args: string[]): Promise<string> => writeClient(args, env);

test("writes the client of the project that is named", async () => {
  expect(await run("--project", "store", "--out", out)).toBe(
    `Wrote ${out}: a client for the project store\n`,
  );
  expect(readFileSync(out, "utf8")).toContain('path: "/api/store/goods/read"');
});

test("writes the client of a project whatever is wrong with the others", async () => {
  const away = join(folder, "configs", "away");
  mkdirSync(away);
  for (const project of ["{", JSON.stringify({ database: { url: "sqlite:/nowhere/at-all.db" } })]) {
    writeFileSync(join(away, "project.json"), project);
    expect(await run("--project", "shop", "--out", out)).toContain("the project shop");
    const document = await printOpenApi(["--project", "shop"], env);
    expect(document).toContain("/api/shop/goods/read");
    await expect(run("--project", "away", "--out", out)).rejects.toThrow("away");
  }
  rmSync(away, { recursive: true });
});

test.each([
  ["no file", [], /^--out is required: the file to write\nUsage: /],
  [
    "several projects and no name",
    ["--out", out],
    /^--project is required, because there are several: shop, store\n/,
  ],
  [
    "an unknown project",
    ["--out", out, "--project", "shpo"],
    /^There is no project "shpo"; there are: shop, store\n/,
  ],
  [
    "a file in a folder that does not exist",
    ["--out", join(folder, "nowhere/client.ts"), "--project", "shop"],
    /client\.ts cannot be written \(ENOENT\); name a file in a folder that exists after --out$/,
  ],
  ["an unknown argument", ["--outt", out], /'--outt'[^]*Usage: rowgate client/],
])("refuses %s", async (_, args, message) => {
  await expect(run(...args)).rejects.toThrow(message);
});

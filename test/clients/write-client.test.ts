/** The arguments of `rowgate client`. What it writes is in `client-code.test.ts`. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { afterAll, beforeAll, expect, test } from "vitest";
import { writeClient } from "../../app/start/commands/print-openapi.ts";

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

const run = (...args: string[]): Promise<string> =>
  writeClient(args, { CONFIG_DIR: join(folder, "configs") });

test("writes the client of the project that is named", async () => {
  expect(await run("--project", "store", "--out", out)).toBe(
    `Wrote ${out}: a client for the project store\n`,
  );
  expect(readFileSync(out, "utf8")).toContain('path: "/api/store/goods/read"');
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

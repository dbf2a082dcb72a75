/** `serve --init`: the first start writes a configuration for DATABASE_URL, and no other one does. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { afterAll, beforeAll, expect, test } from "vitest";
import { initAtFirstStart } from "../../app/start/commands/init.ts";
import { projectNameOf } from "../../app/start/commands/init-address.ts";

const folder = mkdtempSync(join(tmpdir(), "rowgate-first-"));
const configDir = join(folder, "configs");
const url = `sqlite:${join(folder, "shop.db")}`;
const projectFile = join(configDir, "shop/project.json");

/** What is printed. */
async function start(env: Record<string, string>): Promise<string> {
  let printed = "";
  await initAtFirstStart({
    env: { CONFIG_DIR: configDir, ...env },
    out: (text) => (printed += text),
  });
  return printed;
}

beforeAll(() => {
  const database = new Database(join(folder, "shop.db"));
  database.exec("create table goods (id integer primary key, name varchar(40) not null)");
  database.close();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("without files and without a database, the start fails and says what to set", async () => {
  await expect(start({})).rejects.toThrow(
    `CONFIG_DIR=${configDir} has no project. Set DATABASE_URL to the address of your database`,
  );
});

test("a database that cannot be opened leaves no files", async () => {
  await expect(start({ DATABASE_URL: "sqlite:./none.db" })).rejects.toThrow("none.db");
  expect(readdirSync(folder)).not.toContain("configs");
});

test("the first start writes the tables, and the variable in place of the address", async () => {
  const printed = await start({ DATABASE_URL: url });
  expect(JSON.parse(readFileSync(projectFile, "utf8")).database.url).toBe("${DATABASE_URL}");
  expect(readdirSync(join(configDir, "shop"))).toContain("goods.json");
  expect(printed).not.toContain(url);
});

test("later starts leave the files alone", async () => {
  writeFileSync(projectFile, "{}");
  expect(await start({ DATABASE_URL: "sqlite:./none.db" })).toBe("");
  expect(readFileSync(projectFile, "utf8")).toBe("{}");
});

test.each([
  ["postgres://me@localhost/shop?sslmode=require", "shop"],
  ["mysql://localhost/my%20shop", "my_shop"],
  ["mysql://localhost/", "main"],
  ["sqlite:./data/shop.sqlite3", "shop"],
  ["sqlite:./Angebote 50% und mehr.db", "Angebote_50_und_mehr"],
])("the project of %s is %s", (address, name) => expect(projectNameOf(address)).toBe(name));

/** Which files of the folder in CONFIG_DIR are the configuration. */
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { readConfigFiles } from "../../app/start/settings/config-files.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "rowgate-files-"));
  await write("shop/project.json");
});
afterEach(() => rm(folder, { recursive: true }));

async function write(path: string): Promise<void> {
  await mkdir(dirname(join(folder, path)), { recursive: true });
  await writeFile(join(folder, path), path);
}

test.each([
  ["project.schema.json", false],
  ["shop/goods.json", true],
  ["shop/goods.json~", false],
  // Told as a fault, and not passed over.
  ["shop/goods.JSON", true],
  ["shop/messages/de.Json", true],
  ["shop/notes/goods.json", false],
  ["shop/query/a/b.sql", true],
  ["shop/components/node_modules/x/index.js", false],
  // Of macOS, of editors, and of version control.
  ["shop/._goods.json", false],
  ["shop/query/._open.sql", false],
  ["shop/components/.cache/x.js", false],
  [".vscode/settings.json", false],
  [".git/x.json", false],
])("%s: %s", async (path, isRead) => {
  await write(path);
  expect((await readConfigFiles(folder)).has(path)).toBe(isRead);
});

test("the lock file of an editor, which leads nowhere, is passed over", async () => {
  await symlink("somebody@machine.4711", join(folder, "shop", ".#project.json"));
  expect([...(await readConfigFiles(folder)).keys()]).toEqual(["shop/project.json"]);
});

test.each([
  ["a link that leads nowhere", "ENOENT", (path: string) => symlink("nowhere", path)],
  ["a folder", "EISDIR", (path: string) => mkdir(path)],
])("%s in the place of a file is told as what it is", async (_, code, put) => {
  const path = join(folder, "shop", "goods.json");
  await put(path);
  const message = `${path} cannot be read (${code}); correct or remove it`;
  await expect(readConfigFiles(folder)).rejects.toThrow(message);
});

/** What core's `Files` promises, over a folder: whole or not there, ranges, limits, names; and what is removed when its time is over. */
import { mkdtemp, readdir, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { limits } from "../../core/limits.ts";
import type { Files } from "../../core/ports.ts";
import { removeOld } from "../../jobs/clean-up.ts";
import { createFolderFiles } from "../../jobs/files-folder.ts";
import { openFiles } from "../../jobs/open-files.ts";

let folder: string;
let files: Files;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "rowgate-test-files-"));
  files = createFolderFiles(join(folder, "kept"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const bytes = (text: string): Uint8Array[] => [Buffer.from(text)];
const textOf = async (key: string, range?: { start: number; end: number }) =>
  new Response(await files.read(key, range)).text();
const keysOf = async (prefix: string) =>
  (await Array.fromAsync(files.list(prefix))).map(({ key }) => key).toSorted();
const partials = () => readdir(join(folder, "kept/.partial"));

test("a file is read as it was written, whole or in part", async () => {
  const info = await files.write("exports/a/b.csv", bytes("0123456789"));
  expect(info).toMatchObject({ key: "exports/a/b.csv", bytes: 10 });
  expect(await files.info("exports/a/b.csv")).toEqual(info);
  expect(await textOf("exports/a/b.csv")).toBe("0123456789");
  expect(await textOf("exports/a/b.csv", { start: 3, end: 5 })).toBe("345");
});

test("a file that is written again takes the place of the old one", async () => {
  await files.write("a", bytes("old"));
  await files.write("a", bytes("new one"));
  expect(await textOf("a")).toBe("new one");
});

test("a file is not there while it is written", async () => {
  const write = files.write("a", slowly());
  async function* slowly() {
    yield* bytes("one");
    expect(await files.info("a")).toBeNull();
    expect(await keysOf("")).toEqual([]);
    yield* bytes("two");
  }
  await write;
  expect(await textOf("a")).toBe("onetwo");
});

test("nothing is left of a file whose bytes end with an error, and the old one stays", async () => {
  await files.write("a", bytes("old"));
  async function* broken() {
    yield* bytes("half");
    throw new Error("no more");
  }
  await expect(files.write("a", broken())).rejects.toThrow("no more");
  expect([await textOf("a"), await partials()]).toEqual(["old", []]);
});

test("a file that is too large is refused, and nothing of it is left", async () => {
  await files.write("fits", bytes("12345"), { maxBytes: 5 });
  const refused = files.write("a", [...bytes("123"), ...bytes("456")], { maxBytes: 5 });
  await expect(refused).rejects.toMatchObject({ kind: "payloadTooLarge" });
  expect([await files.info("a"), await partials()]).toEqual([null, []]);
});

test("a file that is not there is null, not found, and removed without a word", async () => {
  expect(await files.info("no/such")).toBeNull();
  await expect(files.read("no/such")).rejects.toMatchObject({ kind: "notFound" });
  await files.remove("no/such");
  expect(await keysOf("no/")).toEqual([]);
});

test("a file that is removed while somebody reads it is read to its end", async () => {
  await files.write("a", [Buffer.alloc(1_000_000, 65)]);
  const stream = await files.read("a");
  await files.remove("a");
  expect((await new Response(stream).text()).length).toBe(1_000_000);
});

test("files are listed by the beginning of their names", async () => {
  for (const key of ["exports/a/1", "exports/b/2", "jobs/3"]) await files.write(key, bytes("x"));
  expect(await keysOf("")).toEqual(["exports/a/1", "exports/b/2", "jobs/3"]);
  expect(await keysOf("exports/")).toEqual(["exports/a/1", "exports/b/2"]);
  expect(await keysOf("uploads/")).toEqual([]);
});

test.each([
  "../a",
  "a/../../b",
  "/etc/passwd",
  "a//b",
  "",
  ".",
  "a/.hidden",
  ".partial/x",
  "a\0b",
  "a\\b",
])("the name %j is refused", async (key) => {
  await expect(files.write(key, bytes("x"))).rejects.toThrow("No file can be called");
  await expect(files.info(key)).rejects.toThrow("No file can be called");
  await expect(files.read(key)).rejects.toThrow("No file can be called");
  await expect(files.remove(key)).rejects.toThrow("No file can be called");
});

test("what a process that died was writing is removed after a while", async () => {
  await files.write("a", bytes("x"));
  const old = new Date(Date.now() - limits.fileAbandonedMs - 1_000);
  const [dead, recent] = ["dead", "recent"].map((name) => join(folder, "kept/.partial", name));
  await writeFile(dead!, "half");
  await writeFile(recent!, "half");
  await utimes(dead!, old, old);
  await createFolderFiles(join(folder, "kept")).write("b", bytes("x"));
  expect(await partials()).toEqual(["recent"]);
});

describe("files whose time is over", () => {
  test("are removed, each by the time of its project", async () => {
    const keys = [
      "exports/brief/a",
      "exports/long/b",
      "uploads/brief/c",
      "exports/gone/d",
      "jobs/e",
    ];
    for (const key of keys) await files.write(key, bytes("x"));
    const ttlSeconds = new Map([
      ["brief", 60],
      ["long", 86_400],
    ]);
    expect(await removeOld({ files, ttlSeconds }, Date.now())).toBe(0);
    expect(await removeOld({ files, ttlSeconds }, Date.now() + 3_600_000)).toBe(2);
    expect(await keysOf("")).toEqual(["exports/gone/d", "exports/long/b", "jobs/e"]);
  });
});

test("STORAGE_URL is a folder, and anything else is refused with a sentence", () => {
  expect(() => openFiles("s3://bucket")).toThrow("STORAGE_URL must be a folder");
  expect(() => openFiles("http://x")).toThrow("STORAGE_URL must be a folder");
});

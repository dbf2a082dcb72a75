/**
 * The guarantees of core's `Files`, in a folder and in a bucket: complete or absent, ranges, limits, names, and removal
 * of expired files. Cases of a bucket only: `bucket-files.test.ts`.
 */
import { mkdtemp, readdir, rm, stat, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { limits } from "../../core/values/limits.ts";
import { bucketLimits } from "../../jobs/files/bucket/bucket-limits.ts";
import type { Files } from "../../core/plans/files-port.ts";
import { removeOld } from "../../jobs/files/clean-up.ts";
import { createBucketFiles } from "../../jobs/files/bucket-files.ts";
import { createFolderFiles } from "../../jobs/files/folder-files.ts";
import { type OwnBucket, startBucket } from "../storage/own-bucket.ts";

/** A place for files, empty in each test. */
interface Place {
  open(): Files;
  /** Names of what was begun and is neither a file nor thrown away. */
  unfinished(): Promise<string[]>;
}

let folder: string;
let bucket: OwnBucket;
let count = 0;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "rowgate-test-files-"));
  bucket = await startBucket();
});
afterAll(async () => {
  await bucket?.stop();
  await rm(folder, { recursive: true, force: true });
});

const places: Readonly<Record<string, () => Place>> = {
  "a folder": () => {
    const root = join(folder, String(++count));
    return {
      open: () => createFolderFiles(root),
      unfinished: () => readdir(join(root, ".partial")),
    };
  },
  "a bucket": () => {
    const prefix = `${++count}/`;
    return {
      open: () => createBucketFiles({ ...bucket.address, prefix }),
      unfinished: () => bucket.uploads(),
    };
  },
};

const bytes = (text: string): Uint8Array[] => [Buffer.from(text)];

describe.each(Object.entries(places))("in %s", (_, makePlace) => {
  let place: Place;
  let files: Files;
  beforeEach(() => {
    place = makePlace();
    files = place.open();
  });

  const textOf = async (key: string, range?: { start: number; end: number }) =>
    new Response(await files.read(key, range)).text();
  const keysOf = async (prefix: string) =>
    (await Array.fromAsync(files.list(prefix))).map(({ key }) => key).toSorted();

  test("a file is read as it was written, whole or in part", async () => {
    const info = await files.write("exports/a/b.csv", bytes("0123456789"));
    expect(info).toMatchObject({ key: "exports/a/b.csv", bytes: 10 });
    expect(Math.abs(Date.now() - info.modifiedAtMs)).toBeLessThan(10_000);
    expect(await files.info("exports/a/b.csv")).toEqual(info);
    expect(await textOf("exports/a/b.csv")).toBe("0123456789");
    expect(await textOf("exports/a/b.csv", { start: 3, end: 5 })).toBe("345");
    expect(await textOf("exports/a/b.csv", { start: 0, end: 1 })).toBe("01");
    expect(await textOf("exports/a/b.csv", { start: 9, end: 9 })).toBe("9");
  });

  test("a file without a byte is a file", async () => {
    expect(await files.write("empty", [])).toMatchObject({ bytes: 0 });
    expect(await textOf("empty")).toBe("");
    expect(await keysOf("")).toEqual(["empty"]);
  });

  test.each([
    ["in one piece", 20_000_000],
    ["in pieces of 64 KiB", 65_536],
    ["in pieces of 3 MB", 3_000_000],
  ])("20 MB that come %s are read as they were written", async (_title, pieceBytes) => {
    const whole = noise(20_000_000);
    function* pieces() {
      for (let at = 0; at < whole.length; at += pieceBytes)
        yield whole.subarray(at, at + pieceBytes);
    }
    expect(await files.write("big", pieces())).toMatchObject({ bytes: whole.length });
    const read = Buffer.from(await new Response(await files.read("big")).arrayBuffer());
    expect(read.equals(whole)).toBe(true);
    const part = { start: 9_999_990, end: 10_000_009 };
    const middle = Buffer.from(await new Response(await files.read("big", part)).arrayBuffer());
    expect(middle.equals(whole.subarray(9_999_990, 10_000_010))).toBe(true);
    expect(await place.unfinished()).toEqual([]);
  });

  test.each([-1, 0, 1])("a file of a part's length and %d bytes is kept whole", async (more) => {
    const whole = noise(bucketLimits.partBytes + more);
    await files.write("edge", [whole]);
    const read = Buffer.from(await new Response(await files.read("edge")).arrayBuffer());
    expect(read.equals(whole)).toBe(true);
  });

  test("a file that is written again takes the place of the old one", async () => {
    await files.write("a", bytes("old"));
    await files.write("a", bytes("new one"));
    expect(await textOf("a")).toBe("new one");
  });

  test.each([
    ["short", "one"],
    ["long", "x".repeat(6_000_000)],
  ])("a %s file is not there while it is written", async (_title, first) => {
    async function* slowly() {
      yield* bytes(first);
      expect(await files.info("a")).toBeNull();
      expect(await keysOf("")).toEqual([]);
      yield* bytes("two");
    }
    await files.write("a", slowly());
    expect(await textOf("a")).toBe(`${first}two`);
  });

  test.each([
    ["at once", ""],
    ["soon", "half"],
    ["after many", "x".repeat(12_000_000)],
  ])(
    "nothing is left of a file whose bytes end with an error %s, and the old one stays",
    async (_title, first) => {
      await files.write("a", bytes("old"));
      async function* broken() {
        if (first !== "") yield* bytes(first);
        throw new Error("no more");
      }
      await expect(files.write("a", broken())).rejects.toThrow("no more");
      expect([await textOf("a"), await place.unfinished()]).toEqual(["old", []]);
    },
  );

  test("a file that is too large is refused, and nothing of it is left", async () => {
    await files.write("fits", bytes("12345"), { maxBytes: 5 });
    const refused = files.write("a", [...bytes("123"), ...bytes("456")], { maxBytes: 5 });
    await expect(refused).rejects.toMatchObject({ kind: "payloadTooLarge" });
    expect([await files.info("a"), await place.unfinished()]).toEqual([null, []]);
  });

  test("a file that is too large by its last byte ends its source, and nothing of it is left", async () => {
    let hasEnded = false;
    async function* endless() {
      try {
        for (;;) yield new Uint8Array(1_000_000);
      } finally {
        hasEnded = true;
      }
    }
    const refused = files.write("a", endless(), { maxBytes: 11_999_999 });
    await expect(refused).rejects.toMatchObject({ kind: "payloadTooLarge" });
    expect([await files.info("a"), await place.unfinished()]).toEqual([null, []]);
    expect(hasEnded).toBe(true);
  });

  test("a file that is not there is null, not found, and removed without a word", async () => {
    expect(await files.info("no/such")).toBeNull();
    await expect(files.read("no/such")).rejects.toMatchObject({ kind: "notFound" });
    await expect(files.read("no/such", { start: 0, end: 1 })).rejects.toMatchObject({
      kind: "notFound",
    });
    await files.remove("no/such");
    expect(await keysOf("no/")).toEqual([]);
  });

  test("a file that is removed while somebody reads it is read to its end", async () => {
    await files.write("a", [Buffer.alloc(1_000_000, 65)]);
    const stream = await files.read("a");
    await files.remove("a");
    expect((await new Response(stream).text()).length).toBe(1_000_000);
    expect(await files.info("a")).toBeNull();
  });

  test("a reader that stops early leaves the file as it is", async () => {
    await files.write("a", [Buffer.alloc(8_000_000, 65)]);
    const reader = (await files.read("a")).getReader();
    await reader.read();
    await reader.cancel();
    expect(await files.info("a")).toMatchObject({ bytes: 8_000_000 });
  });

  test("files are listed by the beginning of their names", async () => {
    for (const key of ["exports/a/1", "exports/b/2", "jobs/3"]) await files.write(key, bytes("x"));
    expect(await keysOf("")).toEqual(["exports/a/1", "exports/b/2", "jobs/3"]);
    expect(await keysOf("exports/")).toEqual(["exports/a/1", "exports/b/2"]);
    expect(await keysOf("uploads/")).toEqual([]);
    const [first] = await Array.fromAsync(files.list("jobs/"));
    expect(first).toEqual(await files.info("jobs/3"));
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
    "a b",
    "a?b",
    "a%2Fb",
  ])("the name %j is refused", async (key) => {
    await expect(files.write(key, bytes("x"))).rejects.toThrow("Invalid file name");
    await expect(files.info(key)).rejects.toThrow("Invalid file name");
    await expect(files.read(key)).rejects.toThrow("Invalid file name");
    await expect(files.remove(key)).rejects.toThrow("Invalid file name");
  });

  test("files whose time is over are removed, each by the time of its project", async () => {
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

test("what a process that died was writing into a folder is removed after a while", async () => {
  const root = join(folder, "abandoned");
  await createFolderFiles(root).write("a", bytes("x"));
  const old = new Date(Date.now() - limits.fileAbandonedMs - 1_000);
  const [dead, recent] = ["dead", "recent"].map((name) => join(root, ".partial", name));
  await writeFile(dead!, "half");
  await writeFile(recent!, "half");
  await utimes(dead!, old, old);
  await createFolderFiles(root).write("b", bytes("x"));
  expect(await readdir(join(root, ".partial"))).toEqual(["recent"]);
});

/** Bytes of which no two parts are equal. */
function noise(length: number): Buffer {
  const words = new Uint32Array(Math.ceil(length / 4));
  for (let at = 0; at < words.length; at++) words[at] = Math.imul(at, 2_654_435_761);
  return Buffer.from(words.buffer, 0, length);
}

test("files and folders of a folder are for the user of the process alone", async () => {
  const root = join(folder, "own", "deep");
  await createFolderFiles(root).write("exports/a/b.csv", bytes("x"));
  const modeOf = async (path: string) => ((await stat(join(root, path))).mode & 0o777).toString(8);
  const paths = ["", ".partial", "exports", "exports/a", "exports/a/b.csv"];
  expect(await Promise.all(paths.map(modeOf))).toEqual(["700", "700", "700", "700", "600"]);
});

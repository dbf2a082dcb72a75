/** Files in a bucket under faults: servers that die or hang, lost answers, wrong keys, leftovers of dead processes. */
import { mkdir, mkdtemp, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { AppError } from "../../core/values/errors.ts";
import { bucketLimits } from "../../jobs/files/bucket/bucket-limits.ts";
import { type BucketOptions, createBucketFiles } from "../../jobs/files/bucket-files.ts";
import { openFiles } from "../../jobs/files/open-files.ts";
import { runAside } from "../running/run-aside.ts";
import { objectEnding, startBucket, uploadsFolder } from "../storage/own-bucket.ts";
import { type Fate, type Network, startNetwork } from "../storage/unreliable-network.ts";
import { openForTests } from "../contract/harness.ts";

const bucket = openForTests(startBucket);

const filesOf = (options: Partial<BucketOptions> = {}) =>
  createBucketFiles({ ...bucket.address, prefix: "", ...options });
const keysIn = async (prefix: string) =>
  (await Array.fromAsync(filesOf({ prefix }).list(""))).map(({ key }) => key);
const large = new Uint8Array(12_000_000);
/** The error that the promise rejects with. */
const errorOf = (promise: Promise<unknown>): Promise<AppError> =>
  promise.then(
    () => expect.fail("It did not fail"),
    (error) => error,
  );
const detailOf = ({ cause }: AppError): string => (cause as Error).message;

test("a bucket is opened by its URL and keys, and a folder by its path", async () => {
  const folder = await mkdtemp(join(tmpdir(), "rowgate-test-files-"));
  const places = [
    { kind: "folder", path: folder },
    { kind: "bucket", prefix: "opened/", ...bucket.address },
  ] as const;
  for (const place of places) {
    const files = await openFiles(place);
    await files.write("a", [Buffer.from("x")]);
    expect(await new Response(await files.read("a")).text(), place.kind).toBe("x");
    await files.close();
  }
  expect(await keysIn("opened/")).toEqual(["a"]);
  await rm(folder, { recursive: true, force: true });
});

describe("listing", () => {
  test("gives every file, however many pages they are", async () => {
    const folder = join(bucket.folder, "many");
    await mkdir(folder, { recursive: true });
    const names = Array.from({ length: 2_005 }, (_, at) => `f${String(at).padStart(4, "0")}`);
    for (const name of names) await writeFile(join(folder, name + objectEnding), "x");
    expect(await keysIn("many/")).toEqual(names);
  });

  test("leaves out what the service cannot have put there", async () => {
    const folder = join(bucket.folder, "foreign");
    await mkdir(folder, { recursive: true });
    for (const name of ["a b", "a&b", "fine", ".hidden"])
      await writeFile(join(folder, name + objectEnding), "x");
    expect(await keysIn("foreign/")).toEqual(["fine"]);
  });
});

describe("what dead processes were uploading", () => {
  const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000);

  /** Of an upload of the prefix, begun so long ago. */
  async function plant(id: string, { key, begun }: { key: string; begun: Date }): Promise<string> {
    const folder = join(bucket.folder, uploadsFolder, id);
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, "key"), key);
    await utimes(join(folder, "key"), begun, begun);
    return folder;
  }

  test("is thrown away with the first write, when nothing came for an hour", async () => {
    for (const id of ["one", "two", "three"])
      await plant(id, { key: `left/${id}`, begun: hoursAgo(2) });
    await plant("young", { key: "left/young", begun: hoursAgo(0.9) });
    await plant("other", { key: "other/left", begun: hoursAgo(2) });
    const busy = await plant("busy", { key: "left/busy", begun: hoursAgo(5) });
    const quiet = await plant("quiet", { key: "left/quiet", begun: hoursAgo(5) });
    for (const part of ["1", "2", "3"])
      for (const [folder, hours] of [
        [busy, part === "3" ? 0.5 : 4] as const,
        [quiet, 4] as const,
      ]) {
        await writeFile(join(folder, part), "part");
        await utimes(join(folder, part), hoursAgo(hours), hoursAgo(hours));
      }
    await filesOf({ prefix: "left/" }).write("a", [Buffer.from("x")]);
    await expect.poll(() => bucket.uploads()).toEqual(["busy", "other", "young"]);
    for (const id of await bucket.uploads())
      await rm(join(bucket.folder, uploadsFolder, id), { recursive: true });
  });
});

describe("a bucket that", () => {
  test("does not exist is out of reach for every call, and the reason says so", async () => {
    const files = filesOf({ url: `${bucket.address.url}-gone` });
    const calls = [
      () => files.read("a"),
      () => files.write("a", [Buffer.from("x")]),
      () => files.write("a", [large]),
      () => files.remove("a"),
      () => Array.fromAsync(files.list("")),
    ];
    for (const call of calls) {
      const error = await errorOf(call());
      expect([error.kind, detailOf(error)]).toEqual([
        "unavailable",
        expect.stringContaining("404 NoSuchBucket"),
      ]);
    }
  });

  test.each([
    [
      "an unknown key",
      { accessKeyId: "NOBODY", secretAccessKey: "hush-hush" },
      "InvalidAccessKeyId",
    ],
    [
      "a wrong secret",
      { accessKeyId: "S3RVER", secretAccessKey: "hush-hush" },
      "SignatureDoesNotMatch",
    ],
  ])("is asked with %s is out of reach, and the reason holds no secret", async (_, keys, code) => {
    const files = filesOf({ keys });
    const calls = [files.info("a"), files.read("a"), files.write("a", [large])];
    const errors = await Promise.all(calls.map(errorOf));
    expect(errors.map(({ kind }) => kind)).toEqual(calls.map(() => "unavailable"));
    expect(detailOf(errors[1]!)).toContain(`403 ${code}`);
    expect(JSON.stringify(errors.map(detailOf))).not.toContain("hush");
  });

  test("does not run is out of reach at once, and in use again when it runs", async () => {
    const files = filesOf({ prefix: "restart/" });
    await files.write("a", [Buffer.from("kept")]);
    await bucket.kill();
    const beganMs = performance.now();
    const calls = [
      files.info("a"),
      files.read("a"),
      files.write("b", [Buffer.from("x")]),
      files.write("c", [large]),
      files.remove("a"),
      Array.fromAsync(files.list("")),
    ];
    const errors = await Promise.all(calls.map(errorOf));
    expect(errors.map(({ kind }) => kind)).toEqual(calls.map(() => "unavailable"));
    expect(performance.now() - beganMs).toBeLessThan(2 * bucketLimits.answerMs);
    await bucket.start();
    expect(await new Response(await files.read("a")).text()).toBe("kept");
  });

  test("hangs is out of reach in time, and in use again when it goes on", async () => {
    const files = filesOf({ prefix: "hang/" });
    await files.write("a", [Buffer.from("kept")]);
    bucket.pause();
    try {
      const beganMs = performance.now();
      const calls = [
        files.info("a"),
        files.read("a"),
        files.write("b", [Buffer.from("x")]),
        files.write("c", [large]),
        files.remove("d"),
      ];
      const errors = await Promise.all(calls.map(errorOf));
      expect(errors.map(({ kind }) => kind)).toEqual(calls.map(() => "unavailable"));
      expect(performance.now() - beganMs).toBeLessThan(3 * bucketLimits.answerMs);
    } finally {
      bucket.goOn();
    }
    expect(await new Response(await files.read("a")).text()).toBe("kept");
  });

  test("dies amid an upload ends it and its source, and shows no file", async () => {
    const files = filesOf({ prefix: "dead/" });
    let hasEnded = false;
    async function* source() {
      try {
        yield large;
        await bucket.kill();
        for (;;) yield large;
      } finally {
        hasEnded = true;
      }
    }
    const error = await errorOf(files.write("a", source()));
    expect([error.kind, hasEnded]).toEqual(["unavailable", true]);
    await bucket.start();
    expect(await keysIn("dead/")).toEqual([]);
    for (const id of await bucket.uploads())
      await rm(join(bucket.folder, uploadsFolder, id), { recursive: true });
  });

  test("dies amid a download breaks the stream, which never ends as if it were whole", async () => {
    const files = filesOf({ prefix: "half/" });
    await files.write("a", [large, large, large]);
    const reader = (await files.read("a")).getReader();
    await reader.read();
    await bucket.kill();
    const rest = async () => {
      while (!(await reader.read()).done);
    };
    expect((await errorOf(rest())).kind).toBe("unavailable");
    await bucket.start();
  });

  test("hangs amid a download breaks the stream in time", async () => {
    const files = filesOf({ prefix: "half/" });
    const reader = (await files.read("a")).getReader();
    await reader.read();
    bucket.pause();
    const rest = async () => {
      while (!(await reader.read()).done);
    };
    const error = await errorOf(rest()).finally(() => bucket.goOn());
    expect(error.kind).toBe("unavailable");
  });
});

describe("over a network that", () => {
  let network: Network;
  let fateOf: (line: string) => Fate;
  beforeEach(async () => {
    network = await startNetwork(bucket.address.url, (line) => fateOf(line));
  });
  afterEach(() => network.close());

  const away = () => filesOf({ url: `${network.origin}/test-files`, prefix: "away/" });
  /** Fates of the first calls that match the pattern. All other calls pass. */
  const first = (pattern: RegExp, fates: readonly Fate[]) => {
    const left = [...fates];
    fateOf = (line) => (pattern.test(line) ? (left.shift() ?? null) : null);
  };
  const busy: Fate = { status: 503, body: "<Error><Code>SlowDown</Code></Error>" };
  const slow: Fate = { status: 400, body: "<Error><Code>RequestTimeout</Code></Error>" };
  const late: Fate = { status: 200, body: "<Error><Code>InternalError</Code></Error>" };

  test.each<[string, RegExp, Fate[]]>([
    ["loses a beginning", /POST .*uploads=/, ["lose the call"]],
    ["loses the answer to a beginning", /POST .*uploads=/, ["lose the answer"]],
    ["loses parts", /PUT .*partNumber=[12]/, ["lose the call", "lose the call"]],
    ["loses the answer to a part", /PUT .*partNumber=2/, ["lose the answer"]],
    ["lets parts wait too long", /PUT .*partNumber/, [slow]],
    ["is too busy for parts", /PUT .*partNumber=1/, [busy, busy, busy]],
    ["loses the end", /POST .*uploadId=/, ["lose the call"]],
    ["loses the answer to the end", /POST .*uploadId=/, ["lose the answer"]],
    ["is told of a failure after a success", /POST .*uploadId=/, [late]],
  ])("%s a large file is stored whole nevertheless", async (_, pattern, fates) => {
    first(pattern, fates);
    expect(await away().write("a", [large])).toMatchObject({ bytes: large.length });
    expect(network.calls.filter(({ line }) => pattern.test(line)).length).toBeGreaterThan(
      fates.length,
    );
    const read = Buffer.from(await new Response(await away().read("a")).arrayBuffer());
    expect(read.equals(large)).toBe(true);
    await away().remove("a");
  });

  test.each<[string, Fate]>([
    ["loses every part", "lose the call"],
    ["is too busy for every part", busy],
    ["refuses every part", { status: 403, body: "<Error><Code>AccessDenied</Code></Error>" }],
  ])("%s nothing is left of a large file", async (_, fate) => {
    fateOf = (line) => (/PUT .*partNumber/.test(line) ? fate : null);
    const error = await errorOf(away().write("b", [large]));
    expect(error.kind).toBe("unavailable");
    expect(await filesOf({ prefix: "away/" }).info("b")).toBeNull();
    const begun = network.calls.filter(({ line }) => /POST .*uploads=/.test(line));
    const ended = network.calls.filter(({ line }) => /DELETE .*uploadId=/.test(line));
    expect([begun.length, ended.length]).toEqual([1, 1]);
  });

  test("refuses is asked once, and one that is too busy a few times", async () => {
    const reads = () => network.calls.filter(({ line }) => line.startsWith("GET")).length;
    fateOf = () => ({ status: 403, body: "" });
    await errorOf(away().read("a"));
    expect(reads()).toBe(1);
    fateOf = () => busy;
    await errorOf(away().read("a"));
    expect(reads()).toBe(1 + bucketLimits.triesMax);
  });

  test("sends one on to another place is not followed", async () => {
    const body = "<Error><Code>TemporaryRedirect</Code></Error>";
    fateOf = () => ({ status: 307, body, location: `${network.origin}/elsewhere` });
    expect(detailOf(await errorOf(away().read("a")))).toContain("307 TemporaryRedirect");
    expect(network.calls).toHaveLength(1);
  });

  test("answers without an end is given up, and asked once", async () => {
    fateOf = () => ({ status: 200, body: "x".repeat(bucketLimits.answerBytesMax + 1) });
    const error = await errorOf(Array.fromAsync(away().list("")));
    expect(detailOf(error)).toContain("the answer is too long");
    expect(network.calls).toHaveLength(1);
  });

  test("gives the whole file for a part of it is not believed", async () => {
    fateOf = () => ({ status: 200, body: "0123456789" });
    const error = await errorOf(away().read("a", { start: 3, end: 5 }));
    expect(error.kind).toBe("unavailable");
  });

  test("sees the token of lent keys, under the signature", async () => {
    fateOf = () => null;
    const keys = { ...bucket.address.keys, sessionToken: "lent" };
    await createBucketFiles({
      ...bucket.address,
      url: `${network.origin}/test-files`,
      prefix: "away/",
      keys,
    }).info("a");
    const [{ headers } = expect.fail("No call came")] = network.calls;
    expect(headers["x-amz-security-token"]).toBe("lent");
    expect(headers.authorization).toMatch(/SignedHeaders=[^,]*x-amz-security-token/);
  });
});

test("memory does not grow with a file that is written and read", async () => {
  const script = join(import.meta.dirname, "../storage/large-file.ts");
  const { url, keys } = bucket.address;
  const peakMb = async (megabytes: number) => {
    const args = [script, url, keys.accessKeyId, String(megabytes)];
    const { stdout, stderr, status } = await runAside(process.execPath, args);
    expect([status, stderr]).toEqual([0, ""]);
    return Number(stdout);
  };
  const [small, big] = [await peakMb(50), await peakMb(400)];
  expect(big - small).toBeLessThan(100);
});

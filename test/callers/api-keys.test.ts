/**
 * Looking up an API key takes the same time for a nearly right key as for any other: the hashes of all keys are
 * compared, each to its end. The tests count comparisons, because time depends on the machine.
 */
import { createHash } from "node:crypto";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createKeyFinder, type FindKey } from "../../app/callers/open-callers.ts";

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");
const key = "rgk_0123456789abcdefghijklmnopqrstuvwxyz";
const entry = (id: string, hash: string) => ({ id, sha256: hash, roles: ["clerk"], claims: {} });

const attempts: readonly (readonly [string, string])[] = [
  ["is right", key],
  ["was never valid", "rgk_zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz"],
  ["differs in its first character", `x${key.slice(1)}`],
  ["differs in its last character", `${key.slice(0, -1)}x`],
  ["is the beginning of a right one", key.slice(0, -1)],
  ["begins with a right one", `${key}x`],
  ["is empty", ""],
];

test.each(attempts)("a key that %s is hashed once, and only its hash is looked for", (_, asked) => {
  const digest = vi.fn(sha256);
  const find = createKeyFinder(
    [entry("other", sha256("other")), entry("erp", sha256(key))],
    digest,
  );
  expect(find(asked)?.id ?? null).toBe(asked === key ? "erp" : null);
  expect(digest.mock.calls).toEqual([[asked]]);
});

describe("the comparison of hashes", () => {
  /** How many bytes of hashes were read. */
  let reads = 0;
  beforeEach(() => {
    const from = Buffer.from.bind(Buffer) as (text: string, encoding: "hex") => Buffer;
    const watched = (bytes: Buffer): Buffer =>
      new Proxy(bytes, {
        get(target, name) {
          if (typeof name === "string" && /^\d+$/.test(name)) reads++;
          return Reflect.get(target, name, target) as unknown;
        },
      });
    const watchedFrom = (text: string, encoding: "hex") => watched(from(text, encoding));
    vi.spyOn(Buffer, "from").mockImplementation(watchedFrom as never);
  });
  afterEach(() => vi.restoreAllMocks());

  const hash = sha256(key);
  const others = Array.from({ length: 5 }, (_, at) => entry(`other-${at}`, sha256(String(at))));
  const readsOf = (find: FindKey): number => {
    reads = 0;
    find("asked");
    expect(reads).toBeGreaterThan(0);
    return reads;
  };

  test.each([
    ["another first digit", `${hash.startsWith("0") ? "1" : "0"}${hash.slice(1)}`],
    ["another last digit", `${hash.slice(0, -1)}${hash.endsWith("0") ? "1" : "0"}`],
    [
      "no equal digit",
      hash.replace(/./g, (digit) => (Number.parseInt(digit, 16) ^ 15).toString(16)),
    ],
  ])("reads as much for a hash with %s as for an equal one", (_, near) => {
    const finder = (asked: string) => createKeyFinder([entry("erp", hash), ...others], () => asked);
    expect(finder(near)("asked")).toBe(null);
    expect(readsOf(finder(near))).toBe(readsOf(finder(hash)));
  });

  test("reads as much for the first key as for the last one", () => {
    const first = createKeyFinder([entry("erp", hash), ...others], () => hash);
    const last = createKeyFinder([...others, entry("erp", hash)], () => hash);
    expect(first("asked")?.id).toBe("erp");
    expect(readsOf(first)).toBe(readsOf(last));
  });
});

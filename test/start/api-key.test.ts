/** `rowgate key`: what it prints is what a project takes. */
import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { newApiKey } from "../../app/start/commands/api-key.ts";

/** The key and the entry of the printed text. */
function read(text: string): { key: string; entry: Record<string, unknown> } {
  const key = /^ {2}(rgk_\S+)$/m.exec(text)?.[1] ?? "";
  const entry = /^ {2}(\{.*\})$/m.exec(text)?.[1] ?? "{}";
  return { key, entry: JSON.parse(entry) as Record<string, unknown> };
}

test("key prints a key and the entry with its hash", () => {
  const claims = '{"tenant": "t1"}';
  const { key, entry } = read(
    newApiKey(["--id", "erp", "--roles", "clerk, auditor", "--claims", claims]),
  );
  expect(entry).toEqual({
    id: "erp",
    sha256: createHash("sha256").update(key).digest("hex"),
    roles: ["clerk", "auditor"],
    claims: { tenant: "t1" },
  });
});

test("key prints another key each time", () => {
  const args = ["--id", "erp", "--roles", "clerk"];
  expect(read(newApiKey(args)).key).not.toBe(read(newApiKey(args)).key);
});

test("key says what a key without roles may use", () => {
  const words = /^The key has no roles, so it may only use what "access" allows to "\*"/m;
  for (const roles of [[], ["--roles", ""], ["--roles", " , "]]) {
    const text = newApiKey(["--id", "erp", ...roles]);
    expect(read(text).entry).toMatchObject({ id: "erp", roles: [] });
    expect(text).toMatch(words);
  }
  expect(newApiKey(["--id", "erp", "--roles", "clerk"])).not.toMatch(words);
});

test.each([
  ["no id", ["--roles", "clerk"], "--id is missing"],
  ["an unknown option", ["--id", "a", "--role", "clerk"], "--role"],
  ["claims that are no JSON", ["--id", "a", "--claims", "{"], "--claims must be a JSON object"],
  [
    "a number that JSON would round",
    ["--id", "a", "--claims", '{"org": 9007199254740993}'],
    "--claims: found 9007199254740993, expected fewer digits, or the number in quotes",
  ],
  ["claims that are a list", ["--id", "a", "--claims", "[]"], "--claims must be a JSON object"],
])("key refuses %s and says how it is used", (_, args, words) => {
  expect(() => newApiKey(args)).toThrow(words);
  expect(() => newApiKey(args)).toThrow("Usage: rowgate key");
});

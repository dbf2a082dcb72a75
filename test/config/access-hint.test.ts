/** The hint for an `access` that has actions as its keys. */
import { expect, test } from "vitest";
import { accessHint } from "../../core/config/reading/compat.ts";

const isAction = (name: string): boolean => ["read", "create", "import"].includes(name);

test.each([
  ["one action", { read: ["admin"] }, { admin: ["read"] }],
  [
    "several actions and roles",
    { read: ["admin", "clerk"], create: ["admin"] },
    { admin: ["read", "create"], clerk: ["read"] },
  ],
  ["a group", { import: ["admin"] }, { admin: ["import"] }],
  ["a role without a list", { read: "admin" }, { admin: ["read"] }],
  ["everybody in a list", { read: ["*"] }, { "*": ["read"] }],
  ["some keys alone", { admin: "*", read: ["clerk"] }, { admin: "*", clerk: ["read"] }],
])("access by action is turned: %s", (_, access, expected) => {
  expect(accessHint(access, isAction)).toBe(`roles as the keys: ${JSON.stringify(expected)}`);
});

test.each([
  ["roles", { admin: "*", clerk: ["read", "create"] }],
  ["a role that is called like an action", { read: ["read"], create: "*" }],
  ["an empty list", { read: [] }],
  ["a list that holds no texts", { read: [1] }],
  ["a role with an unknown action", { clerk: ["raed"] }],
  ["nothing", undefined],
  ["a list", ["read"]],
])("access by role gets no hint: %s", (_, access) => {
  expect(accessHint(access, isAction)).toBeNull();
});

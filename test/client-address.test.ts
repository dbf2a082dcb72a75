/** Which requests count as those of one client: by its address, as the entry of the runtime tells it. */
import { Hono } from "hono";
import { expect, test } from "vitest";
import { addressOf, clientAt } from "../app/http/client-address.ts";
import { nobody, shareOf } from "../core/plans/caller.ts";

const app = new Hono().get("/", (c) => c.json(addressOf(c)));

test.each([
  ["10.0.0.7", "10.0.0.7"],
  ["::ffff:10.0.0.7", "10.0.0.7"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
  ["2001:db8:1:2::9", "2001:db8:1:2::/64"],
  ["::1", "0:0:0:0::/64"],
  ["", null],
  [null, null],
])("the address %j counts as %j", async (address, expected) => {
  expect(await (await app.request("/", {}, clientAt(address))).json()).toBe(expected);
});

test("without an entry that tells it the address is unknown", async () => {
  expect(await (await app.request("/")).json()).toBe(null);
});

test("a caller with a name has a share of its own, wherever it comes from", () => {
  const named = { ...nobody, kind: "key", id: "shop" } as const;
  expect(shareOf(named, "10.0.0.7")).toBe(shareOf(named, "10.0.0.8"));
  expect(shareOf(nobody, "10.0.0.7")).not.toBe(shareOf(nobody, "10.0.0.8"));
  expect(shareOf({ ...nobody, kind: "anonymous" }, "10.0.0.7")).toBe(shareOf(nobody, "10.0.0.7"));
});

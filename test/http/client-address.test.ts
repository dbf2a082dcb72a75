/** Which requests count as those of one client: by its address, as the entry of the runtime tells it. */
import { describe, expect, test } from "vitest";
import { addressOf, clientAt, connectedAddressOf } from "../../app/http/client-address.ts";
import { nobody, shareOf } from "../../core/plans/caller.ts";

const from = (address: string | null, headers: Record<string, string> = {}) => ({
  client: clientAt(address),
  headers: new Headers(headers),
});

test.each([
  ["10.0.0.7", "10.0.0.7"],
  ["::ffff:10.0.0.7", "10.0.0.7"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
  ["2001:db8:1:2::9", "2001:db8:1:2::/64"],
  ["::1", "0:0:0:0::/64"],
  ["", null],
  [null, null],
])("the address %j counts as %j", (address, expected) => {
  expect(addressOf(from(address), 0)).toBe(expected);
});

describe("behind proxies", () => {
  const proxy = "10.0.0.1";

  test.each([
    ["no proxy is believed without the setting", 0, "198.51.100.7", proxy],
    ["the last entry is what the one proxy saw", 1, "203.0.113.9, 198.51.100.7", "198.51.100.7"],
    [
      "of two proxies the first saw the client",
      2,
      "203.0.113.9, 198.51.100.7, 10.0.0.2",
      "198.51.100.7",
    ],
    ["fewer entries than proxies: the leftmost", 3, "198.51.100.7, 10.0.0.2", "198.51.100.7"],
    ["an entry with a port", 1, "198.51.100.7:4711", "198.51.100.7"],
    ["an IPv6 entry counts as its network", 1, "2001:db8:1:2::9", "2001:db8:1:2::/64"],
    ["an IPv6 entry with a port", 1, "[2001:db8:1:2::9]:4711", "2001:db8:1:2::/64"],
    ["an IPv4 address in IPv6 form", 1, "::ffff:198.51.100.7", "198.51.100.7"],
    ["no header: the other end of the connection", 1, null, proxy],
    ["an empty header", 1, "", proxy],
    ["an entry that is no address", 1, "198.51.100.7, unknown", proxy],
    [
      "what stands left of an entry that is no address",
      2,
      "203.0.113.9, unknown, 10.0.0.2",
      "10.0.0.2",
    ],
  ])("%s", (_, proxies, sent, expected) => {
    const asked = from(proxy, sent === null ? {} : { "X-Forwarded-For": sent });
    expect([addressOf(asked, proxies), connectedAddressOf(asked)]).toEqual([expected, proxy]);
  });
});

test("without an entry that tells it the address is unknown", () => {
  expect(addressOf({ client: {}, headers: new Headers() }, 0)).toBe(null);
});

test("a caller with a name has a share of its own, wherever it comes from", () => {
  const named = { ...nobody, kind: "key", id: "shop" } as const;
  expect(shareOf(named, "10.0.0.7")).toBe(shareOf(named, "10.0.0.8"));
  expect(shareOf(nobody, "10.0.0.7")).not.toBe(shareOf(nobody, "10.0.0.8"));
  expect(shareOf({ ...nobody, kind: "anonymous" }, "10.0.0.7")).toBe(shareOf(nobody, "10.0.0.7"));
});

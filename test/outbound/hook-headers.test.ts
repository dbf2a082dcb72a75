/** A hook's headers come from the configuration at the time of the call. Stored calls do not contain them. */
import { describe, expect, test } from "vitest";
import { createHeadersOf, withHeaders, withoutHeaders } from "../../app/outbound/hook-headers.ts";
import { readConfig } from "../../core/config/reading/read-config.ts";
import type { HookCall } from "../../core/plans/hook-call.ts";
import type { HookPlace } from "../../core/plans/outbound-port.ts";

const hook = (name: string, key: string) => ({ name, url: "/api/a/b", headers: { Key: key } });
const hooks = {
  sent: {
    onBefore: [hook("tell", "before")],
    onAfter: [hook("tell", "first"), hook("tell", "second"), { name: "bare", url: "/api/a/b" }],
  },
};
const { projects } = readConfig(
  new Map([
    ["shop/project.json", JSON.stringify({ database: { url: "sqlite::memory:" } })],
    [
      "shop/orders.json",
      JSON.stringify({
        tableName: "orders",
        action: { "change-status": true },
        workflow: { hooks },
      }),
    ],
  ]),
  {},
);
const headersOf = createHeadersOf(projects);
const place: HookPlace = {
  project: "shop",
  endpoint: "orders",
  status: "sent",
  hook: "onAfter:tell",
  index: 0,
};

describe("the headers of a hook", () => {
  test.each([
    ["are those of its place", {}, { Key: "first" }],
    ["are those of the same name further on", { index: 1 }, { Key: "second" }],
    ["are those of its name when the list became shorter", { index: 7 }, { Key: "first" }],
    ["are those of its list", { hook: "onBefore:tell" }, { Key: "before" }],
    ["are none where it has none", { hook: "onAfter:bare", index: 2 }, {}],
    ["are unknown when its name is gone", { hook: "onAfter:gone" }, null],
    ["are unknown when its status is gone", { status: "toString" }, null],
    ["are unknown when its endpoint is gone", { endpoint: "gone" }, null],
    ["are unknown when its project is gone", { project: "gone" }, null],
  ])("%s", (_, more, headers) => {
    expect(headersOf({ ...place, ...more })).toEqual(headers);
  });
});

test("a call is kept without them, and made with those of the moment", () => {
  const request = { method: "POST", url: "/a", headers: { Key: "old", Own: "1" }, body: null };
  const call: HookCall = {
    id: "c",
    place,
    label: "orders onAfter:tell",
    requestId: "r",
    request: { ...request, timeoutMs: 1 },
  };
  const kept = withoutHeaders(call, { Key: "old" });
  expect(kept.request.headers).toEqual({ Own: "1" });
  expect(withHeaders(kept, { Key: "new" }).request.headers).toEqual({ Key: "new", Own: "1" });
});

/**
 * All outbound calls follow the same rules: private addresses only if the operator named them, no redirects, and limits
 * of time and size for an answer. The other tests of this folder, of buckets and of workerd cover details.
 */
import { describe, expect, test } from "vitest";
import { createKeySet, noKeysYet } from "../../app/callers/key-set.ts";
import { createOutbound } from "../../app/outbound/outbound-client.ts";
import { createEdgeOutbound } from "../../app/start/edge/outbound.ts";
import { createLog } from "../../app/start/observing/log.ts";
import type { Outbound } from "../../core/plans/outbound-port.ts";
import { limits } from "../../core/values/limits.ts";
import { createBucketClient } from "../../jobs/files/bucket/client.ts";
import { startHookServer } from "./hook-server.ts";
import { openForTests } from "../contract/harness.ts";

const server = openForTests(startHookServer);

interface Kind {
  /** Resolves with what the caller learns of a call to this path of the server; rejects when it learns of a failure. */
  readonly call: (path: string, allowed: boolean) => Promise<unknown>;
  readonly timeoutMs: number;
}

const own = (): Response => new Response();
const hosts = (allowed: boolean): string[] => (allowed ? [server.host] : []);
const outbounds: Readonly<Record<string, (allowed: boolean) => Outbound>> = {
  "on Node": (allowed) => createOutbound({ allowedHosts: hosts(allowed), own }),
  "on Workers": (allowed) => createEdgeOutbound({ allowedHosts: hosts(allowed), own }),
};
const urlOf = (path: string): string => `http://${server.host}${path}`;

const kinds: Record<string, Kind> = {
  // Only the operator sets the bucket's URL, so its address is allowed as given.
  "a call of a bucket": {
    timeoutMs: 800,
    call: (path) => {
      const keys = { accessKeyId: "id", secretAccessKey: "secret" };
      const client = createBucketClient({ url: urlOf(path), region: "auto", keys });
      return client.ask({ method: "GET", key: "file", timeoutMs: 800 });
    },
  },
};
for (const [where, open] of Object.entries(outbounds)) {
  kinds[`a hook ${where}`] = {
    timeoutMs: 800,
    async call(path, allowed) {
      const request = { method: "POST", url: urlOf(path), headers: {}, body: "{}", timeoutMs: 800 };
      const { status } = await open(allowed).send(request);
      if (status >= 300) throw new Error(`The hook answered with status ${status}`);
    },
  };
  kinds[`the keys of an issuer ${where}`] = {
    timeoutMs: limits.keySetTimeoutMs,
    call: async (path, allowed) =>
      createKeySet({
        url: urlOf(path),
        outbound: open(allowed),
        log: createLog("silent"),
        nowMs: () => performance.now(),
        known: noKeysYet(),
      })({ alg: "ES256" }, { payload: "", signature: "" }),
  };
}

/** Allowed delay after the time limit, for a busy machine. */
const graceMs = 5_000;
let serial = 0;

describe.each(Object.keys(kinds))("%s", (name) => {
  const { call, timeoutMs } = kinds[name]!;
  const hears = (mark: string): string[] =>
    server.heard.map(({ path }) => path).filter((path) => path.includes(mark));

  test.concurrent.each([
    "silent",
    "drip-head",
    "drip-body",
    "huge",
    "long-head",
    "closes",
    "closes-late",
    "garbage",
    "redirect",
    "status/500",
  ])("fails in time where the other side is: %s", async (peer) => {
    const startMs = performance.now();
    await expect(call(`/${peer}`, true)).rejects.toThrow();
    expect(performance.now() - startMs).toBeLessThan(timeoutMs + graceMs);
  });

  test("follows no redirect", async () => {
    const mark = `mark-${serial++}`;
    await expect(call(`/redirect/${mark}`, true)).rejects.toThrow();
    expect(hears(mark).every((path) => path.startsWith(`/redirect/${mark}`))).toBe(true);
    expect(server.heard.map(({ path }) => path)).not.toContain("/");
  });

  test.skipIf(name.includes("bucket"))(
    "does not go to a private address that is not allowed",
    async () => {
      const mark = `mark-${serial++}`;
      await expect(call(`/${mark}`, false)).rejects.toThrow();
      expect(hears(mark)).toEqual([]);
    },
  );
});

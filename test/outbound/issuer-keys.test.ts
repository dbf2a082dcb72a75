/** The keys of an issuer of tokens are fetched by the rules of every call to another service: addresses, redirects and size. */
import { hash } from "node:crypto";
import { generateKeyPair, SignJWT } from "jose";
import { pino } from "pino";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openCallers } from "../../app/callers/open-callers.ts";
import { createOutbound } from "../../app/outbound/outbound-client.ts";
import { type HookServer, startHookServer } from "../hook-server.ts";

let server: HookServer;
let token: string;
beforeAll(async () => {
  server = await startHookServer();
  const { privateKey } = await generateKeyPair("ES256");
  token = await new SignJWT({}).setProtectedHeader({ alg: "ES256" }).sign(privateKey);
});
afterAll(() => server?.close());

test.each([
  ["a private address that is not allowed", "/private", [], "is not a public address", 0],
  [
    "a redirect",
    "/redirect?to=/elsewhere",
    ["allowed"],
    "The token issuer answered with status 302",
    1,
  ],
  ["an answer without an end", "/huge", ["allowed"], "The answer is too long", 1],
])("%s gives no keys", async (_, path, allowed, reason, calls) => {
  const before = server.heard.length;
  const reasons: string[] = [];
  const write = (line: string) =>
    void reasons.push((JSON.parse(line) as { err: { message: string } }).err.message);
  const { authenticate } = openCallers(
    { jwt: { jwksUri: `http://${server.host}${path}`, rolesClaim: "roles" } },
    {
      digest: (text) => hash("sha256", text),
      outbound: createOutbound({
        allowedHosts: allowed.length > 0 ? [server.host] : [],
        own: () => new Response(),
      }),
      log: pino({ level: "warn" }, { write }),
    },
  );
  const asked = authenticate(new Headers({ Authorization: `Bearer ${token}` }));
  await expect(asked).rejects.toMatchObject({ kind: "unavailable" });
  expect(reasons).toEqual([expect.stringContaining(reason)]);
  expect(server.heard.length - before).toBe(calls);
});

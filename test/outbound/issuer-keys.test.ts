/** Fetching a token issuer's keys follows the rules of all outbound calls, except that its host may be private. */
import { hash } from "node:crypto";
import { generateKeyPair, SignJWT } from "jose";
import { pino } from "pino";
import { beforeAll, expect, test } from "vitest";
import { openCallers } from "../../app/callers/open-callers.ts";
import { createOutbound } from "../../app/outbound/outbound-client.ts";
import { startHookServer } from "./hook-server.ts";
import { openForTests } from "../contract/harness.ts";

let token: string;
const server = openForTests(startHookServer);
beforeAll(async () => {
  const { privateKey } = await generateKeyPair("ES256");
  token = await new SignJWT({}).setProtectedHeader({ alg: "ES256" }).sign(privateKey);
});

test.each([
  ["a redirect", "/redirect?to=/elsewhere", "The token issuer answered with status 302"],
  ["an answer without an end", "/huge", "The answer is too long"],
])("%s of a private host gives no keys", async (_, path, reason) => {
  const before = server.heard.length;
  const reasons: string[] = [];
  const write = (line: string) =>
    void reasons.push((JSON.parse(line) as { err: { message: string } }).err.message);
  const { authenticate } = openCallers(
    { jwt: { jwksUri: `http://${server.host}${path}`, subjectClaim: "sub", rolesClaim: "roles" } },
    {
      digest: (text) => hash("sha256", text),
      outboundTo: (allowedHosts) => createOutbound({ allowedHosts, own: () => new Response() }),
      log: pino({ level: "warn" }, { write }),
    },
  );
  const asked = authenticate(new Headers({ Authorization: `Bearer ${token}` }));
  await expect(asked).rejects.toMatchObject({ kind: "unavailable" });
  expect(reasons).toEqual([expect.stringContaining(reason)]);
  expect(server.heard.length - before).toBe(1);
});

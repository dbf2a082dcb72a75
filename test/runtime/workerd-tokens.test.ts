/** Credentials in workerd: API keys, and tokens whose issuer keys are shared by requests that share no calls. */
import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { type Issuer, startIssuer } from "../callers/issuer.ts";
import { openEdge } from "./edge-place.ts";
import { endpoints, tables } from "./edge-visits.ts";
import { openForTests } from "../contract/harness.ts";

const issuer = openForTests(startIssuer);
const edge = openForTests(() => {
  const sha256 = createHash("sha256").update("a key").digest("hex");
  return openEdge({
    engine: "postgres",
    tables,
    endpoints: { ...endpoints, goods: { ...endpoints.goods, access: { member: ["read"] } } },
    project: {
      auth: {
        apiKeys: [{ id: "key", sha256, roles: ["member"] }],
        jwt: { jwksUri: `http://${issuer.host}/jwks`, rolesClaim: "roles" },
      },
    },
  });
});

const claims = { roles: "member" };
const read = async (headers: Record<string, string>): Promise<number> =>
  (await edge.post("goods/read", { page: 1 }, headers)).status;
const byToken = async (...asked: Parameters<Issuer["tokenOf"]>): Promise<number> =>
  read({ authorization: `Bearer ${await issuer.tokenOf(...asked)}` });

test("tokens that come at once to a cold isolate are all let in, and the keys are kept", async () => {
  const statuses = await Promise.all(Array.from({ length: 8 }, () => byToken("old", { claims })));
  expect(statuses).toEqual(Array.from({ length: 8 }, () => 200));
  const { fetched } = issuer;
  for (let times = 0; times < 3; times++) expect(await byToken("old", { claims })).toBe(200);
  expect(issuer.fetched).toBe(fetched);
});

test("keys and tokens are judged as on Node", async () => {
  expect(await read({ "x-api-key": "a key" })).toBe(200);
  expect(await read({ "x-api-key": "another" })).toBe(401);
  expect(await read({})).toBe(401);
  expect(await byToken("old", { signedBy: "strange", claims })).toBe(401);
  expect(await byToken("strange", { claims })).toBe(401);
  expect(await byToken("old")).toBe(403);
});

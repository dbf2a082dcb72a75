/** Wrong credentials of every kind get the same answer, byte for byte, so it does not reveal how close a guess was. */
import { createHash } from "node:crypto";
import { SignJWT } from "jose";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Issuer, startIssuer } from "../callers/issuer.ts";
import { type Fixture, openFixture } from "./harness.ts";

const key = "rgk_0123456789abcdefghijklmnopqrstuvwxyz";
const secret = "a secret of at least thirty-two bytes";
const apiKeys = [
  { id: "erp", sha256: createHash("sha256").update(key).digest("hex"), roles: ["clerk"] },
];

type Headers = Readonly<Record<string, string>>;
const bearer = (token: string): Headers => ({ authorization: `Bearer ${token}` });

/** Wrong keys, for every project. */
const wrongKeys: Readonly<Record<string, string>> = {
  "a key that was never valid": "rgk_zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz",
  "a key that differs in its first character": `x${key.slice(1)}`,
  "a key that differs in its last character": `${key.slice(0, -1)}x`,
  "the beginning of a key": key.slice(0, 20),
  "a key with more behind it": `${key}x`,
  "a key in capitals": key.toUpperCase(),
  "a very long key": key.repeat(100),
  "an empty key": "",
};

let issuer: Issuer;
const opened: Record<string, Fixture> = {};
beforeAll(async () => {
  issuer = await startIssuer();
  const open = (jwt: object): Promise<Fixture> =>
    openFixture({
      project: { auth: { apiKeys, jwt } },
      tables: [{ name: "notes", columns: { note_id: "key" } }],
      endpoints: {
        notes: { tableName: "notes", action: { read: true }, access: { clerk: ["read"] } },
      },
    });
  opened["a shared secret"] = await open({ secret });
  opened["the keys of an issuer"] = await open({ jwksUri: `http://${issuer.host}/jwks` });
});
afterAll(async () => {
  for (const fixture of Object.values(opened)) await fixture.close();
  await issuer?.close();
});

const own = (claims: object, { expires = "1h", by = secret } = {}): Promise<string> =>
  new SignJWT({ sub: "anna", roles: ["clerk"], ...claims })
    .setProtectedHeader({ alg: "HS256" })
    .setExpirationTime(expires)
    .sign(new TextEncoder().encode(by));
const claims = { roles: ["clerk"] };
const soon = (): number => Math.floor(Date.now() / 1000);

/** The right token of a project, and its wrong ones. */
const tokens: Readonly<
  Record<string, { right: () => Promise<string>; wrong: Record<string, () => Promise<string>> }>
> = {
  "a shared secret": {
    right: () => own({}),
    wrong: {
      "an expired token": () => own({}, { expires: "-2m" }),
      "a token of tomorrow": () => own({ nbf: soon() + 3600 }),
      "a token with a wrong signature": () => own({}, { by: `${secret}!` }),
      "a token without its last character": async () => (await own({})).slice(0, -1),
      "a token of an issuer": () => issuer.tokenOf("old", { claims }),
      "no token": async () => "a.b.c",
    },
  },
  "the keys of an issuer": {
    right: () => issuer.tokenOf("old", { claims }),
    wrong: {
      "an expired token": () => issuer.tokenOf("old", { claims, expires: "-2m" }),
      "a token of tomorrow": () =>
        issuer.tokenOf("old", { claims: { ...claims, nbf: soon() + 3600 } }),
      "a token with a wrong signature": () =>
        issuer.tokenOf("old", { signedBy: "strange", claims }),
      "a token of an unknown key": () => issuer.tokenOf("strange", { claims }),
      "a token of a shared secret": () => own({}),
      "no token": async () => "a.b.c",
    },
  },
};

/** The answer without the parts that differ in every request. */
async function answerOf(fixture: Fixture, headers: Headers): Promise<string> {
  const response = await fixture.fetch("/api/test/notes/read", {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: '{"limit": 5}',
  });
  const kept = [...response.headers].filter(([name]) => name !== "x-request-id");
  const text = (await response.text()).replace(/"timestamp":"[^"]*"/, '"timestamp":""');
  return JSON.stringify([response.status, kept, text]);
}

describe.each(Object.keys(tokens))("a project with %s", (project) => {
  const { right, wrong } = tokens[project]!;
  const without = (): Promise<string> => answerOf(opened[project]!, {});

  test("answers 401 without credentials, and 200 with right ones", async () => {
    expect(JSON.parse(await without())[0]).toBe(401);
    const fixture = opened[project]!;
    expect(JSON.parse(await answerOf(fixture, { "x-api-key": key }))[0]).toBe(200);
    expect(JSON.parse(await answerOf(fixture, bearer(await right())))[0]).toBe(200);
  });

  test.each(Object.keys(wrongKeys))("answers the same for %s", async (name) => {
    expect(await answerOf(opened[project]!, { "x-api-key": wrongKeys[name]! })).toBe(
      await without(),
    );
  });

  test.each(Object.keys(wrong))("answers the same for %s", async (name) => {
    expect(await answerOf(opened[project]!, bearer(await wrong[name]!()))).toBe(await without());
  });
});

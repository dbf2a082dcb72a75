/** Tokens of an issuer whose keys are fetched over HTTP (JWKS). `test/callers/key-set.test.ts` tests the key set. */
import { expect, test } from "vitest";
import { type Issuer, startIssuer } from "../callers/issuer.ts";
import { type Answer, openFixture, openForTests } from "./harness.ts";

const issuer = openForTests(startIssuer);
const fixture = openForTests(() =>
  openFixture({
    project: {
      auth: { jwt: { jwksUri: `http://${issuer.host}/jwks`, rolesClaim: "realm.roles" } },
    },
    tables: [{ name: "notes", columns: { note_id: "key", owner: "text(20)" } }],
    setUp: () => ["insert into notes (note_id, owner) values ('1', 'someone'), ('2', 'else')"],
    endpoints: {
      notes: {
        tableName: "notes",
        action: { read: true },
        access: { member: ["read"] },
        rowScope: { member: { owner: "{{claims.sub}}" } },
      },
    },
  }),
);

const claims = { realm: { roles: ["member"] } };
const read = async (...asked: Parameters<Issuer["tokenOf"]>): Promise<Answer> =>
  fixture.post(
    "notes/read",
    { limit: 5 },
    { authorization: `Bearer ${await issuer.tokenOf(...asked)}` },
  );

test("a token of the issuer lets its subject in", async () => {
  const answers = await Promise.all(Array.from({ length: 5 }, () => read("old", { claims })));
  for (const { status, body } of answers) {
    expect(status).toBe(200);
    expect(body.data).toEqual([{ note_id: "1", owner: "someone" }]);
  }
});

test.each([
  ["another key under a published name", "old", { signedBy: "strange", claims }, 401],
  ["a key that is not published", "strange", { claims }, 401],
  ["no role", "old", {}, 403],
] as const)("a token of %s is refused", async (_, kid, more, status) => {
  expect((await read(kid, more)).status).toBe(status);
});

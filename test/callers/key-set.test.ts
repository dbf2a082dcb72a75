/**
 * An issuer's keys (JWKS), fetched from a real server: how often, and what happens when the issuer changes its keys,
 * does not answer or is unreachable. Also tokens that try another algorithm or key.
 */
import { exportJWK, exportSPKI, SignJWT } from "jose";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createKeySet, type KnownKeys, noKeysYet } from "../../app/callers/key-set.ts";
import { createTokenReader, type FindToken } from "../../app/callers/tokens.ts";
import { createOutbound } from "../../app/outbound/outbound-client.ts";
import { createLog } from "../../app/start/observing/log.ts";
import { limits } from "../../core/values/limits.ts";
import { type Issuer, startIssuer } from "./issuer.ts";

let issuer: Issuer;
beforeEach(async () => {
  issuer = await startIssuer();
});
afterEach(() => issuer?.close());

/** Milliseconds, moved by the tests. */
let nowMs = 1_000_000;
const rolesClaim = "roles";

function reader({ known = noKeysYet() }: { known?: KnownKeys } = {}): FindToken {
  const outbound = createOutbound({ allowedHosts: [issuer.host], own: () => new Response() });
  const url = `http://${issuer.host}/jwks`;
  const log = createLog("silent");
  const keySet = createKeySet({ url, outbound, log, nowMs: () => nowMs, known });
  return createTokenReader({ jwksUri: url, subjectClaim: "sub", rolesClaim }, keySet);
}

const kindOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    (caller) => (caller === null ? "refused" : "let in"),
    (error: { kind?: string }) => error.kind ?? error,
  );
const outcome = async (
  find: FindToken,
  ...asked: Parameters<Issuer["tokenOf"]>
): Promise<unknown> => kindOf(find(await issuer.tokenOf(...asked)));

describe("the keys of an issuer", () => {
  test("are fetched once for any number of tokens, also for many at once", async () => {
    const find = reader();
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => outcome(find, "old")));
    expect(new Set(outcomes)).toEqual(new Set(["let in"]));
    expect(await outcome(find, "old")).toBe("let in");
    expect(issuer.fetched).toBe(1);
  });

  test("are fetched by each of the requests that share nothing but what is known", async () => {
    const known = noKeysYet();
    const outcomes = await Promise.all(
      Array.from({ length: 5 }, () => outcome(reader({ known }), "old")),
    );
    expect(outcomes).toEqual(Array.from({ length: 5 }, () => "let in"));
    const fetched = issuer.fetched;
    expect(await outcome(reader({ known }), "old")).toBe("let in");
    expect(issuer.fetched).toBe(fetched);
  });

  test("are fetched again for a key that is not among them, and not more often than the pause", async () => {
    const find = reader();
    expect(await outcome(find, "old")).toBe("let in");
    issuer.published = ["old", "new"];
    nowMs += limits.keySetPauseMs + 1;
    expect(await outcome(find, "new")).toBe("let in");
    expect(issuer.fetched).toBe(2);
    for (let times = 0; times < 5; times++) expect(await outcome(find, "strange")).toBe("refused");
    expect(issuer.fetched).toBe(2);
  });

  test("are tried one after the other for a token that names none of several", async () => {
    issuer.published = ["old", "new"];
    const find = reader();
    expect(await outcome(find, "old", { isUnnamed: true })).toBe("let in");
    expect(await outcome(find, "new", { isUnnamed: true })).toBe("let in");
    expect(await outcome(find, "strange", { isUnnamed: true })).toBe("refused");
    expect(await outcome(find, "new", { isUnnamed: true, expires: "-1h" })).toBe("refused");
  });

  test("no longer count when the issuer withdrew them", async () => {
    const find = reader();
    expect(await outcome(find, "old")).toBe("let in");
    issuer.published = ["new"];
    nowMs += limits.keySetFreshMs + 1;
    // This one starts the fetch, and does not wait for it.
    await outcome(find, "old");
    await expect.poll(() => outcome(find, "old")).toBe("refused");
  });

  test.each(["error", "no keys", "redirect"] as const)(
    "go on counting when the issuer answers with %s",
    async (answer) => {
      const find = reader();
      expect(await outcome(find, "old")).toBe("let in");
      issuer.answer = answer;
      nowMs += limits.keySetFreshMs + 1;
      expect(await outcome(find, "old")).toBe("let in");
      await expect.poll(() => issuer.fetched).toBe(2);
      expect(await outcome(find, "old")).toBe("let in");
    },
  );

  test("that never came are 503, and are asked for again after the pause", async () => {
    issuer.answer = "error";
    const find = reader();
    expect(await outcome(find, "old")).toBe("unavailable");
    issuer.answer = "keys";
    expect(await outcome(find, "old")).toBe("unavailable");
    expect(issuer.fetched).toBe(1);
    nowMs += limits.keySetPauseMs + 1;
    expect(await outcome(find, "old")).toBe("let in");
  });

  test("of a silent issuer are waited for so long, and no longer", async () => {
    issuer.answer = "nothing";
    const startMs = performance.now();
    expect(await outcome(reader(), "old")).toBe("unavailable");
    expect(performance.now() - startMs).toBeLessThan(limits.keySetTimeoutMs + 4_000);
  });
});

describe("a token is refused", () => {
  test("when its key has the name of a published one and is another", async () => {
    expect(await outcome(reader(), "old", { signedBy: "strange" })).toBe("refused");
  });

  test.each(["HS256", "HS512"])(
    "when it is signed by %s with the public key as the secret",
    async (alg) => {
      const pem = await exportSPKI(issuer.pairs.old.publicKey);
      const jwk = JSON.stringify(await exportJWK(issuer.pairs.old.publicKey));
      for (const secret of [pem, jwk]) {
        const forged = await new SignJWT({ sub: "someone" })
          .setProtectedHeader({ alg, kid: "old" })
          .setExpirationTime("1h")
          .sign(new TextEncoder().encode(secret));
        expect(await kindOf(reader()(forged))).toBe("refused");
      }
    },
  );

  test("when it brings its own key, or says where to find one", async () => {
    const jwk = await exportJWK(issuer.pairs.strange.publicKey);
    const jku = `http://${issuer.host}/own`;
    const forged = await new SignJWT({ sub: "someone" })
      .setProtectedHeader({ alg: "ES256", jwk, jku, kid: "old" })
      .setExpirationTime("1h")
      .sign(issuer.pairs.strange.privateKey);
    expect(await kindOf(reader()(forged))).toBe("refused");
    expect(issuer.fetched).toBe(1);
  });
});

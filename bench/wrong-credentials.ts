/**
 * `npm run bench:credentials`: measures how long it takes to refuse credentials of each kind, to show that the time
 * does not reveal how close a guess is. All kinds are measured in each round, in random order. The medians of keys
 * should differ only by the noise: the difference between the two kinds that were never valid.
 */
import { createHash, hash } from "node:crypto";
import { SignJWT } from "jose";
import { openCallers } from "../app/callers/open-callers.ts";
import { createLog } from "../app/start/observing/log.ts";

const rounds = 5_000;
const key = "rgk_0123456789abcdefghijklmnopqrstuvwxyz";
const secret = "a secret of at least thirty-two bytes";
const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");
const apiKeys = Array.from({ length: 20 }, (_, at) => ({
  id: `key-${at}`,
  sha256: sha256(at === 10 ? key : `other ${at}`),
  roles: ["clerk"],
  claims: {},
}));
const { authenticate } = openCallers(
  { apiKeys, jwt: { secret, subjectClaim: "sub", rolesClaim: "roles" } },
  {
    digest: (text) => hash("sha256", text),
    outboundTo: () => ({ send: () => Promise.reject(new Error("There is no issuer")) }),
    log: createLog("silent"),
  },
);

const tokenOf = (more: object, { by = secret, expires = "1h" } = {}): Promise<string> =>
  new SignJWT({ sub: "anna", ...more })
    .setProtectedHeader({ alg: "HS256" })
    .setExpirationTime(expires)
    .sign(new TextEncoder().encode(by));
const byKey = (text: string): Headers => new Headers({ "x-api-key": text });
const byToken = (token: string): Headers => new Headers({ authorization: `Bearer ${token}` });

const kinds: readonly (readonly [string, Headers])[] = [
  ["key: never valid", byKey("rgk_zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz")],
  ["key: never valid, another one", byKey("rgk_yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy")],
  ["key: other first character", byKey(`x${key.slice(1)}`)],
  ["key: other last character", byKey(`${key.slice(0, -1)}x`)],
  ["key: without its last character", byKey(key.slice(0, -1))],
  ["token: expired", byToken(await tokenOf({}, { expires: "-2m" }))],
  ["token: wrong signature", byToken(await tokenOf({}, { by: `${secret}!` }))],
];

const samples = new Map(kinds.map(([name]) => [name, [] as number[]]));
for (let round = 0; round < rounds; round++) {
  for (const [name, headers] of kinds.toSorted(() => Math.random() - 0.5)) {
    const startMs = performance.now();
    await Promise.try(() => authenticate(headers)).then(
      () => {
        throw new Error(`${name} was let in`);
      },
      () => undefined,
    );
    samples.get(name)!.push((performance.now() - startMs) * 1_000);
  }
}

for (const [name, all] of samples) {
  const sorted = all.slice(rounds / 10).toSorted((one, other) => one - other);
  const at = (share: number): string => sorted[Math.floor(sorted.length * share)]!.toFixed(1);
  console.log(
    `${name.padEnd(32)} median ${at(0.5).padStart(6)} µs, quarters ${at(0.25)} to ${at(0.75)}`,
  );
}

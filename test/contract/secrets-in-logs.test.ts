/** No credential of a request, valid or not, and no secret of the configuration appears in the log or in an answer. */
import { createHash } from "node:crypto";
import { SignJWT } from "jose";
import { pino } from "pino";
import { expect, test } from "vitest";
import { openFixture, openForTests } from "./harness.ts";

const secret = "the-shared-secret-of-all-the-tokens";
const key = "rg_the-right-key-of-the-caller";
const wrong = "rg_the-wrong-key-of-nobody";
const password = "the-password-of-somebody";

const lines: string[] = [];
const place = openForTests(openFixture, {
  tables: [{ name: "goods", columns: { id: "key", mark: "text(20)" } }],
  setUp: () => ["insert into goods values ('a', 'A')"],
  endpoints: {
    goods: {
      tableName: "goods",
      action: { read: true, create: true, lookup: true },
      fieldNameLookup: { id: "id", text: "mark" },
      access: { clerk: ["read", "lookup"] },
    },
  },
  project: {
    rateLimit: { max: 1_000 },
    auth: {
      apiKeys: [
        { id: "erp", sha256: createHash("sha256").update(key).digest("hex"), roles: ["clerk"] },
      ],
      jwt: { secret },
    },
  },
  log: pino({ level: "trace" }, { write: (line: string) => void lines.push(line) }),
});

const tokenBy = (by: string): Promise<string> =>
  new SignJWT({ roles: ["clerk"] })
    .setProtectedHeader({ alg: "HS256" })
    .setSubject("ann")
    .setExpirationTime("1h")
    .sign(new TextEncoder().encode(by));

test("neither shows a key, a token, a password or a shared secret", async () => {
  const right = await tokenBy(secret);
  const forged = await tokenBy("another secret of thirty-two bytes");
  const credentials: Record<string, string>[] = [
    {},
    { "X-Api-Key": key },
    { "X-Api-Key": wrong },
    { Authorization: `Bearer ${right}` },
    { Authorization: `Bearer ${forged}` },
    { Authorization: `Basic ${btoa(`ann:${password}`)}` },
    { Authorization: key },
    { Cookie: `session=${password}` },
  ];
  let answered = "";
  const statuses = new Set<number>();
  for (const headers of credentials) {
    const asked = { ...headers, "X-Request-Mode": "dynamic" };
    const answers = [
      await place.post("goods/read", { limit: 1 }, headers),
      await place.post("goods/read", "{", headers),
      await place.post("goods/create", { mark: "B" }, headers),
      await place.post("goods/nothing", {}, headers),
      await place.request(`/api/test/goods/lookup?access_token=${right}`, { headers: asked }),
      await place.request("/health/ready", { headers }),
      await place.request("/nothing", { headers }),
    ];
    for (const { status, body, headers: given } of answers) {
      statuses.add(status);
      answered += JSON.stringify([body, [...given]]);
    }
  }
  expect([...statuses].toSorted((a, b) => a - b)).toEqual([200, 400, 401, 403, 404]);
  const logged = lines.join("");
  expect(logged).toContain('"status":401');
  const signature = (token: string) => token.split(".")[2]!;
  for (const hidden of [
    key,
    wrong,
    secret,
    password,
    btoa(`ann:${password}`),
    signature(right),
    signature(forged),
    createHash("sha256").update(key).digest("hex"),
  ]) {
    expect(logged.includes(hidden), `the log has ${hidden}`).toBe(false);
    expect(answered.includes(hidden), `an answer has ${hidden}`).toBe(false);
  }
});

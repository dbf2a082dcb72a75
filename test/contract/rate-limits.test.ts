/**
 * Rate limits: which requests count, for whom, and what a client sees. Each test has its own buckets: an address only it
 * sends (the service trusts one proxy), and a key. End of windows: `test/stores/memory/memory-counters.test.ts`.
 */
import { createHash, randomBytes } from "node:crypto";
import { SignJWT } from "jose";
import { describe, expect, test } from "vitest";
import { check } from "./cases.ts";
import { type Answer, type Fixture, openFixture, openForTests } from "./harness.ts";

/** Unique per run: another run can use the same Redis. */
const run = randomBytes(4);
const secret = "a shared secret of thirty-two bytes";
const keys = ["erp", "shop", "till", "far", "new", "known", "other", "late", "burst", "apart"];
const keyOf = (id: string): string => `key-of-${id}`;

const goods = {
  tableName: "goods",
  primaryKey: "id",
  action: { read: true, first: true, lookup: true },
  fieldNameLookup: { id: "id", text: "mark" },
};

const place = openForTests(openFixture, {
  tables: [{ name: "goods", columns: { id: "key", mark: "text(20)" } }],
  setUp: () => ["insert into goods values ('a', 'A')"],
  endpoints: { goods: { ...goods, access: { clerk: ["read", "lookup"], guest: ["read"] } } },
  project: {
    rateLimit: { windowSeconds: 600, max: 3, actions: { lookup: 1 } },
    auth: {
      apiKeys: keys.map((id) => ({
        id: `${id} ${run.toString("hex")}`,
        sha256: createHash("sha256").update(keyOf(id)).digest("hex"),
        roles: ["clerk"],
      })),
      jwt: { secret },
      anonymous: { roles: ["guest"] },
    },
    cors: { origins: ["https://shop.example"] },
  },
  env: { TRUST_PROXY: "1" },
});

let addresses = 0;
/** An address that no other test has. */
const newAddress = (): string => `2001:db8:${run.toString("hex", 0, 2)}:${++addresses}::1`;

type Headers = Record<string, string>;
const from = (address: string): Headers => ({ "X-Forwarded-For": address });
const withKey = (id: string): Headers => ({ "X-Api-Key": keyOf(id) });

const read = (headers: Headers): Promise<Answer> => place.post("goods/read", { limit: 1 }, headers);

const token = (subject: string): Promise<string> =>
  new SignJWT({ roles: ["clerk"] })
    .setProtectedHeader({ alg: "HS256" })
    .setSubject(`${subject} ${run.toString("hex")}`)
    .setExpirationTime("1h")
    .sign(new TextEncoder().encode(secret));

/** What is left, by the name of the limit. */
function leftIn({ headers }: Answer): Record<string, number> {
  const items = headers.get("RateLimit")?.split(", ") ?? [];
  return Object.fromEntries(
    items.map((item) => {
      const [, name = "", left] = /^"([^"]+)";r=(\d+);t=(?:600|5\d\d)$/.exec(item) ?? [];
      return [name, Number(left)];
    }),
  );
}

const tooMany = { status: 429, error: "Too many requests" };

test("answers say the limit, what is left, and when it begins again", async () => {
  const headers = from(newAddress());
  const answers = [await read(headers), await read(headers), await read(headers)];
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect(answers.map(leftIn)).toEqual([{ default: 2 }, { default: 1 }, { default: 0 }]);
  expect(answers[0]!.headers.get("RateLimit-Policy")).toBe('"default";q=3;w=600');
});

test("a request beyond the limit is 429, and says when to come again", async () => {
  const headers = from(newAddress());
  for (let sent = 0; sent < 3; sent++) await read(headers);
  const answer = await read(headers);
  check(answer, tooMany);
  expect(leftIn(answer)).toEqual({ default: 0 });
  const after = answer.headers.get("Retry-After") ?? "";
  expect(Number(after)).toBeGreaterThan(500);
  expect(answer.body.message).toBe(
    `The limit of requests is reached (3 in 600 s); try again in ${after} s`,
  );
});

describe("the bucket is", () => {
  test("the API key, wherever it comes from", async () => {
    for (let sent = 0; sent < 3; sent++) {
      check(await read({ ...from(newAddress()), ...withKey("erp") }), { status: 200 });
    }
    check(await read({ ...from(newAddress()), ...withKey("erp") }), tooMany);
    check(await read({ ...from(newAddress()), ...withKey("shop") }), { status: 200 });
  });

  test("the subject of the token, whichever token it is", async () => {
    const bearer = async (name: string) => ({
      ...from(newAddress()),
      Authorization: `Bearer ${await token(name)}`,
    });
    for (let sent = 0; sent < 3; sent++) check(await read(await bearer("ann")), { status: 200 });
    check(await read(await bearer("ann")), tooMany);
    check(await read(await bearer("bob")), { status: 200 });
  });

  test("not shared by a token and an API key of one name", async () => {
    const headers = from(newAddress());
    for (let sent = 0; sent < 3; sent++)
      await read({ ...headers, Authorization: `Bearer ${await token("till")}` });
    check(await read({ ...headers, ...withKey("till") }), { status: 200 });
  });

  test("else the address that the proxy saw, whatever else the header holds", async () => {
    const address = newAddress();
    for (let sent = 0; sent < 3; sent++) {
      check(await read(from(`${newAddress()}, ${address}`)), { status: 200 });
    }
    check(await read(from(`${newAddress()}, ${address}`)), tooMany);
  });
});

describe("counts", () => {
  const refused: { name: string; status: number; ask: (headers: Headers) => Promise<Answer> }[] = [
    {
      name: "a wrong API key, for the address",
      status: 401,
      ask: (headers) => read({ ...headers, "X-Api-Key": "wrong" }),
    },
    {
      name: "a token that is none, for the address",
      status: 401,
      ask: (headers) => read({ ...headers, Authorization: "Bearer x.y.z" }),
    },
    {
      name: "an action without the right",
      status: 401,
      ask: (headers) => place.post("goods/lookup", {}, headers),
    },
    {
      name: "an unknown action",
      status: 404,
      ask: (headers) => place.post("goods/nothing", {}, headers),
    },
    {
      name: "an unknown endpoint",
      status: 404,
      ask: (headers) => place.post("nothing/read", {}, headers),
    },
    {
      name: "a path below the project that leads nowhere",
      status: 404,
      ask: (headers) => place.post("goods/read/a/b/c", {}, headers),
    },
    {
      name: "a path with percent signs",
      status: 404,
      ask: (headers) => place.post("%67oods/read", {}, headers),
    },
    {
      name: "a wrong method",
      status: 405,
      ask: (headers) => place.request("/api/test/goods/read", { headers }),
    },
    ...["openapi.json", "goods/openapi.json", "dashboard.json"].map((path) => ({
      name: `a wrong method of ${path}`,
      status: 405,
      ask: (headers: Headers) => place.post(path, {}, headers),
    })),
    {
      name: "a body that is none",
      status: 400,
      ask: (headers) => place.post("goods/read", "{", headers),
    },
  ];
  test.each(refused)("$name", async ({ status, ask }) => {
    const headers = from(newAddress());
    const answer = await ask(headers);
    expect([answer.status, leftIn(answer)["default"]]).toEqual([status, 2]);
    for (let sent = 0; sent < 2; sent++) await ask(headers);
    check(await ask(headers), tooMany);
    check(await read(headers), tooMany);
  });

  test("an action that a key may not use, for the key", async () => {
    const headers = { ...from(newAddress()), ...withKey("far") };
    const answer = await place.post("goods/first", { where: { key: "id", value: "a" } }, headers);
    expect([answer.status, leftIn(answer)]).toEqual([403, { default: 2 }]);
  });

  test("nothing outside of the project", async () => {
    const headers = from(newAddress());
    for (const path of ["/health/live", "/api/nowhere/goods/read", "/nothing"]) {
      const answer = await place.request(path, { headers });
      expect(answer.headers.get("RateLimit")).toBeNull();
    }
    expect(leftIn(await read(headers))).toEqual({ default: 2 });
  });
});

describe("an action with a limit of its own", () => {
  test("counts in both, and is refused alone", async () => {
    const headers = from(newAddress());
    const first = await place.post("goods/lookup", {}, headers);
    expect(leftIn(first)).toEqual({ default: 2, lookup: 0 });
    expect(first.headers.get("RateLimit-Policy")).toBe('"default";q=3;w=600, "lookup";q=1;w=600');
    const second = await place.post("goods/lookup", {}, headers);
    check(second, tooMany);
    const after = second.headers.get("Retry-After");
    expect(second.body.message).toBe(
      `The limit of requests of lookup is reached (1 in 600 s); try again in ${after} s`,
    );
    expect(leftIn(await read(headers))).toEqual({ default: 0 });
  });
});

describe("an address whose refused requests have used up the limit", () => {
  const wrong = { "X-Api-Key": "wrong" };
  const limited = async (headers: Headers): Promise<void> => {
    for (let sent = 0; sent < 3; sent++)
      expect((await read({ ...headers, ...wrong })).status).toBe(401);
  };
  const about = ({ status, body, headers }: Answer): unknown[] => [
    status,
    body.error,
    body.message.replace(/in \d+ s$/, ""),
    headers.get("WWW-Authenticate"),
    headers.get("RateLimit-Policy"),
  ];

  test("gets 429 for right and wrong credentials alike, and does not learn which are right", async () => {
    const headers = from(newAddress());
    await limited(headers);
    const refused = about(await read({ ...headers, ...wrong }));
    expect(refused.slice(0, 2)).toEqual([429, "Too many requests"]);
    const tokenOfAnn = { Authorization: `Bearer ${await token("guessed")}` };
    for (const right of [withKey("new"), tokenOfAnn, withKey("new")])
      expect(about(await read({ ...headers, ...right }))).toEqual(refused);
    expect(about(await read({ ...headers, Authorization: "Bearer x" }))).toEqual(refused);
    // From elsewhere they are good: nothing was counted for them.
    const elsewhere = await read({ ...from(newAddress()), ...withKey("new") });
    expect([elsewhere.status, leftIn(elsewhere)]).toEqual([200, { default: 2 }]);
  });

  test("goes on with credentials that were accepted from there, and with no others", async () => {
    const headers = from(newAddress());
    check(await read({ ...headers, ...withKey("known") }), { status: 200 });
    await limited(headers);
    check(await read({ ...headers, ...withKey("known") }), { status: 200 });
    check(await read({ ...headers, ...withKey("other") }), tooMany);
    check(await read({ ...from(newAddress()), ...withKey("other") }), { status: 200 });
  });

  test("has used it up by guesses beyond it too, whatever its other requests were", async () => {
    const headers = from(newAddress());
    for (let sent = 0; sent < 3; sent++) check(await read(headers), { status: 200 });
    check(await read({ ...headers, ...withKey("late") }), { status: 200 });
    for (let sent = 0; sent < 3; sent++) check(await read({ ...headers, ...wrong }), tooMany);
    check(await read({ ...headers, ...withKey("other") }), tooMany);
    check(await read({ ...headers, ...withKey("late") }), { status: 200 });
  });

  test("learns nothing by guessing at once", async () => {
    const headers = from(newAddress());
    const guesses = [...Array.from({ length: 12 }, () => wrong), withKey("burst")];
    const answers = await Promise.all(guesses.map((guess) => read({ ...headers, ...guess })));
    expect(answers.map(({ status }) => status).filter((status) => status === 401)).toHaveLength(3);
    expect(answers.at(-1)!.status).toBe(429);
  });

  test("is not another address, and no other address is it", async () => {
    await limited(from(newAddress()));
    check(await read({ ...from(newAddress()), ...withKey("apart") }), { status: 200 });
  });
});

test("an action with a slash has its limit by both of its paths", async () => {
  const locking = await openFixture({
    tables: [{ name: "goods", columns: { id: "key" } }],
    endpoints: { goods: { tableName: "goods", action: { lock: true } } },
    project: { rateLimit: { windowSeconds: 600, actions: { "lock/acquire": 2 } } },
    env: { TRUST_PROXY: "1" },
  });
  const headers = from(newAddress());
  try {
    const left = [
      leftIn(await locking.post("goods/lock/acquire", {}, headers)),
      leftIn(await locking.post("lock/acquire", {}, headers)),
      leftIn(await locking.post("goods/lock/status", {}, headers)),
    ];
    expect(left).toEqual([{ "lock/acquire": 1 }, { "lock/acquire": 0 }, {}]);
  } finally {
    await locking.close();
  }
});

test("pages of allowed origins may see the limits, also of a refusal", async () => {
  const headers = { ...from(newAddress()), Origin: "https://shop.example" };
  for (let sent = 0; sent < 3; sent++) await read(headers);
  const answer = await read(headers);
  check(answer, tooMany);
  expect(answer.headers.get("Access-Control-Allow-Origin")).toBe("https://shop.example");
  expect(answer.headers.get("Access-Control-Expose-Headers")?.split(",")).toEqual(
    expect.arrayContaining(["RateLimit", "RateLimit-Policy", "Retry-After"]),
  );
});

test("without TRUST_PROXY the header is not believed, and a project without limits has none", async () => {
  const tables = [{ name: "goods", columns: { id: "key" } }] as const;
  const endpoints = { goods: { tableName: "goods", action: { read: true } } };
  const direct = await openFixture({ tables, endpoints, project: { rateLimit: { max: 1 } } });
  const open = await openFixture({ tables, endpoints, project: { rateLimit: {} } });
  try {
    // Where a network in front of the service names the client, as that of Workers does, its word counts.
    const client = { "CF-Connecting-IP": newAddress() };
    const ask = (of: Fixture) =>
      of.post("goods/read", { limit: 1 }, { ...from(newAddress()), ...client });
    check(await ask(direct), { status: 200 });
    check(await ask(direct), tooMany);
    for (let sent = 0; sent < 3; sent++) {
      const answer = await ask(open);
      expect([answer.status, answer.headers.get("RateLimit-Policy")]).toEqual([200, null]);
    }
  } finally {
    await direct.close();
    await open.close();
  }
});

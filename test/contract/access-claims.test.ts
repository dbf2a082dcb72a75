/**
 * Claims of a token. A token without a user or an expiry is refused, because all callers without a name would count as
 * one caller. Numbers in claims keep every digit, because rounding could match another tenant's rows.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { HookContext } from "../../core/plans/hook.ts";
import { type Answer, type Fixture, openFixture } from "./harness.ts";
import { tokenOf, tokenSecret as secret } from "./tenants.ts";

/** They are one number to a double. */
const [own, foreign] = ["9007199254740993", "9007199254740992"];
const roles = `"roles": ["member"]`;
const action = {
  create: true,
  read: true,
  first: true,
  update: true,
  delete: true,
  aggregate: true,
  lock: true,
  export: true,
};
const notes = { action, access: { member: Object.keys(action) } };

let heard: HookContext[] = [];
let fixture: Fixture;
beforeAll(async () => {
  const table = (name: string, org: "bigint" | "text(40)" | "decimal(20,0)") => ({
    name,
    columns: { note_id: "key", org, label: "text(40)" } as const,
  });
  fixture = await openFixture({
    tables: [
      table("numbers", "bigint"),
      table("words", "text(40)"),
      table("sums", "decimal(20,0)"),
    ],
    endpoints: {
      numbers: {
        tableName: "numbers",
        ...notes,
        components: { onBeforeInsert: ["components/hear.ts#hear"] },
        rowScope: { member: { org: "{{claims.org}}" } },
      },
      words: { tableName: "words", ...notes, rowScope: { member: { org: "{{claims.org}}" } } },
      sums: { tableName: "sums", ...notes, rowScope: { member: { org: "{{claims.org}}" } } },
      listed: { tableName: "numbers", ...notes, rowScope: { member: { org: "{{claims.orgs}}" } } },
      nested: {
        tableName: "words",
        ...notes,
        rowScope: { member: { org: "{{claims.realm.org}}" } },
      },
    },
    components: {
      "components/hear.ts": { hear: (context: HookContext) => void heard.push(context) },
    },
    project: { auth: { jwt: { secret } }, cache: { enabled: true } },
  });
  for (const table of ["numbers", "words", "sums"]) {
    const quoted = (org: string) => (table === "words" ? `'${org}'` : org);
    await fixture.sql(
      `insert into ${table} (note_id, org, label) values ('mine', ${quoted(own)}, 'm'), ('theirs', ${quoted(foreign)}, 't')`,
    );
  }
});
afterAll(() => fixture?.close());

const everything = { sort_columns: [{ column: "note_id" }] };
const idsOf = ({ body }: Answer): string[] =>
  body.data.map(({ note_id }: { note_id: string }) => note_id);

describe("a token is refused", () => {
  test.each([
    ["without a user", { sub: "" }],
    ["whose user is empty", { sub: '""' }],
    ["whose user is null", { sub: "null" }],
    ["whose user is a number", { sub: "5" }],
    ["whose user is a list", { sub: '["anna"]' }],
    ["whose user has a NUL", { sub: '"an\\u0000na"' }],
    ["without an end", { exp: "" }],
    ["whose end is a text", { exp: '"4102444800"' }],
    ["whose end is infinite", { exp: "1e999" }],
    ["whose beginning is a text", {}, '"nbf": "5"'],
    ["whose beginning is infinite", {}, '"nbf": -1e999'],
    ["whose time of issue is a text", {}, '"iat": "5"'],
    ["whose time of issue is infinite", {}, '"iat": 1e999'],
  ])("%s", async (_, without, claim = '"nbf": 0') => {
    const headers = await tokenOf(`${roles}, ${claim}`, without);
    const { status, body } = await fixture.post("numbers/read", everything, headers);
    expect([status, body.message]).toEqual([401, "Credentials are missing or invalid"]);
  });
});

describe("subjectClaim names the user", () => {
  test.each([
    ["user.name", `"user": {"name": "anna"}`, "anna"],
    ["https://id.example/user", `"https://id.example/user": "anna"`, "anna"],
    ["uid", `"uid": ${own}`, own],
    ["uid", `"id": "anna"`, null],
    ["uid", `"uid": 1.5`, null],
    ["uid", `"uid": true`, null],
    ["uid", `"uid": {"uid": "anna"}`, null],
  ])("as %s in %s: %s", async (subjectClaim, claims, user) => {
    const other = await openFixture({
      tables: [{ name: "notes", columns: { note_id: "key", created_by: "text(40)" } }],
      endpoints: { notes: { tableName: "notes", action: { create: true }, access: { "*": "*" } } },
      project: { auth: { jwt: { secret, subjectClaim } } },
    });
    try {
      const answer = await other.post("notes/create", { note_id: "n" }, await tokenOf(claims));
      expect([answer.status, answer.body.data?.created_by ?? null]).toEqual([
        user === null ? 401 : 201,
        user,
      ]);
    } finally {
      await other.close();
    }
  });
});

describe.each([
  ["numbers", `"org": ${own}`],
  ["words", `"org": ${own}`],
  ["listed", `"orgs": [1, ${own}]`],
  ["nested", `"realm": {"org": ${own}}`],
  // Other ways to write the same number.
  ["numbers", `"org": ${own}.0`],
  ["words", `"org": 9.007199254740993e15`],
])("the scope of %s by a claim with %s", (endpoint, claim) => {
  let headers: Record<string, string>;
  let stranger: Record<string, string>;
  beforeAll(async () => {
    headers = await tokenOf(`${claim}, ${roles}`);
    const other = claim.replace(own, foreign).replace("740993e15", "740992e15");
    stranger = await tokenOf(`${other}, ${roles}`, { sub: '"bert"' });
  });
  const key = (value: string) => ({ where: [{ key: "note_id", value }] });

  test("shows and changes the caller's rows alone, from the cache too", async () => {
    for (const [as, expected] of [
      [headers, "mine"],
      [stranger, "theirs"],
      [headers, "mine"],
      [stranger, "theirs"],
    ] as const)
      expect(idsOf(await fixture.post(`${endpoint}/read`, everything, as))).toEqual([expected]);
    expect((await fixture.post(`${endpoint}/first`, key("theirs"), headers)).body.data).toBeNull();
    const counted = await fixture.post(`${endpoint}/aggregate`, {}, headers);
    expect(counted.body.data).toEqual({ "count_*": 1 });
    const update = { note_id: "theirs", label: "x" };
    expect((await fixture.post(`${endpoint}/update`, update, headers)).status).toBe(404);
    const own_ = { note_id: "mine", label: "x" };
    expect((await fixture.post(`${endpoint}/update`, own_, headers)).status).toBe(200);
    const lock = { lock_keys: [{ key: "note_id", value: "theirs" }], ttl: 1 };
    expect((await fixture.post(`${endpoint}/lock/acquire`, lock, headers)).status).toBe(404);
  });

  test("takes and fills in new rows exactly", async () => {
    const row = { note_id: "new", label: "n" };
    const asked = endpoint === "listed" ? { ...row, org: own } : row;
    const created = await fixture.post(`${endpoint}/create`, asked, headers);
    expect([created.status, String(created.body.data.org)]).toEqual([201, own]);
    expect((await fixture.post(`${endpoint}/first`, key("new"), stranger)).body.data).toBeNull();
    const theirs = { note_id: "no", org: foreign };
    expect((await fixture.post(`${endpoint}/create`, theirs, headers)).status).toBe(403);
    await fixture.post(`${endpoint}/delete`, key("new"), headers);
  });

  test("goes along with a job", async () => {
    const started = await fixture.post(`${endpoint}/export`, { format: "jsonl" }, headers);
    const path = `/api/test/${endpoint}/export-download?job_id=${started.body.job_id}`;
    await expect
      .poll(async () => (await fixture.request(path, { headers })).status, { timeout: 20_000 })
      .toBe(200);
    const file = await (await fixture.fetch(path, { headers })).text();
    expect(
      file
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line).note_id),
    ).toEqual(["mine"]);
    expect((await fixture.request(path, { headers: stranger })).status).toBe(404);
  });
});

test.each([
  ["a number with too many digits", `"org": 1${"0".repeat(400)}`],
  ["a number with an exponent beyond every column", `"org": 1e999999`],
  ["an object", `"org": {"source": "${own}"}`],
])("%s in a claim matches no row", async (_, claim) => {
  for (const endpoint of ["numbers", "words", "sums"]) {
    const headers = await tokenOf(`${claim}, ${roles}`);
    const { status, body } = await fixture.post(`${endpoint}/read`, everything, headers);
    expect([status, body.data]).toEqual([200, []]);
  }
});

test("a decimal column keeps every digit, or no row matches", async () => {
  const headers = await tokenOf(`"org": ${own}, ${roles}`);
  const seen = idsOf(await fixture.post("sums/read", everything, headers));
  // SQLite keeps fifteen digits of a decimal.
  expect(seen).toEqual(fixture.engine === "sqlite" ? [] : ["mine"]);
  const created = await fixture.post("sums/create", { note_id: "new" }, headers);
  expect(created.status).toBe(fixture.engine === "sqlite" ? 403 : 201);
  await fixture.sql("delete from sums where note_id = 'new'");
});

test("a handler reads every digit of a claim", async () => {
  heard = [];
  const claims = `"org": ${own}, "more": [{"n": 0.12345678901234567890}], ${roles}`;
  await fixture.post("numbers/create", { note_id: "heard" }, await tokenOf(claims));
  const { user, query } = heard[0]!;
  expect(String(user!.claims["org"])).toBe(own);
  expect(JSON.stringify(user!.claims)).toContain(
    `"org":${own},"more":[{"n":0.12345678901234567890}]`,
  );
  expect(query).toBeTypeOf("function");
  await fixture.sql("delete from numbers where note_id = 'heard'");
});

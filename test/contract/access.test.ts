/**
 * Access rules in the configuration files: API keys, tokens and callers without credentials; actions, rows and columns
 * of each role. `scopes.test.ts` tests which rows a scope hides from each action.
 */
import { SignJWT } from "jose";
import { describe, expect, test } from "vitest";
import { apiKey, by, hashOf } from "./api-keys.ts";
import { type Answer, openFixture, openForTests } from "./harness.ts";

const secret = "a secret of at least thirty-two bytes";
const auth = {
  apiKeys: [
    apiKey("admin", ["admin"]),
    apiKey("clerk-a", ["clerk"], { tenant: "a" }),
    apiKey("clerk-b", ["clerk"], { tenant: "b" }),
    apiKey("both", ["clerk"], { tenant: ["a", "b"] }),
    apiKey("shouting", ["clerk"], { tenant: "A" }),
    apiKey("lost", ["clerk"]),
    apiKey("odd", ["clerk"], { tenant: { name: "a" } }),
    apiKey("auditor", ["auditor"]),
    apiKey("clerk-and-auditor", ["clerk", "auditor"], { tenant: "a" }),
    apiKey("nobody-special", ["unheard-of"]),
  ],
  jwt: { secret, issuer: "https://id.example", audience: "rowgate", rolesClaim: "realm.roles" },
  anonymous: { roles: ["guest"] },
};

const actions = {
  create: true,
  read: true,
  first: true,
  update: true,
  delete: true,
  adjust: true,
  lookup: true,
  aggregate: true,
  export: true,
  lock: true,
};

const fixture = openForTests(openFixture, {
  project: { auth },
  tables: [
    {
      name: "places",
      columns: {
        place_id: "key",
        tenant: "text(10)",
        name: "text(40)",
        within_id: { type: "text(36)", references: { table: "places", column: "place_id" } },
      },
    },
    {
      name: "items",
      columns: {
        item_id: "key",
        tenant: "text(10)",
        name: "text(40)",
        cost: "integer",
        place_id: { type: "text(36)", references: { table: "places", column: "place_id" } },
        // With two references in one statement, SQLite does not report which of them broke.
        spare_id: { type: "text(36)", references: { table: "places", column: "place_id" } },
        created_by: "text(20)",
        updated_by: "text(20)",
      },
    },
  ],
  setUp: () => [
    "insert into places (place_id, tenant, name) values ('pa', 'a', 'A'), ('pb', 'b', 'B')",
    `insert into items (item_id, tenant, name, cost, place_id) values
        ('a1', 'a', 'one', 1, 'pa'), ('a2', 'a', 'two', 2, 'pa'), ('b1', 'b', 'three', 3, 'pb')`,
  ],
  endpoints: {
    items: {
      tableName: "items",
      action: actions,
      fieldNameLookup: { id: "item_id", text: "name" },
      adjustConfig: { fields: { cost: { type: "integer" } } },
      access: {
        admin: "*",
        clerk: ["read", "first", "create", "update", "lookup", "aggregate", "export"],
        auditor: ["read"],
        guest: ["lookup"],
        "*": ["first"],
      },
      rowScope: { clerk: { tenant: "{{claims.tenant}}" } },
      hiddenFields: { clerk: ["cost"] },
      readOnlyFields: { clerk: ["name"] },
    },
    places: {
      tableName: "places",
      action: { read: true, lookup: true, create: true },
      fieldNameLookup: { id: "place_id", text: "name" },
      access: { admin: "*", clerk: ["read", "create"] },
      rowScope: { clerk: { tenant: "{{claims.tenant}}" } },
    },
    closed: { tableName: "items", action: { read: true } },
    ...Object.fromEntries(
      ["name", "cost"].map((key) => [
        `by_${key}`,
        {
          tableName: "items",
          action: { import: true },
          access: { admin: "*", clerk: ["import"] },
          hiddenFields: { clerk: ["cost"] },
          readOnlyFields: { clerk: ["name"] },
          importConfig: { upsertKeys: [key] },
        },
      ]),
    ),
  },
});

const as = (id: string, path: string, body: unknown): Promise<Answer> =>
  fixture.post(path, body, by(id));
const everything = { sort_columns: [{ column: "item_id" }] };
const idsOf = ({ body }: Answer): string[] =>
  body.data.map(({ item_id }: { item_id: string }) => item_id);
const gist = ({ status, body }: Answer): unknown[] => [status, body.error];

async function token(
  claims: Record<string, unknown>,
  {
    key = secret,
    alg = "HS256",
    expires = "1h",
  }: { key?: string; alg?: string; expires?: string } = {},
): Promise<Record<string, string>> {
  const signed = await new SignJWT({ iss: "https://id.example", aud: "rowgate", ...claims })
    .setProtectedHeader({ alg })
    .setExpirationTime(expires)
    .sign(new TextEncoder().encode(key));
  return { authorization: `Bearer ${signed}` };
}
const clerk = { sub: "t-1", realm: { roles: ["clerk"] }, tenant: "b" };

describe("credentials", () => {
  test("of a key let the caller in", async () => {
    expect(idsOf(await as("clerk-a", "items/read", everything))).toEqual(["a1", "a2"]);
  });

  test("of a token let the caller in", async () => {
    const answer = await fixture.post("items/read", everything, await token(clerk));
    expect(idsOf(answer)).toEqual(["b1"]);
  });

  test("of a token may name roles in one text", async () => {
    const words = { ...clerk, realm: { roles: "x clerk" } };
    expect(idsOf(await fixture.post("items/read", everything, await token(words)))).toEqual(["b1"]);
  });

  test.each<readonly [string, () => Promise<Record<string, string>> | Record<string, string>]>([
    ["a key that there is not", () => ({ "x-api-key": "key of stranger" })],
    ["an empty key", () => ({ "x-api-key": "" })],
    ["the hash of a key", () => ({ "x-api-key": hashOf("key of admin") })],
    ["a bad key beside a good token", async () => ({ ...(await token(clerk)), "x-api-key": "x" })],
    ["no token at all", () => ({ authorization: "Bearer" })],
    ["a token that is none", () => ({ authorization: "Bearer a.b.c" })],
    ["another scheme", () => ({ authorization: "Basic YTpi" })],
    ["another secret", () => token(clerk, { key: `${secret}!` })],
    ["another algorithm", () => token(clerk, { alg: "HS512" })],
    ["another issuer", () => token({ ...clerk, iss: "https://else.example" })],
    ["another audience", () => token({ ...clerk, aud: "else" })],
    ["a token of yesterday", () => token(clerk, { expires: "-2m" })],
    ["a token of tomorrow", () => token({ ...clerk, nbf: Math.floor(Date.now() / 1000) + 120 })],
    [
      "a token without a signature",
      () => {
        const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
        const body = { ...clerk, iss: "https://id.example", aud: "rowgate" };
        return { authorization: `Bearer ${part({ alg: "none" })}.${part(body)}.` };
      },
    ],
  ])("are refused: %s", async (_, headers) => {
    const answer = await fixture.post(
      "items/first",
      { where: { key: "item_id", value: "a1" } },
      await headers(),
    );
    expect(gist(answer)).toEqual([401, "Unauthorized"]);
    expect(answer.headers.get("www-authenticate")).toContain("Bearer");
    expect(answer.body.message).toBe("Credentials are missing or invalid");
  });

  test("are told of before the body is looked at", async () => {
    const wrong = { "x-api-key": "wrong", "content-type": "text/plain" };
    expect((await fixture.post("items/read", "{", wrong)).status).toBe(401);
    const answer = await fixture.post("items/delete", "{", by("clerk-a"));
    expect(gist(answer)).toEqual([403, "Forbidden"]);
  });
});

describe("an action", () => {
  test.each([
    ["admin", "items/delete", 404],
    ["clerk-a", "items/delete", 403],
    ["auditor", "items/read", 200],
    ["auditor", "items/create", 403],
    ["nobody-special", "items/first", 200],
    ["nobody-special", "items/read", 403],
    ["admin", "closed/read", 403],
    ["admin", "items/nothing", 404],
    ["admin", "nothing/read", 404],
  ])("of %s: %s answers %d", async (id, path, status) => {
    const where = { where: [{ key: "item_id", value: "none" }] };
    const body = path.endsWith("read") ? everything : where;
    expect((await as(id, path, body)).status).toBe(status);
  });

  test("is 401 for a caller without credentials who lacks it, and open where it has it", async () => {
    const answer = await fixture.post("items/read", everything);
    expect(gist(answer)).toEqual([401, "Unauthorized"]);
    const headers = { "x-request-mode": "static" };
    const looked = await fixture.post("items/lookup", {}, headers);
    expect([looked.status, looked.body.count]).toEqual([200, 3]);
  });

  test("of a group counts with all of its actions", async () => {
    const started = await as("clerk-a", "items/export", { format: "csv" });
    expect(started.status).toBe(200);
    const status = await fixture.request(
      `/api/test/items/export-status?job_id=${started.body.job_id}`,
      { headers: by("clerk-a") },
    );
    expect(status.status).toBe(200);
  });

  test("for the whole project asks for rights on the endpoint that the body names", async () => {
    const body = { resource: "items", lock_keys: [{ key: "item_id", value: "a1" }] };
    expect(gist(await as("clerk-a", "lock/acquire", body))).toEqual([403, "Forbidden"]);
    expect((await as("admin", "lock/status", body)).status).toBe(200);
  });

  test.each(["{", "{}", '{"resource": "nothing"}'])(
    "for the whole project is refused before the body %s is looked at",
    async (body) => {
      expect(gist(await as("clerk-a", "lock/acquire", body))).toEqual([403, "Forbidden"]);
      const unknown = await fixture.post("lock/acquire", body);
      expect(gist(unknown)).toEqual([401, "Unauthorized"]);
      expect(unknown.headers.get("WWW-Authenticate")).toContain("Bearer");
      expect((await as("admin", "lock/acquire", body)).status).not.toBe(403);
    },
  );
});

describe("rows", () => {
  test.each([
    ["clerk-a", ["a1", "a2"]],
    ["both", ["a1", "a2", "b1"]],
    ["shouting", []],
    ["lost", []],
    ["odd", []],
    ["auditor", ["a1", "a2", "b1"]],
    // One of the two roles has no scope, and both have the right to read.
    ["clerk-and-auditor", ["a1", "a2", "b1"]],
    ["admin", ["a1", "a2", "b1"]],
  ])("of %s are %j", async (id, ids) => {
    expect(idsOf(await as(id, "items/read", everything))).toEqual(ids);
  });

  test("of a role that may not use the action do not count", async () => {
    const operations = [{ function: "count", field: "*", alias: "n" }];
    const { body } = await as("clerk-and-auditor", "items/aggregate", { operations });
    expect(body.data).toEqual({ n: 2 });
  });

  test("that are new get the caller's value, and no other one", async () => {
    const created = await as("clerk-a", "items/create", { item_id: "new", cost: 9, name: "x" });
    expect(created.status).toBe(201);
    const [row] = await fixture.sql("select tenant, cost, name from items where item_id = 'new'");
    expect(row).toEqual({ tenant: "a", cost: null, name: null });
    const foreign = { item_id: "no", tenant: "b" };
    expect(gist(await as("clerk-a", "items/create", foreign))).toEqual([403, "Forbidden"]);
    expect(gist(await as("both", "items/create", { item_id: "no" }))).toEqual([403, "Forbidden"]);
    expect((await as("both", "items/create", { item_id: "new-b", tenant: "b" })).status).toBe(201);
    expect(gist(await as("lost", "items/create", { item_id: "no" }))).toEqual([403, "Forbidden"]);
    await as("admin", "items/delete", { where: [{ key: "item_id", value: "new" }] });
    await as("admin", "items/delete", { where: [{ key: "item_id", value: "new-b" }] });
  });

  test.each([
    ["clerk-a", "pb", 400],
    ["clerk-a", "none", 400],
    ["clerk-a", "pa", 200],
    ["admin", "pb", 200],
  ])("that %s refers to with place_id %s: %d", async (id, place_id, status) => {
    const answer = await as(id, "items/update", { item_id: "a1", place_id });
    expect(answer.status).toBe(status);
    if (status === 400)
      expect(answer.body).toMatchObject({
        error: "Foreign key constraint",
        message: "A referenced record does not exist",
        errors: { place_id: ["does not exist"] },
      });
    await as("admin", "items/update", { item_id: "a1", place_id: "pa" });
  });

  test.each([
    ["itself", "new", 201],
    ["a hidden row", "pb", 400],
  ])("that refer to %s in their own table, %s: %d", async (_row, within_id, status) => {
    const answer = await as("clerk-a", "places/create", { place_id: "new", within_id });
    expect(answer.status).toBe(status);
    // MariaDB deletes no row that refers to itself.
    await fixture.sql("update places set within_id = null where place_id = 'new'");
    await fixture.sql("delete from places where place_id = 'new'");
  });

  test.each([
    ["update", { item_id: "a1", place_id: "pa" }],
    ["create", { item_id: "no", place_id: "pa" }],
  ])(
    "that are hidden, in an %s of two references, answer as rows that do not exist",
    async (action, body) => {
      const answerFor = async (spare_id: string): Promise<unknown> => {
        const { status, body: answer } = await as("clerk-a", `items/${action}`, {
          ...body,
          spare_id,
        });
        return { status, error: answer.error, errors: answer.errors };
      };
      const refused = {
        status: 400,
        error: "Foreign key constraint",
        errors: { spare_id: ["does not exist"] },
      };
      expect([await answerFor("pb"), await answerFor("none")]).toEqual([refused, refused]);
    },
  );
});

describe("columns", () => {
  test("that are hidden from a role are not shown to it", async () => {
    const [row] = (await as("clerk-a", "items/read", everything)).body.data;
    expect(row).not.toHaveProperty("cost");
    expect((await as("admin", "items/read", everything)).body.data[0]).toHaveProperty("cost", 1);
    // The auditor's role shows it.
    const [both] = (await as("clerk-and-auditor", "items/read", everything)).body.data;
    expect(both).toHaveProperty("cost", 1);
  });

  test("that are read-only for a role are ignored in its bodies", async () => {
    const answer = await as("clerk-a", "items/update", { item_id: "a1", name: "new", tenant: "a" });
    expect([answer.status, answer.body.data.name]).toEqual([200, "one"]);
  });

  test.each(["name", "cost"])(
    "that a role cannot set find no records of its files: %s",
    async (key) => {
      const upload = (id: string): Promise<Answer> => {
        const body = new FormData();
        body.append("file", new File([`item_id,${key}\nx,1\n`], "rows.csv"));
        const init = { method: "POST", body, headers: by(id) };
        return fixture.request(`/api/test/by_${key}/import-upload`, init);
      };
      expect((await upload("admin")).status).toBe(200);
      expect(gist(await upload("clerk-a"))).toEqual([403, "Forbidden"]);
    },
  );

  test("created_by and updated_by are the user's, whatever the body says", async () => {
    const { body } = await as("admin", "items/create", { item_id: "own", created_by: "forged" });
    expect(body.data.created_by).toBe("admin");
    const changed = await fixture.post(
      "items/update",
      { item_id: "b1", updated_by: "forged", tenant: "b" },
      await token(clerk),
    );
    expect(changed.body.data.updated_by).toBe("t-1");
    await as("admin", "items/delete", { where: [{ key: "item_id", value: "own" }] });
  });
});

describe("a job", () => {
  const statusFor = async (id: string, job: string): Promise<number> =>
    (await fixture.request(`/api/test/items/export-status?job_id=${job}`, { headers: by(id) }))
      .status;

  test("is known to its caller, and to roles that may do everything", async () => {
    const { body } = await as("clerk-a", "items/export", { format: "csv" });
    expect(await statusFor("clerk-a", body.job_id)).toBe(200);
    expect(await statusFor("clerk-b", body.job_id)).toBe(404);
    expect(await statusFor("admin", body.job_id)).toBe(200);
  });

  test("holds the rows and columns of its caller alone", async () => {
    const { body } = await as("clerk-b", "items/export", { format: "csv" });
    const path = (action: string) => `/api/test/items/${action}?job_id=${body.job_id}`;
    await expect
      .poll(
        async () => {
          const { body: state } = await fixture.request(path("export-status"), {
            headers: by("clerk-b"),
          });
          return state.status;
        },
        { timeout: 20_000 },
      )
      .toBe("completed");
    const file = await fixture.fetch(path("export-download"), { headers: by("clerk-b") });
    const text = await file.text();
    expect(text).toContain("b1");
    expect(text).not.toContain("a1");
    expect(text).not.toContain("cost");
  });
});

/**
 * PostgreSQL tables with row-level security on the caller's claims, and the rows that callers must find, whatever is
 * between the service and the database. The service's user owns no table and cannot bypass the policies.
 */
import { createHash, randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { type Answer, type Fixture, openFixture, openForTests } from "./harness.ts";
import { importerOf, workbookOf } from "./imports.ts";
import { tokenOf, tokenSecret } from "./tenants.ts";

const tenants = ["a", "b", "c"] as const;
type Tenant = (typeof tenants)[number];

const headersOf = (tenant: Tenant) => ({ "x-api-key": `the key of ${tenant}` });

const claims = `current_setting('request.jwt.claims', true)::json`;

const action = {
  create: true,
  read: true,
  first: true,
  update: true,
  delete: true,
  adjust: true,
  lookup: true,
  datatables: true,
  aggregate: true,
  lock: true,
  export: true,
  import: true,
};

/** Of the service. */
export const role = `rowgate_policies_${randomUUID().slice(0, 8)}`;
/** With every sign that an address gives a meaning. */
export const password = `p@ss/w#rd:%${randomUUID().slice(0, 8)}`;

const asRole = (text: string): string => {
  const url = new URL(text);
  url.username = role;
  url.password = encodeURIComponent(password);
  return url.href;
};

const setUp = (): readonly string[] => [
  // Shared by the whole server: another test database can have created it.
  `do $$ begin create role ${role} login password '${password}'; exception when duplicate_object then end $$`,
  `grant usage, create on schema public to ${role}`,
  ...["notes", "members", "audit"].map(
    (table) => `grant select, insert, update, delete on ${table} to ${role}`,
  ),
  "alter table notes enable row level security",
  `create policy own on notes using (tenant = ${claims}->>'tenant')`,
  "alter table audit enable row level security",
  `create policy mine on audit using (tenant in (select tenant from members where member = ${claims}->>'sub'))`,
  ...tenants.map(
    (tenant) =>
      `insert into notes values ('first-${tenant}', '${tenant}', 'First of ${tenant}', 1)`,
  ),
  ...tenants.map((tenant) => `insert into audit values ('audit-${tenant}', '${tenant}')`),
  "insert into members values ('m1', 'key-a', 'a')",
];

/** `through`: the address by which the service gets to the database. */
export function openPolicies({
  through = (url: string) => url,
  database = {},
}: { through?: (url: string) => string; database?: object } = {}): Promise<Fixture> {
  return openFixture({
    engine: "postgres",
    tables: [
      {
        name: "notes",
        columns: { note_id: "key", tenant: "text(20)", title: "text(40)", qty: "integer" },
      },
      { name: "members", columns: { member_id: "key", member: "text(40)", tenant: "text(10)" } },
      { name: "audit", columns: { audit_id: "key", tenant: "text(10)" } },
    ],
    setUp,
    serviceUrl: (url) => through(asRole(url)),
    endpoints: {
      notes: {
        tableName: "notes",
        action,
        access: { "*": "*", guest: ["read"] },
        fieldNameLookup: { id: "note_id", text: "title" },
        adjustConfig: { fields: { qty: { type: "integer" } } },
        importConfig: { upsertKeys: ["note_id"] },
      },
      listed: {
        tableName: "notes",
        action: { read: true },
        access: { "*": "*" },
        viewQuery: "select note_id, tenant from notes",
      },
      members: { tableName: "members", action: { delete: true }, access: { "*": "*" } },
      audit: { tableName: "audit", action: { read: true }, access: { "*": "*" } },
    },
    project: {
      database: { pool: 2, claimsSetting: "request.jwt.claims", ...database },
      auth: {
        apiKeys: tenants.map((tenant) => ({
          id: `key-${tenant}`,
          sha256: createHash("sha256").update(headersOf(tenant)["x-api-key"]).digest("hex"),
          roles: ["clerk"],
          claims: { tenant, name: `O'Brien \\ "ü" 𝄞` },
        })),
        jwt: { secret: tokenSecret },
        anonymous: { roles: ["guest"] },
      },
    },
  });
}

export function policyCases(open: () => Promise<Fixture>): void {
  const fixture = openForTests(open);

  const post = (tenant: Tenant, path: string, body: object, headers = {}): Promise<Answer> =>
    fixture.post(path, body, { ...headersOf(tenant), ...headers });
  const where = (value: string) => ({ where: [{ key: "note_id", value }] });

  /** Tenants of all rows that the answer shows. */
  const seenIn = ({ body }: Answer): string[] => [
    ...new Set((body.data as { tenant: string }[]).map(({ tenant }) => tenant)),
  ];

  test("a caller sees its own rows in every action that reads", async () => {
    expect(seenIn(await post("b", "notes/read", { page: 1 }))).toEqual(["b"]);
    expect(seenIn(await post("b", "listed/read", { page: 1 }))).toEqual(["b"]);
    expect(seenIn(await post("b", "notes/datatables", { draw: 1, start: 0, length: 10 }))).toEqual([
      "b",
    ]);
    const foreign = await post("b", "notes/first", where("first-a"));
    expect([foreign.status, foreign.body.data]).toEqual([200, null]);
    const lookup = await fixture.request("/api/test/notes/lookup?ids=first-a,first-b", {
      headers: { ...headersOf("b"), "x-request-mode": "dynamic" },
    });
    expect(lookup.body.data).toEqual([{ id: "first-b", text: "First of b" }]);
    const counted = await post("b", "notes/aggregate", {
      functions: [{ function: "count", column: "*" }],
    });
    expect(counted.body.data).toEqual({ "count_*": 1 });
  });

  test("a number in a claim keeps every digit", async () => {
    await fixture.sql(
      "insert into notes values ('near', '9007199254740992', 'x', 1), ('exact', '9007199254740993', 'x', 1)",
    );
    const headers = await tokenOf('"tenant": 9007199254740993');
    const { body } = await fixture.post("notes/read", { page: 1 }, headers);
    expect(seenIn({ body } as Answer)).toEqual(["9007199254740993"]);
    await fixture.sql("delete from notes where note_id in ('near', 'exact')");
  });

  test("a caller without credentials has no claims but its roles, and sees nothing", async () => {
    const { status, body } = await fixture.post("notes/read", { page: 1 });
    expect([status, body.data]).toEqual([200, []]);
  });

  test("the same list is kept for each caller apart", async () => {
    const question = { page: 1, per_page: 7 };
    for (const tenant of [...tenants, ...tenants])
      expect(seenIn(await post(tenant, "notes/read", question))).toEqual([tenant]);
  });

  test("a row that a policy refuses is 403, and foreign rows are not there to be written", async () => {
    const refused = await post("a", "notes/create", { note_id: "x", tenant: "b", title: "Theirs" });
    expect(refused).toMatchObject({
      status: 403,
      body: { error: "Forbidden", message: "The database does not let you do this" },
    });
    const moved = await post("a", "notes/update", { note_id: "first-a", tenant: "b" });
    expect([moved.status, moved.body.error]).toEqual([403, "Forbidden"]);
    expect((await post("a", "notes/update", { note_id: "first-b", title: "x" })).status).toBe(404);
    expect(
      (
        await post("a", "notes/adjust", {
          note_id: "first-b",
          adjustments: [{ field: "qty", value: 1 }],
        })
      ).status,
    ).toBe(404);
    await post("a", "notes/delete", where("first-b"));
    expect(
      await fixture.sql("select note_id, title, tenant from notes where tenant <> 'c'"),
    ).toEqual(
      expect.arrayContaining([
        { note_id: "first-a", title: "First of a", tenant: "a" },
        { note_id: "first-b", title: "First of b", tenant: "b" },
      ]),
    );
  });

  test("locks know only rows that the caller sees", async () => {
    const key = (value: string) => ({ lock_keys: [{ key: "note_id", value }] });
    expect((await post("a", "notes/lock/acquire", key("first-b"))).status).toBe(404);
    expect((await post("a", "notes/lock/acquire", { ...key("first-a"), ttl: 1 })).status).toBe(200);
  });

  test("a repeated request is answered as its caller sees the record now", async () => {
    const body = { note_id: "again", tenant: "c", title: "Again" };
    const key = { "idempotency-key": "again" };
    const first = await post("c", "notes/create", body, key);
    expect([first.status, first.body.data.title]).toEqual([201, "Again"]);
    await fixture.sql("update notes set tenant = 'a' where note_id = 'again'");
    const second = await post("c", "notes/create", body, key);
    expect([second.status, second.body.data]).toEqual([201, null]);
    await fixture.sql("delete from notes where note_id = 'again'");
  });

  test("a list whose policy looks at another table is read again when that table is written", async () => {
    const read = () => post("a", "audit/read", { page: 1, per_page: 9 });
    expect(seenIn(await read())).toEqual(["a"]);
    await post("a", "members/delete", { where: [{ key: "member_id", value: "m1" }] });
    expect(seenIn(await read())).toEqual([]);
  });

  test("exports and imports keep to the policies for the caller that started them", async () => {
    const own = importerOf({
      request: (path, init) =>
        fixture.request(path, { ...init, headers: { ...init?.headers, ...headersOf("b") } }),
      post: (path, body) => fixture.post(path, body, headersOf("b")),
    });
    const { body } = await post("b", "notes/export", { format: "jsonl" });
    const path = `/api/test/notes/export-download?job_id=${body.job_id}`;
    await expect
      .poll(async () => (await fixture.request(path, { headers: headersOf("b") })).status, {
        timeout: 20_000,
      })
      .toBe(200);
    const file = await (await fixture.fetch(path, { headers: headersOf("b") })).text();
    expect(file).toContain("First of b");
    expect(file).not.toMatch(/First of [ac]/);
    const rows = [
      ["note_id", "tenant", "title", "qty"],
      ["first-b", "b", "By import", 4],
    ];
    const stored = await own.committed("notes", await workbookOf(rows));
    expect(stored.body).toMatchObject({ status: "completed" });
    expect(await fixture.sql("select title from notes where note_id = 'first-b'")).toEqual([
      { title: "By import" },
    ]);
    await fixture.sql("update notes set title = 'First of b' where note_id = 'first-b'");
    const foreign = [rows[0]!, ["imported", "a", "Theirs", 4]];
    const refused = await own.committed("notes", await workbookOf(foreign));
    expect(refused.body).toMatchObject({
      success: false,
      status: "failed",
      error: "Nothing was stored: in row 2, The database does not let you do this",
    });
    expect(await fixture.sql("select note_id from notes where note_id = 'imported'")).toEqual([]);
  });

  test("callers that share two connections never see each other's rows, whatever fails between", async () => {
    const names = Array.from({ length: 8 }, (_, at) => `n${at}`);
    const work = tenants.flatMap((tenant) =>
      names.map(async (name) => {
        const note = { note_id: `${tenant}-${name}`, tenant, title: name };
        const created = await post(tenant, "notes/create", note);
        // Refused within a transaction that has written already.
        const twice = await post(tenant, "notes/create", note, { "idempotency-key": name });
        const read = await post(tenant, "notes/read", { page: 1, per_page: 100, search: name });
        const anonymous = await fixture.post("notes/read", { page: 1, search: name });
        return [created.status, twice.status, seenIn(read), anonymous.body.data.length];
      }),
    );
    const expected = tenants.flatMap((tenant) => names.map(() => [201, 409, [tenant], 0]));
    expect(await Promise.all(work)).toEqual(expected);
  });
}

/** After the last test: a role belongs to the server, not to a database. */
export const dropRole = `drop role if exists ${role}`;

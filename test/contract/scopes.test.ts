/**
 * Rows hidden by a caller's scope, in every action and every place that shows or changes rows: a foreign record gets
 * exactly the answer of a missing one. A new action fails here until it has an entry in the cases.
 */
import { randomUUID } from "node:crypto";
import { beforeEach, describe, expect, test } from "vitest";
import { actions } from "../../core/actions.ts";
import { createLog } from "../../app/start/observing/log.ts";
import { openJobWorld } from "../../app/start/opening/open-job-world.ts";
import type { Json } from "../../core/values/json.ts";
import type { Job, JobKind } from "../../core/jobs/job.ts";
import { createRunner } from "../../jobs/run-job.ts";
import { check } from "./cases.ts";
import { uploaded } from "./files.ts";
import { type Answer, openForTests } from "./harness.ts";
import { type Importer, importerOf, sheetsOf, workbookOf } from "./imports.ts";
import { callerOf, openTenants, type Tenant } from "./tenants.ts";

const fixture = openForTests(openTenants);

/** Orders of this test: the caller's own, another tenant's, and one that there is not. */
let own = "";
let foreign = "";
let missing = "";
let accountOf: Record<Tenant, string>;
beforeEach(async () => {
  [own, foreign, missing] = [randomUUID(), randomUUID(), randomUUID()];
  accountOf = { a: randomUUID(), b: randomUUID() };
  await fixture.sql(
    `insert into accounts (account_id, tenant, name) values ${(["a", "b"] as const)
      .map((tenant) => `('${accountOf[tenant]}', '${tenant}', 'acc-${accountOf[tenant]}')`)
      .join(", ")}`,
  );
  await fixture.sql(
    `insert into orders (order_id, tenant, code, title, qty, status, account_id) values ${(
      [
        [own, "a"],
        [foreign, "b"],
      ] as const
    )
      .map(
        ([id, tenant]) =>
          `('${id}', '${tenant}', 'c-${id}', 't-${id}', 5, 'open', '${accountOf[tenant]}')`,
      )
      .join(", ")}`,
  );
  await fixture.sql(
    `insert into order_lines (line_id, order_id, tenant, text, amount) values
      ('l-${own.slice(2)}', '${own}', 'a', 'line', 2), ('l-${foreign.slice(2)}', '${foreign}', 'b', 'line', 2)`,
  );
  await fixture.sql(
    `insert into bins (bin_id, tenant, is_deleted) values ('${own}', 'a', true), ('${foreign}', 'b', true)`,
  );
});

const headersOf = (tenant: Tenant, more: Record<string, string> = {}): Record<string, string> => ({
  "x-tenant": tenant,
  ...more,
});

/** As tenant a by default. */
const post = (path: string, body: unknown, headers = headersOf("a")): Promise<Answer> =>
  fixture.post(path, body, headers);
const get = (path: string, headers = headersOf("a")): Promise<Answer> =>
  fixture.request(`/api/test/${path}`, { headers });
const asOperator = (path: string, body: unknown, headers = {}): Promise<Answer> =>
  fixture.post(path, body, headers);

const lineOf = (id: string): string => `l-${id.slice(2)}`;
const equalTo = (id: string): object => ({ where: [{ key: "order_id", value: id }] });
const filter = (id: string): object => ({
  where: { conditions: [{ key: "order_id", operator: "=", value: id }] },
});
const isStatic = { "x-request-mode": "static" };
const rowOf = async (id: string): Promise<Record<string, unknown> | undefined> =>
  (await fixture.sql(`select * from orders where order_id = '${id}'`))[0];

/** An answer without the parts that differ between any two. */
function gist({ status, body }: Answer, id: string): unknown {
  const text = JSON.stringify({ status, body: { ...body, timestamp: null } });
  return JSON.parse(text.replaceAll(lineOf(id), "<line>").replaceAll(id, "<id>"));
}

/** A job of the other tenant, of its own, or none; and what tenant a is told of it. */
const aboutJob =
  (start: (tenant: Tenant) => Promise<string>, tell: (jobId: string) => Promise<Answer>) =>
  async (id: string): Promise<Answer> => {
    const jobId = id === missing ? `export-${randomUUID()}` : await start(id === own ? "a" : "b");
    const answer = await tell(id === missing ? jobId.replace("export", jobKind(jobId)) : jobId);
    return { ...answer, body: JSON.parse(JSON.stringify(answer.body).replaceAll(jobId, id)) };
  };
const jobKind = (jobId: string): string => jobId.split("-")[0]!;

const startExport = async (tenant: Tenant): Promise<string> =>
  (await post("orders/export", { format: "jsonl" }, headersOf(tenant))).body.job_id;

const importerFor = (tenant: Tenant): Importer =>
  importerOf({
    post: (path, body) => fixture.post(path, body, headersOf(tenant)),
    request: (path, init) =>
      fixture.request(path, { ...init, headers: headersOf(tenant, headersIn(init)) }),
  });
const headersIn = (init?: RequestInit): Record<string, string> =>
  Object.fromEntries(new Headers(init?.headers));

const newRow = (): Promise<Uint8Array<ArrayBuffer>> =>
  workbookOf([
    ["code", "title"],
    [`n-${randomUUID()}`, "new"],
  ]);
const upload = async (tenant: Tenant): Promise<string> =>
  importerFor(tenant).uploaded("orders", await newRow());
const startPreview = async (tenant: Tenant): Promise<string> =>
  (await importerFor(tenant).previewed("orders", await newRow())).body.job_id;

/** Requests about the record whose answer shows whether it exists. */
const cases: Record<string, (id: string) => Promise<Answer>> = {
  // A new record hides nothing by itself: it must not be stored where its caller could not see it.
  create: (id) =>
    post("plain/create", {
      tenant: id === own ? "a" : "b",
      title: "new",
      account_id: accountOf.a,
    }).then((answer) => ({ ...answer, body: { status: answer.status } })),
  "create-composite": (id) =>
    post("orders/create-composite", {
      orders: { tenant: id === own ? "a" : "b", order_lines: [{ text: "x", amount: 1 }] },
    }).then((answer) => ({ ...answer, body: { status: answer.status } })),
  read: (id) => post("orders/read", filter(id)),
  first: (id) => post("orders/first", equalTo(id)),
  update: (id) => post("plain/update", { order_id: id, title: "changed" }),
  delete: (id) => post("plain/delete", equalTo(id)),
  restore: (id) => post("bins/restore", { where: [{ key: "bin_id", value: id }] }),
  history: async (id) => {
    await changedBin(id);
    return post("bins/history", { bin_id: id });
  },
  revert: async (id) => {
    const change_id = await changedBin(id);
    const answer = await post("bins/revert", { change_id });
    return { ...answer, body: JSON.parse(JSON.stringify(answer.body).replaceAll(change_id, id)) };
  },
  adjust: (id) => post("plain/adjust", { order_id: id, adjustments: [{ field: "qty", value: 1 }] }),
  "bulk-create": (id) =>
    post("plain/bulk-create", {
      data: [{ tenant: id === own ? "a" : "b", title: "new", account_id: accountOf.a }],
    }).then((answer) => ({ ...answer, body: { status: answer.status } })),
  "bulk-update": (id) => post("plain/bulk-update", { data: [{ order_id: id, title: "changed" }] }),
  "bulk-delete": (id) => post("plain/bulk-delete", { keys: [id] }),
  // One that its tenant would not see; of a foreign key it says that it is taken (`access-matrix.test.ts`).
  upsert: (id) =>
    post("plain/upsert", {
      data: { tenant: id === own ? "a" : "b", title: "new", account_id: accountOf.a },
    }).then((answer) => ({ ...answer, body: { status: answer.status } })),
  lookup: (id) => post("orders/lookup", { ids: [id] }, headersOf("a", isStatic)),
  aggregate: (id) => post("orders/aggregate", equalTo(id)),
  datatables: (id) => post("orders/datatables", { draw: 1, search: { value: `t-${id}` } }),
  "lock/acquire": (id) =>
    post("orders/lock/acquire", { lock_keys: [{ key: "order_id", value: id }] }).then((answer) =>
      answer.status === 200 ? { ...answer, body: { status: 200 } } : answer,
    ),
  "lock/release": async (id) => {
    const lock_keys = [{ key: "order_id", value: id }];
    const { body } = await post("orders/lock/acquire", { lock_keys });
    return post("orders/lock/release", { lock_keys, lock_token: body.data?.lock_token ?? "none" });
  },
  "lock/status": async (id) => {
    const lock_keys = [{ key: "order_id", value: id }];
    await asOperator("orders/lock/acquire", { lock_keys, owner: "operator", ttl: 300 });
    if (id === missing) await asOperator("orders/lock/release", { lock_keys, lock_token: "x" });
    const answer = await post("orders/lock/status", { lock_keys });
    return { ...answer, body: { locked: answer.body.data?.keys[0].locked } };
  },
  "read-composite": (id) => post("orders/read-composite", equalTo(id)),
  "update-composite": (id) =>
    post("orders/update-composite", {
      orders: { order_id: id, order_lines: { update: [{ line_id: lineOf(id), text: "new" }] } },
    }),
  "change-status": (id) => post("plain/change-status", { id, status: "done" }),
  "next-statuses": (id) => post("plain/next-statuses", { id }),
  "file-download": async (id) => {
    if (id !== missing) {
      const headers = headersOf(id === own ? "a" : "b");
      const scan = { id: (await uploaded(fixture, "scans", {}, headers)).id };
      check(await post("scans/create", { scan_id: id, scan }, headers), { status: 201 });
    }
    const answer = await fixture.fetch(`/api/test/scans/file-download?scan_id=${id}&field=scan`, {
      headers: headersOf("a"),
    });
    const { status, headers } = answer;
    return { status, headers, body: status === 200 ? { found: true } : await answer.json() };
  },
  export: (id) => exported(id),
  "export-status": aboutJob(startExport, (job) => get(`orders/export-status?job_id=${job}`)),
  "export-download": aboutJob(startExport, async (job) => {
    const answer = await get(`orders/export-download?job_id=${job}`);
    return answer.status === 404 ? answer : { ...answer, body: { found: true } };
  }),
  "export-cancel": aboutJob(startExport, async (job) => {
    const answer = await post("orders/export-cancel", { job_id: job });
    return answer.status === 404 ? answer : { ...answer, status: 200, body: { found: true } };
  }),
  "import-template": async (id) => {
    const name = id === missing ? "acc-none" : `acc-${accountOf[id === foreign ? "b" : "a"]}`;
    const isOffered = (await (offered ??= offeredAccounts())).includes(name);
    return { status: 200, headers: new Headers(), body: { isOffered } };
  },
  "import-upload": async (id) => {
    const upload_id =
      id === missing ? `upload-${randomUUID()}` : await upload(id === own ? "a" : "b");
    const answer = await post("orders/import-preview", { upload_id });
    return answer.status === 404 ? answer : { ...answer, body: { found: true } };
  },
  "import-preview": async (id) => previewed(id),
  "import-status": aboutJob(startPreview, (job) => get(`orders/import-status?job_id=${job}`)),
  "import-errors": aboutJob(startPreview, async (job) => {
    const answer = await get(`orders/import-errors?job_id=${job}`);
    return answer.status === 404 ? answer : { ...answer, body: { found: true } };
  }),
  "import-cancel": aboutJob(startPreview, (job) => post("orders/import-cancel", { job_id: job })),
  "import-commit": aboutJob(startPreview, async (job) => {
    const answer = await post("orders/import-commit", { preview_job_id: job });
    return answer.status === 404 ? answer : { ...answer, body: { found: true } };
  }),
};

/** The id of a change of the marked record, which becomes an active one; of a missing one, of no change. */
async function changedBin(id: string): Promise<string> {
  if (id === missing) return "999999999999";
  check(await asOperator("bins/restore", { where: [{ key: "bin_id", value: id }] }), {
    status: 200,
  });
  const { body } = await asOperator("bins/history", { bin_id: id });
  return body.data[0].change_id;
}

test("a delete that marks stores the user, whatever the body says", async () => {
  const where = [{ key: "bin_id", value: own }];
  expect((await post("bins/restore", { where })).status).toBe(200);
  expect((await post("bins/delete", { where, deleted_by: "forged" })).status).toBe(200);
  const [row] = await fixture.sql(`select deleted_by from bins where bin_id = '${own}'`);
  expect(row).toEqual({ deleted_by: "key-a" });
});

/**
 * A procedure is the operator's: no scope applies to what it does. The next number, and a file that is uploaded, are
 * about no record.
 */
const unscoped = ["call", "next-number", "file-upload"];
const scoped = actions.map(({ name }) => name).filter((name) => !unscoped.includes(name));

test("every action has a case", () => {
  expect(Object.keys(cases).toSorted()).toEqual(scoped.toSorted());
});

describe("a record outside of the scope is like one that is not there to", () => {
  test.each(scoped.map((name) => [name] as const))("%s", async (name) => {
    const ask = cases[name]!;
    const before = await rowOf(foreign);
    const answers = [await ask(foreign), await ask(missing)];
    expect(gist(answers[0]!, foreign)).toEqual(gist(answers[1]!, missing));
    expect(await rowOf(foreign)).toEqual(before);
    // The same question about a record within the scope has another answer.
    expect(gist(await ask(own), own)).not.toEqual(gist(answers[1]!, missing));
  });
});

/** All other answers that could reveal rows; tenant a has three orders, tenant b two, and there are no others. */
describe("within the scope alone", () => {
  const titles = { a: ["one", "one", "two"], b: ["two", "three"] } as const;
  beforeEach(async () => {
    await fixture.sql("delete from order_lines");
    await fixture.sql("delete from orders");
    const rows = (["a", "b"] as const).flatMap((tenant) =>
      titles[tenant].map(
        (title, at) =>
          `('${tenant}${at}', '${tenant}', 'c-${tenant}${at}', '${title}', ${at + 1}, 'open', '${accountOf[tenant]}')`,
      ),
    );
    await fixture.sql(
      `insert into orders (order_id, tenant, code, title, qty, status, account_id) values ${rows.join(", ")}`,
    );
    await fixture.sql(
      "insert into order_lines (line_id, order_id, tenant, text, amount) values ('la', 'a0', 'a', 'x', 1), ('lb', 'b0', 'b', 'x', 1)",
    );
    // Past the service: what its cache knows is from before.
    await asOperator("plain/create", { order_id: "z", tenant: "z", title: "zero" });
    await asOperator("plain/delete", { where: [{ key: "order_id", value: "z" }] });
  });

  test.each(["orders", "plain", "viewed"])("%s counts, pages, groups and offers", async (name) => {
    const paged = await post(`${name}/read`, { page: 1, per_page: 2, search_value: "o" });
    expect(paged.body.pagination).toMatchObject({ total_records: 3, total_pages: 2 });
    const estimated = await post(`${name}/read`, { page: 1, per_page: 50, count: "estimated" });
    expect(estimated.body.data).toHaveLength(3);
    const first = await post(`${name}/read`, { cursor: true, per_page: 2 });
    const second = await post(`${name}/read`, {
      cursor: first.body.pagination.next_cursor,
      per_page: 2,
    });
    expect([...first.body.data, ...second.body.data]).toHaveLength(3);
    const grid = await post(`${name}/datatables`, {
      draw: 1,
      searchPanes: { title: ["two"] },
      searchPanesLast: "title",
      searchPanes_options: { cascade: true, viewCount: true, viewTotal: true },
    });
    expect(grid.body).toMatchObject({ recordsTotal: 3, recordsFiltered: 1 });
    expect(grid.body.searchPanes.options.title).toEqual([
      { label: "one", value: "one", total: 2, count: 2 },
      { label: "two", value: "two", total: 1, count: 1 },
    ]);
    const offered = [{ label: "one" }, { label: "two" }];
    expect(grid.body.searchBuilder.options.title).toMatchObject(offered);
    expect(grid.body.columnControl.title).toMatchObject(offered);
    const looked = await fixture.request(`/api/test/${name}/lookup?search=o&ids=a0,b0,b1`, {
      headers: headersOf("a", { "x-request-mode": "dynamic" }),
    });
    expect(looked.body.data.map(({ id }: { id: string }) => id)).toEqual(["a0"]);
    const groups = await post(`${name}/aggregate`, {
      group_by: ["title"],
      operations: [{ function: "sum", field: "qty", alias: "qty" }],
      having: { conditions: [{ key: "qty", operator: ">", value: 0 }] },
    });
    expect(groups.body.data).toEqual([
      { title: "one", qty: 3 },
      { title: "two", qty: 3 },
    ]);
  });

  test.each(["LEFT", "INNER", "RIGHT"])("a %s join takes and gives", async (joinType) => {
    const target = { sourceField: "account_id", targetField: "account_id", fields: ["name"] };
    // An order that points at the other tenant's account.
    await fixture.sql(`update orders set account_id = '${accountOf.b}' where order_id = 'a2'`);
    const joins = [{ tableName: "accounts", joinType, ...target }];
    const { body } = await post("orders/aggregate", { joins, group_by: ["accounts.name"] });
    const names = body.data.map((row: Record<string, string>) => row["accounts.name"]);
    expect(names).toContain(`acc-${accountOf.a}`);
    expect(names).not.toContain(`acc-${accountOf.b}`);
    const counted = body.data.reduce(
      (sum: number, row: Record<string, number>) => sum + row["count_*"]!,
      0,
    );
    const foreignAccounts = (
      await fixture.sql("select account_id from accounts where tenant = 'a'")
    ).length;
    const expected = { LEFT: 3, INNER: 2, RIGHT: 1 + foreignAccounts };
    expect(counted).toBe(expected[joinType as keyof typeof expected]);
  });

  test("a declared join takes and gives", async () => {
    await fixture.sql(`update orders set account_id = '${accountOf.b}' where order_id = 'a2'`);
    const { body } = await post("orders/aggregate", {
      joins: ["account"],
      group_by: ["account.name"],
    });
    expect(body.data).toEqual([
      { "account.name": null, "count_*": 1 },
      { "account.name": `acc-${accountOf.a}`, "count_*": 2 },
    ]);
  });

  test("an answer that is kept for one caller is none for another", async () => {
    const asked = { sort_columns: [{ column: "order_id" }] };
    const lists = [
      await asOperator("orders/read", asked),
      await post("orders/read", asked),
      await post("orders/read", asked, headersOf("b")),
      await post("orders/read", asked, headersOf("a", { "x-hidden": "title" })),
    ];
    expect(lists.map(({ body }) => body.data.length)).toEqual([5, 3, 2, 3]);
    expect(lists[3]!.body.data[0]).not.toHaveProperty("title");
    expect((await post("orders/read", asked)).body.data[0]).toHaveProperty("title");
  });

  test("If-Match meets a record", async () => {
    const { headers } = await asOperator("plain/first", equalTo("b0"));
    const ifMatch = { "if-match": headers.get("etag")! };
    const change = { order_id: "b0", title: "new" };
    for (const tag of [ifMatch, { "if-match": '"other"' }])
      expect((await post("plain/update", change, headersOf("a", tag))).status).toBe(404);
    expect((await post("plain/update", change, headersOf("b", ifMatch))).status).toBe(200);
  });

  test("a delete takes records with their details", async () => {
    const where = [{ key: "status", value: "open" }];
    const { body } = await post("orders/delete", { where });
    expect(body.data.deleted_count).toBe(3);
    expect(await fixture.sql("select line_id from order_lines")).toEqual([{ line_id: "lb" }]);
    expect(await fixture.sql("select order_id from orders")).toHaveLength(2);
  });

  test("a lock that somebody holds on a foreign record tells of it", async () => {
    const lock_keys = [{ key: "order_id", value: "b0" }];
    await asOperator("orders/lock/acquire", { lock_keys, ttl: 60 });
    const writes: Record<string, object> = {
      "plain/update": { order_id: "b0", title: "x" },
      "plain/adjust": { order_id: "b0", adjustments: [{ field: "qty", value: 1 }] },
      "plain/delete": equalTo("b0"),
      "plain/change-status": { id: "b0", status: "done" },
      "orders/update-composite": { orders: { order_id: "b0", title: "x" } },
    };
    for (const [path, body] of Object.entries(writes))
      expect((await post(path, body)).status, path).toBe(404);
    // Callers who see the record get this answer.
    expect((await post("plain/update", writes["plain/update"], headersOf("b"))).status).toBe(409);
  });

  test("a change leaves a record", async () => {
    for (const name of ["plain", "orders"]) {
      const answer = await post(`${name}/update`, { order_id: "a0", tenant: "b" });
      expect([answer.status, answer.body.error]).toEqual([403, "Forbidden"]);
    }
    const header = { orders: { order_id: "a0", tenant: "b" } };
    expect((await post("orders/update-composite", header)).status).toBe(403);
    expect((await rowOf("a0"))?.["tenant"]).toBe("a");
    expect((await post("plain/update", { order_id: "a0", title: "in" })).status).toBe(200);
  });

  test("a repeat of a request shows its record", async () => {
    const key = { "idempotency-key": randomUUID() };
    const create = (more = {}): Promise<Answer> =>
      post(
        "plain/create",
        { order_id: "r", tenant: "a", title: "once" },
        headersOf("a", { ...key, ...more }),
      );
    expect((await create()).body.data.title).toBe("once");
    expect((await create()).body.data.title).toBe("once");
    expect((await create({ "x-hidden": "title" })).body.data).not.toHaveProperty("title");
    await fixture.sql("update orders set tenant = 'b' where order_id = 'r'");
    const after = await create();
    expect([after.status, after.body.data, after.headers.get("idempotency-replayed")]).toEqual([
      201,
      null,
      "true",
    ]);
    // Another caller's key is another key.
    const other = await post("plain/create", { order_id: "r", tenant: "b" }, headersOf("b", key));
    expect(other.status).toBe(409);
  });

  test("an export that was started goes on", async () => {
    const { rows, text } = await runJob("export", {
      format: "jsonl",
      where: null,
      sort_columns: null,
    });
    expect(rows).toBe(3);
    expect(String(text)).not.toContain('"b0"');
  });

  test.each([
    ["import-preview", "preview"],
    ["import-commit", "commit"],
  ] as const)("%s finds records", async (_, kind) => {
    const file = await workbookOf([
      ["code", "title", "tenant"],
      ["c-a0", "mine", "a"],
      ["c-b0", "theirs", "a"],
    ]);
    const request = { upload: await importerOf(fixture).uploaded("orders", file), totalRows: 2 };
    if (kind === "preview") {
      const { state, text } = await runJob(kind, request);
      expect(state).toBe("preview_error");
      expect(JSON.parse(String(text)).errors).toEqual([
        expect.objectContaining({ rowIndex: 3, messages: ["code: already exists"] }),
      ]);
    } else {
      await expect(runJob(kind, request)).rejects.toThrow("already exists");
    }
    expect((await rowOf("b0"))?.["title"]).toBe("two");
  });

  test("an import writes records", async () => {
    const file = await workbookOf([
      ["code", "title", "tenant"],
      ["c-a0", "moved", "b"],
    ]);
    const request = { upload: await importerOf(fixture).uploaded("orders", file), totalRows: 1 };
    const preview = await runJob("preview", request);
    expect(JSON.parse(String(preview.text)).errors).toEqual([
      expect.objectContaining({
        rowIndex: 2,
        messages: ["tenant: is outside the rows that you may access"],
      }),
    ]);
    await expect(runJob("commit", request)).rejects.toThrow(
      "is outside the rows that you may access",
    );
    expect((await rowOf("a0"))?.["title"]).toBe("one");
  });
});

describe("a hidden field", () => {
  const hiding = (): Record<string, string> => headersOf("a", { "x-hidden": "title" });
  test.each([
    ["read", { select: ["title"] }],
    ["read", { search_by: "title", search_value: "x" }],
    ["read", { sort_columns: [{ column: "title" }] }],
    ["first", { where: { key: "title", value: "x" } }],
    ["aggregate", { group_by: ["title"] }],
    ["datatables", { searchBy: "title" }],
    ["export", { sort_columns: [{ column: "title" }] }],
    ["delete", { where: [{ key: "title", value: "x" }] }],
  ])("cannot be named in %s %j", async (name, body) => {
    const answer = await post(`orders/${name}`, body, hiding());
    expect([answer.status, answer.body.error]).toEqual([400, "Invalid field"]);
    expect(answer.body.message).not.toContain("did you mean");
  });

  test("is not shown, and not written", async () => {
    const shown = [
      await post("orders/first", equalTo(own), hiding()),
      await post("orders/read-composite", equalTo(own), hiding()),
      await post("plain/update", { order_id: own, title: "new", code: `x-${own}` }, hiding()),
      await post(
        "plain/adjust",
        { order_id: own, adjustments: [{ field: "qty", value: 1 }] },
        hiding(),
      ),
      await post("plain/change-status", { id: own, status: "done" }, hiding()),
    ];
    for (const { status, body } of shown) {
      expect(status).toBe(200);
      expect(body.data).not.toHaveProperty("title");
    }
    expect((await rowOf(own))?.["title"]).toBe(`t-${own}`);
    const grid = await post("orders/datatables", { draw: 1 }, hiding());
    expect(grid.body.data[0]).not.toHaveProperty("title");
    expect(grid.body).not.toHaveProperty("searchPanes");
  });

  test("cannot be a label", async () => {
    const answer = await post("orders/lookup", {}, { ...hiding(), ...isStatic });
    expect([answer.status, answer.body.error]).toEqual([403, "Forbidden"]);
  });
});

/** Runs a job of tenant a in a process that knows the access rules. */
async function runJob(kind: JobKind, request: Job["request"]): Promise<Record<string, Json>> {
  const { world, close } = await openJobWorld({
    files: fixture.files,
    env: { STORAGE_URL: fixture.storageUrl },
    log: createLog("silent"),
    raise: async () => undefined,
  });
  try {
    const job: Job = {
      id: `${kind}-${randomUUID()}`,
      kind,
      project: "test",
      endpoint: "orders",
      caller: callerOf("a"),
      request,
      createdAtMs: Date.now(),
      keptSeconds: 60,
    };
    const { signal } = new AbortController();
    const run = { job, id: randomUUID(), signal, progress: () => undefined };
    const result = (await createRunner(world)(run)) as Record<string, Json>;
    const file = String(result["file"] ?? result["errors"]);
    const text = result["state"] === "preview_ok" ? "" : await textOf(world.files.read(file));
    return { ...result, text };
  } finally {
    await close();
  }
}

const textOf = async (bytes: Promise<ReadableStream<Uint8Array<ArrayBuffer>>>): Promise<string> =>
  bytes.then((stream) => new Response(stream).text()).catch(() => "");

async function exported(id: string): Promise<Answer> {
  const { where } = filter(id) as { where: Json };
  const { text, rows } = await runJob("export", { format: "jsonl", where, sort_columns: null });
  return { status: 200, headers: new Headers(), body: { text, rows } };
}

/** The names in the lists of a template. It is written once: loading what writes it takes longer than all the rest. */
async function offeredAccounts(): Promise<unknown[]> {
  const headers = headersOf("a");
  const response = await fixture.fetch("/api/test/orders/import-template", { headers });
  const [, lists] = await sheetsOf(new Uint8Array(await response.arrayBuffer()));
  return [...(lists?.getColumn(1).values ?? [])];
}
let offered: Promise<unknown[]> | undefined;

/** Of a file with one row: the record's code, and for the account the name of its own. */
async function previewed(id: string): Promise<Answer> {
  const account = accountOf[id === foreign ? "b" : "a"];
  const name = id === missing ? "acc-none" : `acc-${account}`;
  const file = await workbookOf([
    ["code", "Account"],
    [`new-${id}`, name],
  ]);
  const upload = await importerOf(fixture).uploaded("orders", file);
  const { state, text } = await runJob("preview", { upload, totalRows: 1 });
  const said = String(text).replaceAll(name, "<account>");
  return { status: 200, headers: new Headers(), body: { state, text: said } };
}

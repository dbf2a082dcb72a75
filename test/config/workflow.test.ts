/** `workflow` of an endpoint: its compiled form, and faults that would otherwise appear at the first status change. */
import { describe, expect, test } from "vitest";
import { entityOf, filesOf, load, projectFile, sentenceOf } from "./shop.ts";

const base = { action: { "change-status": true }, tableName: "receipts", workflow: {} };
const rule = { name: "status", type: "string", constraints: { lowercase: true, maxLength: 8 } };
const withHook = (hook: object, more: object = {}) => ({
  ...base,
  ...more,
  workflow: {
    hooks: { done: { onAfter: [{ name: "call", url: "https://a.example/", ...hook }] } },
  },
});
const at = "workflow.hooks.done.onAfter[0]";

async function planOf(payload: object, files = {}) {
  return (await entityOf(payload, files)).entity.workflow!;
}

describe("a workflow", () => {
  test("names a role that access does not know", async () => {
    const auth = { apiKeys: [{ id: "x", sha256: "0".repeat(64), roles: ["clerk"] }] };
    const workflow = { transitions: { draft: ["done"], done: [] }, roles: { done: ["clrk"] } };
    const { notices } = await load(
      filesOf({
        "items.json": { ...base, workflow, access: { clerk: "*" } },
        "project.json": { ...projectFile, auth },
      }),
    );
    expect(notices).toContain(
      'shop/items: workflow.roles.done names the role "clrk", which is not in "access"; did you mean "clerk"?',
    );
  });

  test("that says nothing uses the column status, and lets any status follow", async () => {
    const { entity } = await entityOf(base);
    expect(entity.workflow).toMatchObject({ status: { name: "status" }, transitions: null });
    expect(entity.enabled.has("next-statuses")).toBe(true);
  });

  test("is absent where nothing asks for it", async () => {
    const { entity } = await entityOf({ action: { read: true }, tableName: "receipts" });
    expect(entity.workflow).toBeNull();
  });

  test("has the transitions of each status, own names alone", async () => {
    const { transitions } = await planOf({
      ...base,
      workflow: { transitions: { draft: ["done"], done: [], "": ["draft"] } },
    });
    expect([...transitions!]).toEqual([
      ["draft", ["done"]],
      ["done", []],
      ["", ["draft"]],
    ]);
    expect(transitions!.get("toString")).toBeUndefined();
  });

  test("has hooks with the project's time-out, or their own", async () => {
    const project = { ...projectFile, hooks: { timeoutMs: 1234 } };
    const { hooks } = await planOf(withHook({}), { "project.json": project });
    expect(hooks.get("done")!.onAfter).toEqual([
      {
        label: "onAfter:call",
        index: 0,
        method: "POST",
        url: ["https://a.example/"],
        headers: {},
        body: null,
        isBlocking: false,
        timeoutMs: 1234,
      },
    ]);
    const own = await planOf(withHook({ timeoutMs: 5, blocking: true }));
    expect(own.hooks.get("done")!.onAfter[0]).toMatchObject({ timeoutMs: 5, isBlocking: true });
  });

  test.each([
    ["an empty body", { body: {} }, { kind: "object", members: [] }],
    ["no body with GET, where it is empty", { method: "GET", body: {} }, null],
  ])("has hooks with %s", async (_, hook, body) => {
    expect((await planOf(withHook(hook))).hooks.get("done")!.onAfter[0]!.body).toEqual(body);
  });

  test("knows the columns that only hooks read", async () => {
    const url = "https://a.example/{{record.total}}/{{record.status}}";
    const { hookColumns } = await planOf(withHook({ url }, { fieldName: ["receipt_id"] }));
    expect([...hookColumns.keys()]).toEqual(["total"]);
  });

  test.each([
    "https://a.example",
    "https://a.example?id={{id}}",
    "http://127.0.0.1:8080/{{id}}/{{requestData.x}}",
    "HTTPS://A.example:443/{{ record.total }}",
    "http://[::1]:80/",
    "/api/shop/items/read?x={{id}}",
    "/api/shop/items/read",
  ])("takes the address %s", async (url) => {
    expect((await planOf(withHook({ url }))).hooks.get("done")!.onAfter).toHaveLength(1);
  });

  test.each([
    [
      "a hook that may take longer than its request",
      withHook({ blocking: true, timeoutMs: 60_000 }),
      "14000 ms",
    ],
    [
      "a status that looks like another",
      { ...base, workflow: { transitions: { draft: ["posted"], postd: [] } } },
      'did you mean "postd"?',
    ],
  ])("tells the operator of %s", async (_, payload, words) => {
    const { notices } = await entityOf(payload);
    expect(notices.join("\n")).toContain(words);
  });
});

describe("is refused", () => {
  const cases: readonly (readonly [
    name: string,
    payload: object,
    path: string,
    ...words: string[],
  ])[] = [
    ["a hidden status", { ...base, hiddenFields: ["status"] }, "workflow.statusField", "hidden"],
    [
      "the key as status",
      { ...base, workflow: { statusField: "receipt_id" } },
      "workflow.statusField",
      "fills",
    ],
    [
      "a number with a fraction as status",
      { ...base, workflow: { statusField: "total" } },
      "workflow.statusField",
      "a decimal column",
    ],
    [
      "a status that the rule refuses",
      { ...base, fieldValidation: [rule], workflow: { transitions: { draft: ["much too long"] } } },
      "workflow.transitions.draft[0]",
      "at most 8",
    ],
    [
      "a status that is stored in other letters",
      { ...base, fieldValidation: [rule], workflow: { transitions: { Draft: [] } } },
      "workflow.transitions.Draft",
      'as the database stores it, "draft"',
    ],
    [
      "hooks of a status that none leads to",
      { ...base, workflow: { transitions: { draft: ["done"] }, hooks: { don: {} } } },
      "workflow.hooks.don",
      "no transition leads",
      'did you mean "done"?',
    ],
    [
      "a variable in the host",
      withHook({ url: "https://{{requestData.x}}.example/" }),
      `${at}.url`,
      "host without",
    ],
    [
      "a variable in the port",
      withHook({ url: "https://a.example:{{id}}/" }),
      `${at}.url`,
      "host without",
    ],
    [
      "a variable behind the host",
      withHook({ url: "https://a.example{{id}}" }),
      `${at}.url`,
      "host without",
    ],
    [
      "a variable as the whole",
      withHook({ url: "{{requestData.url}}" }),
      `${at}.url`,
      "host without",
    ],
    [
      "a variable as the scheme",
      withHook({ url: "{{id}}://a.example/" }),
      `${at}.url`,
      "host without",
    ],
    [
      "a variable as user name",
      withHook({ url: "https://{{id}}@a.example/" }),
      `${at}.url`,
      "host without",
    ],
    ["a user name", withHook({ url: "https://me:secret@a.example/" }), `${at}.url`, "user name"],
    ["another scheme", withHook({ url: "file:///etc/passwd" }), `${at}.url`, "http://"],
    ["no scheme", withHook({ url: "a.example/x" }), `${at}.url`, "http://"],
    ["an address that begins with //", withHook({ url: "//a.example/x" }), `${at}.url`, "/api/"],
    ["a path outside of the API", withHook({ url: "/metrics" }), `${at}.url`, "/api/"],
    ["a path that leaves the API", withHook({ url: "/api/../health" }), `${at}.url`, "segments"],
    [
      "a path that the request chooses",
      withHook({ url: "/api/{{requestData.x}}/items/read" }),
      `${at}.url`,
      "before the ?",
    ],
    [
      "a path whose end the request chooses",
      withHook({ url: "/api/shop/items/{{newStatus}}" }),
      `${at}.url`,
      "before the ?",
    ],
    ["PUT to a path", withHook({ url: "/api/a/b/c", method: "PUT" }), `${at}.url`, "GET or POST"],
    ["a backslash", withHook({ url: "https://a.example\\b.example/" }), `${at}.url`, "backslashes"],
    ["a line break", withHook({ url: "https://a.example/\nx" }), `${at}.url`, "spaces"],
    ["a host that is none", withHook({ url: "https://a b/" }), `${at}.url`, "spaces"],
    [
      "a port that is none",
      withHook({ url: "https://a.example:99999/" }),
      `${at}.url`,
      "a valid URL",
    ],
    [
      "braces that stay open",
      withHook({ url: "https://a.example/{{id" }),
      `${at}.url`,
      "{{ without }}",
    ],
    [
      "an unknown variable",
      withHook({ url: "https://a.example/{{newStatu}}" }),
      `${at}.url`,
      "{{newStatu}}",
      "did you mean {{newStatus}}?",
    ],
    [
      "an unknown column",
      withHook({ body: { a: ["{{record.totl}}"] } }),
      `${at}.body.a[0]`,
      "did you mean {{record.total}}?",
    ],
    [
      "a hidden column",
      withHook({ body: { a: { b: "{{record.total}}" } } }, { hiddenFields: ["total"] }),
      `${at}.body.a.b`,
      "unknown variable",
    ],
    [
      "a body with GET",
      withHook({ method: "GET", body: { a: 1 } }),
      `${at}.body`,
      "no body with the method GET",
    ],
    [
      "a header of the service",
      withHook({ headers: { Host: "b.example" } }),
      `${at}.headers.Host`,
      "does not set itself",
    ],
    [
      "a header with a line break",
      withHook({ headers: { A: "b\r\nC: d" } }),
      `${at}.headers.A`,
      "one line",
    ],
    [
      "a header with a variable",
      withHook({ headers: { A: "{{id}}" } }),
      `${at}.headers.A`,
      "fixed text",
    ],
    [
      "a header whose name is none",
      withHook({ headers: { "a b": "c" } }),
      `${at}.headers["a b"]`,
      "name",
    ],
    [
      "storage that cannot roll back",
      {
        action: { "change-status": true },
        tableName: "journal",
        workflow: { statusField: "note" },
      },
      "action.change-status",
      "transactions",
    ],
    [
      "a closed status that the transitions do not know",
      { ...base, workflow: { transitions: { draft: ["done"] }, closed: ["done", "don"] } },
      "workflow.closed[1]",
      'the status "don", which the transitions do not know',
      'did you mean "done"?',
    ],
    [
      "a closed status that the rule refuses",
      { ...base, fieldValidation: [rule], workflow: { closed: ["much too long"] } },
      "workflow.closed[0]",
      "at most 8",
    ],
    [
      "a closed status that is stored in other letters",
      { ...base, fieldValidation: [rule], workflow: { closed: ["Done"] } },
      "workflow.closed[0]",
      'as the database stores it, "done"',
    ],
    ["no closed status", { ...base, workflow: { closed: [] } }, "workflow.closed", "not empty"],
    [
      "roles without auth",
      { ...base, workflow: { roles: { done: ["manager"] } } },
      "workflow.roles",
      '"auth" in project.json',
    ],
    [
      "closed statuses of a view",
      { action: { read: true }, viewName: "product_view", workflow: { closed: ["done"] } },
      "workflow.closed",
      "a table with a primary key",
    ],
    [
      "closed statuses in storage that cannot roll back",
      {
        action: { read: true },
        tableName: "journal",
        primaryKey: "entry",
        workflow: { statusField: "note", closed: ["done"] },
      },
      "workflow.closed",
      "transactions",
    ],
    [
      "details of a relation to one",
      { ...base, relations: { other: { endpoint: "items", column: "receipt_id", details: true } } },
      "relations.other",
      "details only with foreignColumn or through",
    ],
    [
      "a table without a status",
      { action: { "next-statuses": true }, tableName: "products" },
      "workflow",
      "next-statuses",
    ],
  ];
  test.each(cases)("%s", async (_, payload, path, ...words) => {
    const { faults } = await load(filesOf({ "items.json": payload }));
    const sentences = faults.map(sentenceOf);
    expect(
      faults.map((fault) => fault.path),
      sentences.join("\n"),
    ).toEqual([path]);
    for (const word of words) expect(sentences[0]).toContain(word);
  });

  test.each([
    "localhost",
    "localhost:x",
    "http://localhost:1",
    "a b:1",
    "a:1/x",
    "user@a:1",
    "a:99999",
    "1.2.3.999:80",
  ])("the allowed host %s", async (host) => {
    const project = { ...projectFile, hooks: { allowedHosts: [host] } };
    const { faults } = await load(filesOf({ "project.json": project, "items.json": base }));
    expect(faults.map(({ path }) => path)).toEqual(["hooks.allowedHosts[0]"]);
  });

  test("a header's value, which is not repeated: it may be a secret", async () => {
    const { faults } = await load(
      filesOf({ "items.json": withHook({ headers: { Host: "s3cret" } }) }),
    );
    expect(JSON.stringify(faults)).not.toContain("s3cret");
  });
});

describe("roles and closed statuses", () => {
  const auth = { anonymous: { roles: ["guest"] } };
  const project = { "project.json": { ...projectFile, auth } };
  const open = { ...base, action: { ...base.action, read: true }, access: { guest: "*" } };
  const of = (workflow: object, more: object = {}) => ({ ...open, workflow, ...more });

  test("of several endpoints are rules of their table", async () => {
    const files = {
      ...project,
      "items.json": of({ closed: ["done"], roles: { done: ["b", "a"], seen: ["a"] } }),
      "others.json": of({ closed: ["lost"], roles: { done: ["a", "b"] } }),
      "plain.json": of({}),
    };
    const { entities, faults } = await load(filesOf(files));
    expect(faults.map(sentenceOf)).toEqual([]);
    for (const name of ["items", "others", "plain"]) {
      const { closed, roles } = entities.get(name)!.statuses.guarded.get("public.receipts")!;
      expect([...closed]).toEqual(["done", "lost"]);
      expect([...roles.keys()]).toEqual(["done", "seen"]);
    }
  });

  test("leave tables without them alone", async () => {
    const { entities } = await load(filesOf({ ...project, "items.json": of({}) }));
    expect(entities.get("items")!.statuses.guarded.size).toBe(0);
  });

  test("know details by masterDetail and by relations that name them", async () => {
    const line = { action: { read: true }, tableName: "receipt_lines", access: { guest: "*" } };
    const masterDetail = { detailTable: "receipt_lines", foreignKey: "receipt_id" };
    const relation = { endpoint: "lines", foreignColumn: "receipt_id" };
    const detailsWith = async (more: object) => {
      const files = {
        ...project,
        "items.json": of({ closed: ["done"] }, more),
        "lines.json": line,
      };
      const { entities, faults } = await load(filesOf(files));
      expect(faults.map(sentenceOf)).toEqual([]);
      return entities.get("items")!.statuses.owners.get("public.receipt_lines")?.length ?? 0;
    };
    expect(await detailsWith({ masterDetail })).toBe(1);
    expect(await detailsWith({ relations: { lines: relation } })).toBe(0);
    expect(await detailsWith({ relations: { lines: { ...relation, details: true } } })).toBe(1);
    expect(
      await detailsWith({ masterDetail, relations: { lines: { ...relation, details: true } } }),
    ).toBe(1);
  });

  test.each([
    [
      "other roles for the same status",
      { roles: { done: ["a"] } },
      { roles: { done: ["b"] } },
      "workflow.roles.done",
      "the roles that another endpoint of receipts names: a",
    ],
    [
      "a status that only the transitions of another endpoint know",
      { transitions: { draft: ["done"] }, closed: ["done"] },
      { transitions: { draft: ["lost"] }, closed: ["done"] },
      "workflow.closed[0]",
      "which the transitions do not know",
    ],
  ])("may not have %s", async (_, one, other, path, words) => {
    const files = { ...project, "items.json": of(one), "others.json": of(other) };
    const { faults } = await load(filesOf(files));
    expect(faults.map((fault) => [fault.file, fault.path])).toEqual([["shop/others.json", path]]);
    expect(sentenceOf(faults[0]!)).toContain(words);
  });

  test("may not be about two columns of a table", async () => {
    const about = (statusField: string) => ({
      ...of({ statusField, closed: ["done"] }),
      tableName: "products",
    });
    const files = { ...project, "items.json": about("sku"), "others.json": about("name") };
    const { faults } = await load(filesOf(files));
    expect(faults.map(sentenceOf)).toEqual([
      "shop/others.json workflow.statusField: expected sku, as another endpoint of products with roles or closed has it, found name",
    ]);
  });
});

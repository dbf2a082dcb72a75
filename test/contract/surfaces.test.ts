/**
 * Nothing around the API reveals what the caller cannot access: OpenAPI documents, front page, `/docs`, `/metrics`, the
 * service's state, suggestions in a 404. All secret names contain `zz`, which the tests search for.
 */
import { describe, expect, test } from "vitest";
import { actions as catalog } from "../../core/actions.ts";
import { apiKey as key, by } from "./api-keys.ts";
import { openFixture, openForTests } from "./harness.ts";

const operatorToken = "a-token-for-operators";
const auth = {
  apiKeys: [
    key("admin", ["admin"]),
    key("clerk", ["clerk"]),
    key("keyless", ["keyless"]),
    key("nobody special", ["unheard-of"]),
  ],
  anonymous: { roles: ["guest"] },
};

/** Of the endpoint `items`; those of the lines are in `papers`. */
const secretColumns = ["zz_cost", "zz_grade", "zz_start", "zz_status", "zz_tenant"];
const closed = { admin: "*" };
const endpointNames = ["items", "places", "papers", "zz-closed", "zz-nobodys"];
const everyAction = {
  create: true,
  read: true,
  first: true,
  update: true,
  delete: true,
  adjust: true,
  lookup: true,
  datatables: true,
  aggregate: true,
  export: true,
  import: true,
  lock: true,
  workflow: true,
};

const items = {
  tableName: "items",
  action: everyAction,
  fieldNameLookup: { id: "item_id", text: "title || ' ' || zz_grade" },
  fieldValidation: [
    { name: "title", type: "string", constraints: { required: true, maxLength: 40 } },
    {
      name: "zz_grade",
      type: "string",
      constraints: { enum: ["zz_low", "zz_high"], default: "zz_low", required: true },
    },
    { name: "ends", type: "date", constraints: { after: "zz_start" } },
    { name: "zz_cost", type: "integer", constraints: { max: 771234, maxMessage: "zz too dear" } },
  ],
  fieldLabels: { zz_cost: "zz What it cost", title: "Title" },
  adjustConfig: { fields: { zz_cost: { type: "integer" } } },
  defaultScope: { zz_status: { operator: "!=", value: "zz_gone" } },
  workflow: { statusField: "zz_status", transitions: { zz_new: ["zz_done"] } },
  importConfig: {
    upsertKeys: ["item_id"],
    lookupFields: {
      place: { targetTable: "places", targetField: "place_id", lookupField: "zz_place" },
    },
  },
  aggregateConfig: {
    joins: {
      place: {
        tableName: "places",
        sourceField: "place_id",
        targetField: "place_id",
        fields: ["name", "zz_owner"],
      },
    },
  },
  components: { onBeforeInsert: ["components/zz-hook.ts#zzCheck"] },
  access: { admin: "*", clerk: "*", keyless: "*", guest: ["lookup"] },
  rowScope: { clerk: { zz_tenant: "zz_mine" } },
  hiddenFields: {
    clerk: secretColumns,
    keyless: [...secretColumns, "item_id"],
    guest: secretColumns,
  },
};

const fixture = openForTests(openFixture, {
  tables: [
    {
      name: "places",
      columns: {
        place_id: "key",
        name: "text(40)",
        zz_place: { type: "text(40)", unique: true },
        zz_owner: "text(40)",
      },
    },
    {
      name: "items",
      columns: {
        item_id: "key",
        title: { type: "text(40)", notNull: true },
        place_id: { type: "text(36)", references: { table: "places", column: "place_id" } },
        ends: "date",
        zz_start: "date",
        zz_cost: { type: "integer", default: "772345" },
        zz_grade: { type: "text(10)", default: "'zz_low'" },
        zz_status: "text(10)",
        zz_tenant: "text(10)",
      },
    },
    {
      name: "papers",
      columns: { paper_id: "key", total: "decimal(12,2)", zz_margin: "decimal(12,2)" },
    },
    {
      name: "paper_lines",
      columns: {
        line_id: "key",
        paper_id: {
          type: "text(36)",
          notNull: true,
          references: { table: "papers", column: "paper_id" },
        },
        qty: "integer",
        zz_margin: "decimal(12,2)",
        amount: "decimal(12,2)",
      },
    },
  ],
  project: {
    auth,
    rateLimit: { max: 100_000 },
    cache: { enabled: false },
    mcp: { endpoints: endpointNames, write: ["items", "papers"] },
  },
  endpoints: {
    items,
    places: {
      tableName: "places",
      action: { read: true, lookup: true },
      fieldNameLookup: { id: "place_id", text: "name" },
      access: { admin: "*", clerk: ["read"] },
      hiddenFields: { clerk: ["zz_owner", "zz_place"] },
    },
    papers: {
      tableName: "papers",
      action: { "create-composite": true, "read-composite": true, "update-composite": true },
      masterDetail: {
        detailTable: "paper_lines",
        foreignKey: "paper_id",
        detailConfig: { primaryKey: "line_id" },
      },
      calculation: {
        detail: { amount: "qty * zz_margin" },
        header: { total: "SUM(amount)", zz_margin: "SUM(zz_margin)" },
      },
      access: { admin: "*", clerk: "*" },
      hiddenFields: { clerk: ["zz_margin"] },
    },
    "zz-closed": { tableName: "items", action: { read: true }, access: closed },
    "zz-nobodys": { tableName: "items", action: { read: true } },
  },
  components: { "components/zz-hook.ts": { zzCheck: () => undefined } },
  files: {
    "zz-other/project.json": JSON.stringify({
      database: { url: "sqlite::memory:" },
      auth: { apiKeys: [key("other", ["zz-role"])] },
      rateLimit: { max: 775_678, actions: { read: 5 } },
    }),
    "zz-other/zz-notes.json": JSON.stringify({
      viewQuery: "select 1 as zz_note",
      action: { read: true },
      access: { "zz-role": "*" },
    }),
  },
  env: { METRICS_TOKEN: operatorToken, TRUST_PROXY: "1" },
});

type Headers = Readonly<Record<string, string>>;
const strangers: Readonly<Record<string, Headers>> = {
  "without credentials": {},
  "with a wrong key": by("nobody"),
  "with a wrong token": { authorization: "Bearer a.b.c" },
  "with a key without rights": by("nobody special"),
  "with a key of few rights": by("clerk"),
  "with a key of few rights and no record's key": by("keyless"),
};

const surfaces: readonly string[] = [
  "/openapi.json",
  "/api/test/openapi.json",
  "/",
  "/docs",
  "/metrics",
  "/health/live",
  "/health/ready",
  "/jobs-board",
  "/nothing",
  "/api",
  "/api/",
  "/api/test",
  "/api/test/",
  "/api/test/items",
  "/api/test/items/",
  "/api/test/items/read/more",
  "/api/test/items/reed",
  "/api/test/items/restore",
  "/api/test/item/read",
  "/api/test/zz-close/read",
  "/api/test/zz-closed/reed",
  "/api/test/zz-closed/create",
  "/api/test/zz-nobody/read",
  "/api/test/zz-nobodys/raed",
  "/api/test/places/lokup",
  "/api/test/lock/acquir",
  "/api/zz-othr/zz-notes/read",
  "/api/zz-othe/openapi.json",
  "/api/zz-other2/openapi.json",
  "/api/zz-othr",
];

/** Names in the path itself can come back; the rest of an answer has no secret. */
async function found(
  path: string,
  headers: Headers,
  method = "GET",
  body?: string,
): Promise<string[]> {
  const response = await fixture.fetch(path, { method, headers, ...(body && { body }) });
  const lines = [...response.headers]
    .filter(([name]) => name !== "x-request-id" && name !== "etag")
    .map((pair) => pair.join(": "));
  const text = [await response.text(), ...lines].join("\n");
  const words = text.match(/[\w-]*zz[\w -]{0,20}|771234|772345|775\d{3}/gi) ?? [];
  return [...new Set(words)].filter((word) => !`${path} ${body}`.includes(word));
}

const ofTool = (name: string, args: object) => ({
  method: "tools/call",
  params: { name, arguments: args },
});

/** Messages of agents. */
const messages: readonly { readonly method: string; readonly params?: object }[] = [
  { method: "tools/list" },
  ofTool("nothing", {}),
  ofTool("describe", {}),
  ...["items", "places", "papers", "zz-closed", "zz-close"].flatMap((endpoint) => [
    ofTool("describe", { endpoint }),
    ofTool("read", { endpoint }),
    ofTool("aggregate", { endpoint, joins: [{ tableName: "place" }] }),
    ...["read", "lookup", "aggregate", "create", "create-composite", "change-status"].map(
      (action) => ofTool("describe", { endpoint, action }),
    ),
    ofTool("write", { endpoint, action: "create", body: { titel: 1 }, dry_run: true }),
  ]),
  ofTool("read", { endpoint: "items", select: ["zz_cos"] }),
];

describe.each(Object.keys(strangers))("a caller %s", (name) => {
  const headers = strangers[name]!;

  test.each(surfaces)("learns nothing from GET %s", async (path) => {
    expect(await found(path, headers)).toEqual([]);
    expect(await found(path, { ...headers, accept: "text/html" })).toEqual([]);
  });

  test.each(surfaces.filter((path) => path.startsWith("/api")))(
    "learns nothing from POST %s",
    async (path) => {
      const post = { ...headers, "content-type": "application/json" };
      expect(await found(path, post, "POST")).toEqual([]);
    },
  );

  test("learns nothing from the tools of agents", async () => {
    const post = { ...headers, "content-type": "application/json" };
    for (const message of messages) {
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, ...message });
      for (const path of ["/mcp/test", "/mcp/zz-othr"])
        expect(await found(path, post, "POST", body), `${path} ${body}`).toEqual([]);
    }
  });
});

describe.each(["admin", "clerk", "keyless", "nobody special", "nobody"])(
  "the document of %s",
  (id) => {
    const headers = { ...by(id), "content-type": "application/json" };

    test("names the actions that the caller may use, and no others", async () => {
      const document = await fixture.request("/api/test/openapi.json", { headers: by(id) });
      const described = new Set(Object.keys((document.body.paths as object | undefined) ?? {}));
      const usable = new Set<string>();
      for (const endpoint of endpointNames) {
        for (const { name, methods, takesUpload } of catalog) {
          const path = `/api/test/${endpoint}/${name}`;
          const method = methods[0]!;
          const sent = takesUpload || method === "GET" ? {} : { body: "{}" };
          const answer = await fixture.request(path, { method, headers, ...sent });
          const isRefused =
            [401, 403].includes(answer.status) ||
            /^(Unknown action|The action)/.test(answer.body.message);
          if (!isRefused) usable.add(path);
        }
      }
      // The actions of the whole project are there with the same of an endpoint.
      const own = [...described].filter((path) => !path.startsWith("/api/test/lock/"));
      expect(own.toSorted()).toEqual([...usable].toSorted());
    });
  },
);

test.each(["/", "/openapi.json", "/api/test/openapi.json", "/health/ready", "/metrics"])(
  "the answer of %s is kept by no shared cache",
  async (path) => {
    for (const headers of [{}, by("clerk"), { authorization: `Bearer ${operatorToken}` }]) {
      for (const accept of ["application/json", "text/html"]) {
        const response = await fixture.fetch(path, { headers: { ...headers, accept } });
        await response.text();
        expect(response.headers.get("cache-control")).toMatch(/^(no-store|private, no-cache)$/);
      }
    }
  },
);

test("the tests could find something: an administrator and an operator see it", async () => {
  const document = await found("/api/test/openapi.json", by("admin"));
  for (const word of ["zz_cost", "zz_grade", "zz_low", "zz_margin", "zz-closed", "zz_owner"])
    expect(
      document.some((one) => one.startsWith(word)),
      word,
    ).toBe(true);
  expect(await found("/", by("admin"))).toContain("zz-closed");
  expect(await found("/", by("other"))).not.toEqual([]);
  expect(await found("/api/test/zz-close/read", by("admin"))).not.toEqual([]);
  const post = { ...by("admin"), "content-type": "application/json" };
  const describe = { jsonrpc: "2.0", id: 1, ...ofTool("describe", { endpoint: "items" }) };
  expect(await found("/mcp/test", post, "POST", JSON.stringify(describe))).toContain("zz_cost");
  const operator = { authorization: `Bearer ${operatorToken}` };
  expect(await found("/health/ready", operator)).toContain("zz-other");
});

/**
 * `requests.unknown` of project.json: unknown members of a request are refused, with their path and a suggestion, or
 * ignored. The schema of the action lists the known members.
 */
import { beforeEach, describe, expect, test } from "vitest";
import { check } from "./cases.ts";
import { shopOptions } from "./fixture.ts";
import { openShop } from "./shop.ts";
import { openTrade } from "./trade.ts";
import { openForTests } from "./harness.ts";

const { endpoints } = shopOptions;
const orders = endpoints["orders"] as { workflow: object };

const options = {
  ...shopOptions,
  endpoints: {
    ...endpoints,
    // A column hidden from every caller and never written.
    closed: {
      tableName: "items",
      primaryKey: "item_id",
      action: { create: true, first: true, update: true },
      hiddenFields: ["secret"],
      readOnlyFields: ["secret"],
    },
    "by-job": {
      tableName: "items",
      primaryKey: "item_id",
      action: { export: true, import: true },
      fieldName: ["item_id", "code", "name"],
    },
    hooked: {
      ...orders,
      live: true,
      workflow: {
        ...orders.workflow,
        hooks: {
          cancelled: {
            onBefore: [
              {
                name: "tell",
                url: "/api/test/items/first?by={{requestData.ticket}}",
                body: { reasons: ["{{requestData.reason}}"], note: "of {{requestData.team}}" },
              },
            ],
          },
        },
      },
    },
  },
};
const strict = openShop({
  ...options,
  project: { ...shopOptions.project, requests: { unknown: "refuse" } },
});
const lenient = openShop(options);

const asPost = (body: object): RequestInit => ({
  method: "POST",
  headers: { "Content-Type": "application/json" },
  body: JSON.stringify(body),
});
const condition = { key: "name", operator: "=", value: "apple" };
const job = { job_id: "export-00000000-0000-4000-8000-000000000000" };

interface Refusal {
  readonly request: readonly [endpoint: string, action: string];
  readonly body: unknown;
  readonly headers?: Record<string, string>;
  /** The end of the message, after "Unknown member in the payload: ". */
  readonly says: string;
  /** What the same request gets where unknown members are passed over; absent: 200. */
  readonly else?: number;
}

const refusals: Refusal[] = [
  { request: ["items", "read"], body: { limt: 5 }, says: '"limt", did you mean "limit"?' },
  {
    request: ["items", "read"],
    body: { where: { logik: "OR", conditions: [] } },
    says: '"where.logik", did you mean "logic"?',
  },
  {
    request: ["items", "read"],
    body: { where: { conditions: [condition, { ...condition, sensitiv: false }] } },
    says: '"where.conditions[1].sensitiv", did you mean "sensitive"?',
  },
  {
    request: ["items", "read"],
    body: { where: { conditions: [{ conditions: [{ ...condition, comment: "" }] }] } },
    says: '"where.conditions[0].conditions[0].comment"',
  },
  {
    request: ["items", "read"],
    body: { sort_columns: [{ column: "name" }, { column: "qty", dir: "desc" }] },
    says: '"sort_columns[1].dir"',
  },
  {
    request: ["items", "first"],
    body: { where: { key: "item_id", value: "i01" }, selct: ["name"] },
    says: '"selct", did you mean "select"?',
  },
  {
    request: ["items", "first"],
    body: { where: [{ key: "item_id", value: "i01", valeu: 1 }] },
    says: '"where[0].valeu", did you mean "value"?',
  },
  {
    request: ["items", "create"],
    body: { code: "S-1", name: "s", prize: 1 },
    says: '"prize", did you mean "price"?',
    else: 201,
  },
  {
    request: ["items", "update"],
    body: { item_id: "i01", qty: 10, nme: "x" },
    says: '"nme", did you mean "name"?',
  },
  {
    request: ["items", "delete"],
    body: { where: [{ key: "item_id", value: "nobody", or: 1 }] },
    says: '"where[0].or"',
    else: 404,
  },
  {
    request: ["counters", "adjust"],
    body: { counter_id: "nobody", adjustments: [{ field: "stock", value: 1, reson: "x" }] },
    says: '"adjustments[0].reson", did you mean "reason"?',
    else: 404,
  },
  {
    request: ["items", "lookup"],
    body: { where: [], serach: "a" },
    headers: { "X-Request-Mode": "static" },
    says: '"serach", did you mean "search"?',
  },
  {
    request: ["totals", "aggregate"],
    body: { operations: [{ function: "count", field: "*", as: "all" }] },
    says: '"operations[0].as"',
  },
  {
    request: ["totals", "aggregate"],
    body: { group_by: ["name"], having: { condition: [] } },
    says: '"having.condition", did you mean "conditions"?',
    else: 400,
  },
  {
    request: ["orders", "change-status"],
    body: { order_id: "nobody", status: "posted", remark: "x" },
    says: '"remark", did you mean "remarks"?',
    else: 404,
  },
  {
    request: ["orders", "next-statuses"],
    body: { order_id: "nobody", status: "posted" },
    says: '"status"',
    else: 404,
  },
  {
    request: ["items", "lock/status"],
    body: { lock_keys: [{ key: "item_id", value: "i01", kind: "x" }] },
    says: '"lock_keys[0].kind"',
  },
  {
    request: ["items", "lock/acquire"],
    body: { lock_keys: [{ key: "item_id", value: "i08" }], tll: 1 },
    says: '"tll", did you mean "ttl"?',
  },
  {
    request: ["documents", "create-composite"],
    body: { documents: { number: "S-1", document_lines: [{ line_number: 1, qty: 1, prise: 2 }] } },
    says: '"documents.document_lines[0].prise", did you mean "price"?',
    else: 201,
  },
  {
    request: ["documents", "update-composite"],
    body: { documents: { document_id: "nobody", document_lines: { insret: [] } } },
    says: '"documents.document_lines.insret", did you mean "insert"?',
    else: 400,
  },
  {
    request: ["documents", "read-composite"],
    body: { where: [{ key: "document_id", value: "nobody" }], select: ["number"] },
    says: '"select"',
  },
  { request: ["by-job", "export"], body: { format: "csv", sort: [] }, says: '"sort"' },
  {
    request: ["by-job", "export-cancel"],
    body: { ...job, force: true },
    says: '"force"',
    else: 404,
  },
  {
    request: ["by-job", "import-preview"],
    body: { upload_id: "upload-00000000-0000-4000-8000-000000000000", rows: 1 },
    says: '"rows"',
    else: 404,
  },
];

describe.each(refusals)("$request with $says", (row) => {
  const [endpoint, action] = row.request;

  test("is refused, and nothing is done", async () => {
    const answer = await strict.post(endpoint, action, row.body, row.headers);
    const message = `Unknown member in the payload: ${row.says}`;
    check(answer, { status: 400, error: "Invalid payload", message });
  });

  test("is taken, or refused for another reason, where unknown members are ignored", async () => {
    const answer = await lenient.post(endpoint, action, row.body, row.headers);
    expect(answer.status, JSON.stringify(answer.body)).toBe(row.else ?? 200);
    expect(answer.body.message ?? "").not.toContain("Unknown member");
  });
});

describe("a strict project", () => {
  test("names all unknown members at once", async () => {
    const body = { limt: 5, sort_columns: [{ column: "name", nulls: "last" }], pgae: 1 };
    check(await strict.post("items", "read", body), {
      status: 400,
      error: "Invalid payload",
      message:
        'Unknown members in the payload: "limt", did you mean "limit"?; "sort_columns[0].nulls"; "pgae", did you mean "page"?',
    });
  });

  test("stores nothing of a create that it refuses", async () => {
    await strict.post("items", "create", { item_id: "s1", code: "S-2", name: "s", size: 1 });
    const answer = await strict.post("items", "first", { where: { key: "item_id", value: "s1" } });
    check(answer, { status: 200 });
    expect(answer.body.data).toBeNull();
  });

  test("says of an empty payload that it is empty", async () => {
    const message = "The payload is empty";
    check(await strict.post("items", "read", {}), {
      status: 400,
      error: "Invalid payload",
      message,
    });
  });

  test("looks into the data of {data, options}, and lets the options be", async () => {
    const where = { key: "item_id", value: "i01" };
    const options = { any: { thing: 1 } };
    const data = { item_id: "i01", qty: 10 };
    check(await strict.post("items", "update", { data, options }), { status: 200 });
    const unknown = await strict.post("items", "update", {
      data: { ...data, quantity: 1 },
      options,
    });
    const message = 'Unknown member in the payload: "quantity"';
    check(unknown, { status: 400, error: "Invalid payload", message });
    check(await strict.post("items", "first", { where }), { status: 200, data: { qty: 10 } });
  });

  test("tells nothing of a column that is hidden", async () => {
    for (const name of ["secret", "secre"]) {
      const answer = await strict.post("closed", "update", { item_id: "i01", qty: 1, [name]: "x" });
      const message = `Unknown member in the payload: "${name}"`;
      check(answer, { status: 400, error: "Invalid payload", message });
    }
  });

  test("does not know a column of the table that is outside of fieldName", async () => {
    const answer = await strict.post("narrow", "update", { item_id: "i01", name: "x", price: 1 });
    const message = 'Unknown member in the payload: "price"';
    check(answer, { status: 400, error: "Invalid payload", message });
  });

  test("refuses further texts of an upload", async () => {
    const part = "--edge\r\nContent-Disposition: form-data; name=";
    const body = `${part}note\r\n\r\ny\r\n${part}file; filename=a.csv\r\n\r\ncode\r\n--edge--\r\n`;
    const headers = { "Content-Type": "multipart/form-data; boundary=edge" };
    const answer = await strict.send("/by-job/import-upload", { method: "POST", body, headers });
    check(answer, { status: 400, error: "Invalid payload" });
    expect(answer.body.message).toContain('one file, in a part named "file"');
  });

  test("refuses an unknown parameter of a GET", async () => {
    const lookup = await strict.send("/items/lookup?search=a&lmit=1", {
      headers: { "X-Request-Mode": "dynamic" },
    });
    const message = 'Unknown member in the query: "lmit", did you mean "limit"?';
    check(lookup, { status: 400, error: "Invalid payload", message });
    const status = await strict.send(`/by-job/export-status?job_id=${job.job_id}&verbose=1`);
    check(status, {
      status: 400,
      error: "Invalid payload",
      message: 'Unknown member in the query: "verbose"',
    });
  });

  test("refuses an unknown member of the list of changes, of its stream and of a ticket", async () => {
    const refused = { status: 400, error: "Invalid payload" };
    const misspelled = { endpoints: ["hooked"], sinse: "x" };
    const said = 'Unknown member in the payload: "sinse", did you mean "since"?';
    check(await strict.send("/changes", asPost(misspelled)), { ...refused, message: said });
    check(await lenient.send("/changes", asPost(misspelled)), { status: 200 });
    check(await strict.send("/changes", asPost({ endpoints: ["hooked"], limit: 1 })), {
      status: 200,
    });
    check(await strict.send("/changes?endpoints=hooked&sinse=x"), {
      ...refused,
      message: 'Unknown member in the query: "sinse", did you mean "since"?',
    });
    check(await strict.send("/changes/ticket", asPost({ endpoints: ["hooked"] })), {
      ...refused,
      message: 'Unknown member in the payload: "endpoints"',
    });
    check(await strict.send("/changes/ticket", { method: "POST" }), { status: 200 });
  });
});

describe("a strict project takes", () => {
  beforeEach(async () => {
    await strict.fixture.sql("delete from orders where order_id = 'o1'");
    await strict.fixture.sql("insert into orders (order_id, status) values ('o1', 'draft')");
  });

  test.each(["items", "by-both"])(
    "the record of %s that it showed, sent back",
    async (endpoint) => {
      const where = { key: "item_id", value: "i02" };
      const seen = await strict.post(endpoint, "first", { where });
      const answer = await strict.post(endpoint, "update", { ...seen.body.data, name: "banana" });
      check(answer, { status: 200, data: { name: "banana" } });
      const { item_id: _, code: __, ...rest } = seen.body.data;
      check(await strict.post(endpoint, "create", { ...rest, code: `again-${endpoint}` }), {
        status: 201,
      });
    },
  );

  test("a document that it showed, with its details, sent back", async () => {
    const document = { number: "S-9", document_lines: [{ line_number: 1, qty: 2, price: 3 }] };
    const made = await strict.post("documents", "create-composite", { documents: document });
    check(made, { status: 201 });
    const { document_lines: lines, ...header } = made.body.data;
    const changed = { ...header, document_lines: { update: lines, delete: [], insert: [] } };
    check(await strict.post("documents", "update-composite", { documents: changed }), {
      status: 200,
    });
  });

  test("any members within a value of JSON", async () => {
    const document = { a: { b: [{ c: 1 }] } };
    check(await strict.post("kinds", "create", { document }), { status: 201, data: { document } });
  });

  test("what the libraries of grids and drop-downs send besides", async () => {
    const grid = {
      draw: 1,
      start: 0,
      length: 2,
      columns: [{ data: "name", name: "" }],
      theme: "x",
    };
    expect((await strict.post("grid", "datatables", grid)).body.recordsTotal).toBeGreaterThan(0);
    const query = "search=a&_type=query&term=a&q=a&page=1&_=1700000000000";
    const answer = await strict.send(`/items/lookup?${query}`, {
      headers: { "X-Request-Mode": "dynamic" },
    });
    check(answer, { status: 200 });
  });

  test("members of change-status that the texts of its hooks name, and no others", async () => {
    const body = { order_id: "o1", status: "posted", reason: "r", team: "t", ticket: 1 };
    check(await strict.post("hooked", "change-status", body), { status: 200 });
    const other = await strict.post("hooked", "change-status", { ...body, ticker: 1 });
    const message = 'Unknown member in the payload: "ticker", did you mean "ticket"?';
    check(other, { status: 400, error: "Invalid payload", message });
  });
});

describe("a request about related records", () => {
  const trade = openForTests(openTrade, { requests: { unknown: "refuse" } });

  const many = { conditions: [{ key: "qty", operator: ">", value: 1 }] };
  const misspelled = { logik: "OR", conditions: [] };

  test.each<[path: string, body: object, says: string | null]>([
    ["aggregate", { where: { key: "lines", operator: "ANY", where: many } }, null],
    [
      "aggregate",
      { where: { conditions: [{ key: "lines", operator: "ANY", where: misspelled }] } },
      '"where.conditions[0].where.logik", did you mean "logic"?',
    ],
    [
      "aggregate",
      {
        operations: [
          { function: "count", field: "*", where: { key: "lines", operator: "ANY", where: many } },
        ],
      },
      null,
    ],
    ["read", { expand: { lines: { where: many, expand: { product: { select: [] } } } } }, null],
    ["read", { expand: { lines: { limt: 1 } } }, '"expand.lines.limt", did you mean "limit"?'],
    [
      "read",
      { expand: { lines: { where: misspelled } } },
      '"expand.lines.where.logik", did you mean "logic"?',
    ],
    [
      "read",
      { expand: { lines: { sort_columns: [{ column: "qty", dir: "desc" }] } } },
      '"expand.lines.sort_columns[0].dir"',
    ],
    [
      "first",
      {
        where: { key: "order_no", value: "A1" },
        expand: { lines: { operations: [{ function: "count", field: "*", allias: "n" }] } },
      },
      '"expand.lines.operations[0].allias", did you mean "alias"?',
    ],
    [
      "read",
      { expand: { customer: { expand: { orders: { limt: 1 } } } } },
      '"expand.customer.expand.orders.limt", did you mean "limit"?',
    ],
  ])("%s %j is taken, or says %s", async (action, body, says) => {
    const { status, body: answer } = await trade.post(`orders/${action}`, body);
    expect([status, answer.message ?? null]).toEqual(
      says === null ? [200, null] : [400, `Unknown member in the payload: ${says}`],
    );
  });
});

/** `numbers`: the service numbers records without gaps, in every way in which a record is made. */
import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { Row } from "../../core/values/row.ts";
import { apiKeysOf } from "./api-keys.ts";
import { check, record, records } from "./cases.ts";
import { type Answer, openFixture, openForTests } from "./harness.ts";
import { importerOf, workbookOf } from "./imports.ts";

/** Unique per run: another run can use the same Redis. */
const run = randomUUID().slice(0, 8);
const apiKey = apiKeysOf(run);
const writes = {
  create: true,
  first: true,
  read: true,
  update: true,
  delete: true,
  "bulk-create": true,
  "bulk-update": true,
  upsert: true,
  import: true,
  "next-number": true,
};
const access = { admin: "*", clerk: "*", importer: "*" };

const fixture = openForTests(openFixture, {
  tables: [
    {
      name: "invoices",
      columns: {
        invoice_id: "key",
        invoice_no: { type: "text(20)", notNull: true, unique: true },
        name: { type: "text(40)", notNull: true },
        lot: "integer",
        kind: { type: "text(10)", default: "'plain'" },
      },
    },
    {
      name: "receipts",
      columns: {
        receipt_id: "key",
        receipt_number: { type: "text(40)", unique: true },
        warehouse: "text(10)",
        receipt_date: "date",
        status: { type: "text(20)", default: "'draft'" },
        name: "text(40)",
      },
    },
    {
      name: "orders",
      columns: { order_id: "key", order_no: { type: "text(20)", unique: true }, year: "integer" },
    },
    {
      name: "order_lines",
      columns: {
        line_id: "key",
        order_id: { type: "text(36)", references: { table: "orders", column: "order_id" } },
        line_no: "text(10)",
        quantity: { type: "integer", check: "quantity < 1000" },
      },
      unique: [["order_id", "line_no"]],
    },
    {
      name: "tickets",
      columns: { ticket_id: "key", code: { type: "text(12)", unique: true }, at: "timestamp" },
    },
    {
      name: "slips",
      columns: {
        slip_no: { type: "text(20)", notNull: true, unique: true },
        tenant: "text(10)",
        state: { type: "text(10)", default: "'open'" },
        state_no: { type: "text(20)", unique: true },
      },
    },
  ],
  endpoints: {
    invoices: {
      tableName: "invoices",
      action: writes,
      numbers: { invoice_no: { format: "INV-{lot}-{seq:3}", manual: ["importer"] } },
      fieldValidation: [
        { name: "lot", type: "integer", constraints: { min: 0 } },
        { name: "name", type: "string", constraints: { minLength: 1 } },
        { name: "invoice_no", constraints: { minLength: 3, pattern: "^[A-Za-z].+$", trim: true } },
      ],
      importConfig: { upsertKeys: ["name", "lot"] },
      history: true,
      access,
    },
    // Another endpoint of the table, which does not say that it is numbered.
    bills: {
      tableName: "invoices",
      fieldName: ["invoice_id", "invoice_no", "name", "lot"],
      action: { create: true, "bulk-create": true },
      access,
    },
    receipts: {
      tableName: "receipts",
      action: { ...writes, "change-status": true },
      history: true,
      workflow: { transitions: { draft: ["posted", "gone"], posted: ["draft"], gone: [] } },
      numbers: {
        receipt_number: {
          format: "SR/{yyyy}{MM}/{seq:4}",
          by: ["warehouse"],
          date: "receipt_date",
          onStatus: "posted",
        },
      },
      access,
    },
    orders: {
      tableName: "orders",
      action: { ...writes, import: false, "create-composite": true, "update-composite": true },
      masterDetail: { detailTable: "order_lines", foreignKey: "order_id" },
      numbers: { order_no: { format: "{yy}-{seq}", start: 100 } },
      access,
    },
    "order-lines": {
      tableName: "order_lines",
      action: { create: true, read: true },
      numbers: { line_no: { format: "{seq:2}", by: ["order_id"] } },
      access,
    },
    tickets: {
      tableName: "tickets",
      action: writes,
      numbers: { code: { format: "{yyyy}{MM}{dd}/{seq:2}", date: "at" } },
      access,
    },
    slips: {
      tableName: "slips",
      primaryKey: "slip_no",
      action: { ...writes, import: false },
      workflow: { statusField: "state" },
      numbers: {
        slip_no: { format: "S{seq:5}", by: ["tenant"] },
        state_no: { format: "open {seq}", onStatus: "open" },
      },
      access: { admin: "*", clerk: "*", tenant: ["create", "next-number"] },
      rowScope: { tenant: { tenant: "{{claims.tenant}}" } },
      hiddenFields: { tenant: ["state_no"] },
    },
  },
  project: {
    timeZone: "Pacific/Kiritimati",
    batch: { enabled: true },
    auth: {
      apiKeys: [
        apiKey("admin", ["admin"]),
        apiKey("clerk", ["clerk"]),
        apiKey("importer", ["importer"]),
        apiKey("tenant", ["tenant"], { tenant: "t1" }),
        apiKey("tenants", ["tenant"], { tenant: ["t1", "t3"] }),
        apiKey("nobody's", ["tenant"]),
      ],
    },
  },
});

const as =
  (id: string) =>
  (path: string, body: object, headers: Record<string, string> = {}): Promise<Answer> =>
    fixture.post(path, body, { "x-api-key": `key of ${id}`, ...headers });
const admin = as("admin");
const importer = as("importer");

/** A lot of its own, so that tests do not share counters. */
let lots = 0;
const newLot = (): number => ++lots;
const numberOf = (answer: Answer): unknown => record(answer)["invoice_no"];

async function create(body: object): Promise<Answer> {
  return admin("invoices/create", { name: "n", ...body });
}

const is = (key: string, value: unknown) => ({ conditions: [{ key, operator: "=", value }] });

async function stored(lot: number): Promise<unknown[]> {
  const answer = await admin("invoices/read", { where: is("lot", lot), per_page: 100 });
  return records(answer)
    .map((row) => String(row["invoice_no"]))
    .toSorted();
}

describe("a number is given", () => {
  type Way = readonly [string, (lot: number) => Promise<Answer>, number];
  const ways: readonly Way[] = [
    ["create", (lot) => create({ lot }), 1],
    ["create that sends null", (lot) => create({ lot, invoice_no: null }), 1],
    ["create that sends an empty text", (lot) => create({ lot, invoice_no: "" }), 1],
    ["create through another endpoint", (lot) => admin("bills/create", { name: "n", lot }), 1],
    [
      "bulk-create",
      (lot) =>
        admin("invoices/bulk-create", {
          data: [
            { name: "a", lot },
            { name: "b", lot },
            { name: "c", lot, kind: "other" },
          ],
        }),
      3,
    ],
    [
      "bulk-create of each",
      (lot) =>
        admin("invoices/bulk-create", {
          mode: "each",
          data: [
            { name: "a", lot },
            { name: "b", lot },
          ],
        }),
      2,
    ],
    [
      "upsert",
      (lot) =>
        admin("invoices/upsert", {
          data: [
            { name: "a", lot },
            { name: "b", lot },
          ],
        }),
      2,
    ],
    [
      "a batch",
      (lot) =>
        admin("_batch", {
          steps: [
            { endpoint: "invoices", action: "create", body: { name: "a", lot } },
            { endpoint: "bills", action: "create", body: { name: "b", lot } },
            { endpoint: "invoices", action: "bulk-create", body: { data: [{ name: "c", lot }] } },
          ],
        }),
      3,
    ],
  ];
  test.each(ways)("by %s", async (_, make, count) => {
    const lot = newLot();
    const answer = await make(lot);
    expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
    const expected = Array.from({ length: count }, (__, at) => `INV-${lot}-00${at + 1}`);
    expect(await stored(lot)).toEqual(expected);
    for (const number of expected) expect(JSON.stringify(answer.body)).toContain(number);
  });

  test("by an import", async () => {
    const lot = newLot();
    const answer = await imported(
      [
        ["name", "lot"],
        ["a", lot],
        ["b", lot],
      ],
      "admin",
    );
    check(answer, { status: 200 });
    expect(await stored(lot)).toEqual([`INV-${lot}-001`, `INV-${lot}-002`]);
  });

  test("to the header and the details of a composite, and to details that are added", async () => {
    const yy = kiritimati().slice(2, 4);
    const answer = await admin("orders/create-composite", {
      orders: { year: 1, order_lines: [{ quantity: 1 }, { quantity: 2 }] },
    });
    check(answer, { status: 201 });
    const { order_id, order_no, order_lines } = record(answer) as Row & { order_lines: Row[] };
    expect(order_no).toMatch(new RegExp(`^${yy}-1\\d\\d$`));
    expect(order_lines.map((line) => line["line_no"])).toEqual(["01", "02"]);
    const changed = await admin("orders/update-composite", {
      orders: { order_id, order_lines: { insert: [{ quantity: 3 }] } },
    });
    check(changed, { status: 200 });
    const lines = await admin("order-lines/read", { where: is("order_id", order_id) });
    expect(
      records(lines)
        .map((line) => line["line_no"])
        .toSorted(),
    ).toEqual(["01", "02", "03"]);
  });

  test("as the key of a table", async () => {
    const answer = await admin("slips/create", { tenant: "k", state: "closed" });
    check(answer, { status: 201, data: { slip_no: "S00001", state_no: null } });
    const found = await admin("slips/first", { where: [{ key: "slip_no", value: "S00001" }] });
    check(found, { status: 200, data: { tenant: "k" } });
  });
});

function importing(who: string) {
  const withKey = { "x-api-key": `key of ${who}` };
  return importerOf({
    request: (path, init) =>
      fixture.request(path, { ...init, headers: { ...init?.headers, ...withKey } }),
    post: (path, body, headers) => fixture.post(path, body, { ...headers, ...withKey }),
  });
}

const imported = async (rows: Parameters<typeof workbookOf>[0], who: string): Promise<Answer> =>
  importing(who).committed("invoices", await workbookOf(rows));

describe("without a number that could be given", () => {
  test.each<[string, string, object, Record<string, string[]>]>([
    ["an empty column of the format", "invoices/create", { name: "n" }, { lot: needed }],
    [
      "null in the column of the format",
      "invoices/create",
      { name: "n", lot: null },
      { lot: needed },
    ],
    ["an empty column of by", "slips/create", { state: "x" }, { tenant: needed }],
    ["an empty text in a column of by", "slips/create", { tenant: "" }, { tenant: needed }],
    ["an empty date", "tickets/create", { at: null }, { at: needed }],
    [
      "all columns empty, in a status at which it would get one",
      "receipts/create",
      { status: "posted" },
      { warehouse: needed, receipt_date: needed },
    ],
    [
      "an empty column in a list",
      "invoices/bulk-create",
      { data: [{ name: "a", lot: 1 }, { name: "b" }, { name: "" }] },
      { "[1].lot": needed, "[2].name": ["must have at least 1 characters"], "[2].lot": needed },
    ],
    [
      "an empty column in upsert",
      "invoices/upsert",
      { data: [{ name: "b" }, { name: "c", lot: 1 }, { name: "d" }] },
      { "[0].lot": needed, "[2].lot": needed },
    ],
    [
      "empty columns in a status at which all would get one",
      "receipts/bulk-create",
      { data: [{ status: "posted", warehouse: "w" }, {}, { status: "posted" }] },
      { "[0].receipt_date": needed, "[2].warehouse": needed, "[2].receipt_date": needed },
    ],
    ["an empty column through another endpoint", "bills/create", { name: "n" }, { lot: needed }],
  ])("%s is refused", async (_, path, body, errors) => {
    check(await admin(path, body), { status: 400, error: "Validation failed", errors });
  });

  test("a row of a file without it is refused by the preview", async () => {
    const rows = [
      ["receipt_id", "warehouse", "receipt_date", "status"],
      ["p1", "w", "2026-01-01", "posted"],
      ["p2", null, null, "posted"],
      ["p3", null, null, "draft"],
    ];
    const { body } = await importing("admin").previewed("receipts", await workbookOf(rows));
    expect(body.errors, JSON.stringify(body)).toEqual([
      expect.objectContaining({
        rowIndex: 3,
        messages: [`warehouse: ${needed[0]}`, `receipt_date: ${needed[0]}`],
      }),
    ]);
  });

  test("a fault of a rule comes first, and no number is taken", async () => {
    const lot = newLot();
    check(await create({ lot, name: "" }), {
      status: 400,
      error: "Validation failed",
      errors: ["name"],
    });
    check(await create({ lot }), { status: 201, data: { invoice_no: `INV-${lot}-001` } });
  });
});

describe("no number is left out", () => {
  test.each<[string, (lot: number) => Promise<Answer>, number]>([
    ["a create that the database refuses", (lot) => create({ lot, name: null }), 400],
    [
      "a dry run, which shows the number",
      (lot) => admin("invoices/create", { name: "n", lot }, { prefer: "tx=rollback" }),
      201,
    ],
    [
      "a bulk-create that is refused as a whole",
      (lot) =>
        admin("invoices/bulk-create", {
          data: [
            { name: "a", lot },
            { name: "b", lot, invoice_id: "taken" },
            { name: "c", lot, invoice_id: "taken" },
          ],
        }),
      400,
    ],
    [
      "a batch whose last step fails",
      (lot) =>
        admin("_batch", {
          steps: [
            { endpoint: "invoices", action: "create", body: { name: "a", lot } },
            { endpoint: "invoices", action: "update", body: { invoice_id: "none", name: "b" } },
          ],
        }),
      404,
    ],
  ])("by %s", async (_, attempt, status) => {
    const lot = newLot();
    const answer = await attempt(lot);
    expect(answer.status, JSON.stringify(answer.body)).toBe(status);
    if (status === 201) expect(numberOf(answer)).toBe(`INV-${lot}-001`);
    check(await create({ lot }), { status: 201, data: { invoice_no: `INV-${lot}-001` } });
  });

  test("by records that are refused one by one", async () => {
    const lot = newLot();
    const invoice_id = randomUUID();
    const answer = await admin("invoices/bulk-create", {
      mode: "each",
      data: [
        { name: "a", lot },
        { name: "b", lot, invoice_id },
        { name: "c", lot, invoice_id },
        { name: "d" },
        { name: "e", lot },
      ],
    });
    expect(answer.status).toBe(207);
    expect(answer.body.summary).toEqual({ succeeded: 3, failed: 2 });
    expect(await stored(lot)).toEqual([1, 2, 3].map((at) => `INV-${lot}-00${at}`));
  });
});

describe("a counter", () => {
  test("ends with its digits, and says so", async () => {
    const lot = newLot();
    check(await importer("invoices/create", { name: "n", lot, invoice_no: `INV-${lot}-997` }), {
      status: 201,
    });
    await fixture.sql(
      `update rowgate_numbers set last_number = 998 where pattern = 'INV-${lot}-{seq}'`,
    );
    check(await create({ lot }), { status: 201, data: { invoice_no: `INV-${lot}-999` } });
    const reason = `all numbers of 3 digits are used up: INV-${lot}-{seq}`;
    const ended = {
      status: 409,
      error: "Constraint violation",
      message: `No number can be given: ${reason}`,
      errors: { invoice_no: [reason] },
    };
    check(await create({ lot }), ended);
    check(await admin("invoices/next-number", { lot }), ended);
    const data = [
      { name: "a", lot },
      { name: "b", lot: newLot() },
    ];
    const bulk = await admin("invoices/bulk-create", { data });
    check(bulk, { status: 409, error: "Constraint violation", errors: ["[0].invoice_no"] });
    const each = await admin("invoices/bulk-create", { mode: "each", data });
    expect(each.body.summary).toEqual({ succeeded: 1, failed: 1 });
  });

  test("ends where its column ends", async () => {
    const at = "2031-05-06T12:00:00.000Z";
    const create = () => admin("tickets/create", { at });
    check(await create(), { status: 201, data: { code: "20310507/01" } });
    await fixture.sql("update rowgate_numbers set last_number = 98 where column_name = 'code'");
    check(await create(), { status: 201, data: { code: "20310507/99" } });
    check(await create(), { status: 409, error: "Constraint violation", errors: ["code"] });
  });

  test("passes over numbers that are taken, however many they are", async () => {
    const lot = newLot();
    const taken = Array.from({ length: 40 }, (_, at) => ({
      name: "n",
      lot,
      invoice_no: `INV-${lot}-${String(at + 2).padStart(3, "0")}`,
    }));
    check(await importer("invoices/bulk-create", { data: taken }), { status: 201 });
    check(await admin("invoices/next-number", { lot }), {
      status: 200,
      data: { invoice_no: `INV-${lot}-001` },
    });
    const data = [
      { name: "a", lot },
      { name: "b", lot },
      { name: "c", lot },
    ];
    const bulk = await admin("invoices/bulk-create", { data });
    expect(records(bulk).map((row) => row["invoice_no"])).toEqual(
      ["001", "042", "043"].map((seq) => `INV-${lot}-${seq}`),
    );
    check(await create({ lot }), { status: 201, data: { invoice_no: `INV-${lot}-044` } });
  });

  test("belongs to the text of its format, and to by", async () => {
    const [first, second] = [newLot(), newLot()];
    for (const [lot, seq] of [
      [first, 1],
      [second, 1],
      [first, 2],
    ] as const)
      check(await create({ lot }), { status: 201, data: { invoice_no: `INV-${lot}-00${seq}` } });
    // One unique index covers all tenants, so the numbers of the other one are taken.
    for (const [tenant, slip_no] of [
      ["a", "S00002"],
      ["b", "S00003"],
      ["a", "S00004"],
    ] as const)
      check(await admin("slips/create", { tenant, state: "x" }), {
        status: 201,
        data: { slip_no },
      });
  });

  test("begins anew with each month of the date", async () => {
    const post = (receipt_date: string) =>
      admin("receipts/create", { warehouse: "m", receipt_date, status: "posted" });
    for (const [date, receipt_number] of [
      ["2026-01-31", "SR/202601/0001"],
      ["2026-02-01", "SR/202602/0001"],
      ["2026-01-05", "SR/202601/0002"],
      ["2027-01-05", "SR/202701/0001"],
    ] as const)
      check(await post(date), { status: 201, data: { receipt_number } });
  });

  test("takes the day of an instant in the time zone of the project", async () => {
    for (const [at, code] of [
      ["2030-12-31T09:59:59.000Z", "20301231/01"],
      ["2030-12-31T10:00:00.000Z", "20310101/01"],
    ] as const)
      check(await admin("tickets/create", { at }), { status: 201, data: { code } });
  });

  test("begins with start", async () => {
    const before = kiritimati();
    const answer = await admin("orders/next-number", {});
    const after = kiritimati();
    const number = record(answer)["order_no"];
    expect([before, after].map((day) => day.slice(2, 4))).toContain(String(number).slice(0, 2));
    expect(Number(String(number).slice(3))).toBeGreaterThanOrEqual(100);
  });
});

describe("onStatus", () => {
  const draft = async (more: object = {}): Promise<string> => {
    const answer = await admin("receipts/create", {
      warehouse: "s",
      receipt_date: "2026-07-01",
      ...more,
    });
    check(answer, { status: 201, data: { receipt_number: null } });
    return String(record(answer)["receipt_id"]);
  };
  const move = (receipt_id: string, status: string, headers = {}) =>
    admin("receipts/change-status", { receipt_id, status }, headers);

  test("a record gets its number when it first reaches the status, and keeps it", async () => {
    const receipt_id = await draft();
    const posted = await move(receipt_id, "posted");
    check(posted, { status: 200, data: { receipt_number: "SR/202607/0001", status: "posted" } });
    const back = await move(receipt_id, "draft");
    check(back, { status: 200, data: { receipt_number: "SR/202607/0001" } });
    const again = await move(receipt_id, "posted");
    check(again, { status: 200, data: { receipt_number: "SR/202607/0001" } });
    const other = await move(await draft(), "posted");
    check(other, { status: 200, data: { receipt_number: "SR/202607/0002" } });
  });

  test("a record keeps its number when the step is reverted", async () => {
    const receipt_id = await draft({ warehouse: "reverted" });
    const { receipt_number } = record(await move(receipt_id, "posted"));
    const [entry] = records(await admin("receipts/history", { receipt_id }));
    check(await admin("receipts/revert", { change_id: entry!["change_id"] }), {
      status: 200,
      data: { status: "draft", receipt_number },
    });
    check(await move(receipt_id, "posted"), { status: 200, data: { receipt_number } });
  });

  test("another status gives none, nor does a plain update", async () => {
    const gone = await draft();
    check(await move(gone, "gone"), { status: 200, data: { receipt_number: null } });
    const updated = await draft();
    check(await admin("receipts/update", { receipt_id: updated, status: "posted" }), {
      status: 200,
      data: { receipt_number: null },
    });
  });

  test("a dry run shows the number and takes none", async () => {
    const receipt_id = await draft({ warehouse: "dry", receipt_date: "2026-09-01" });
    for (let at = 0; at < 2; at++)
      check(await move(receipt_id, "posted", { prefer: "tx=rollback" }), {
        status: 200,
        data: { receipt_number: "SR/202609/0001" },
      });
  });

  test.each<[string, object, string[]]>([
    ["by", { warehouse: null }, ["warehouse"]],
    ["date", { receipt_date: null }, ["receipt_date"]],
  ])("a record with an empty %s stays as it was", async (_, more, errors) => {
    const receipt_id = await draft(more);
    const refused = await move(receipt_id, "posted");
    check(refused, { status: 400, error: "Validation failed", errors });
    const found = await admin("receipts/first", {
      where: [{ key: "receipt_id", value: receipt_id }],
    });
    check(found, { status: 200, data: { status: "draft", receipt_number: null } });
  });

  test("a record that is made in the status gets its number at once", async () => {
    const answer = await admin("receipts/create", {
      warehouse: "now",
      receipt_date: "2026-08-01",
      status: "posted",
    });
    check(answer, { status: 201, data: { receipt_number: "SR/202608/0001" } });
  });

  test("a record whose status is the database's default gets its number at once", async () => {
    const answer = await admin("slips/create", { tenant: "late" });
    check(answer, { status: 201, data: { state: "open", state_no: "open 1" } });
    const bulk = await admin("slips/bulk-create", {
      data: [{ tenant: "late" }, { tenant: "late" }],
    });
    expect(records(bulk).map((row) => row["state_no"])).toEqual(["open 2", "open 3"]);
  });

  test("a record that has a number keeps it", async () => {
    const receipt_id = await draft();
    const receipt_number = `own ${run}`;
    check(await admin("receipts/update", { receipt_id, receipt_number }), { status: 200 });
    check(await move(receipt_id, "posted"), { status: 200, data: { receipt_number } });
  });
});

describe("manual", () => {
  const clerk = as("clerk");
  const own = () => `own ${randomUUID().slice(0, 8)}`;

  test.each<[string, (invoice_no: string) => readonly [string, object]]>([
    ["create", (invoice_no) => ["invoices/create", { name: "n", lot: 1, invoice_no }]],
    ["create elsewhere", (invoice_no) => ["bills/create", { name: "n", lot: 1, invoice_no }]],
    [
      "bulk-create",
      (invoice_no) => ["invoices/bulk-create", { data: [{ name: "n", lot: 1, invoice_no }] }],
    ],
    ["upsert", (invoice_no) => ["invoices/upsert", { data: [{ name: "n", lot: 1, invoice_no }] }]],
  ])("a number in %s is for its roles", async (_, sent) => {
    const [path, body] = sent(own());
    check(await clerk(path, body), { status: 403, error: "Forbidden" });
    expect((await importer(path, body)).status).toBeLessThan(300);
  });

  test("a number in a file is for its roles", async () => {
    const lot = newLot();
    const rows = (invoice_no: string) => [
      ["name", "lot", "invoice_no"],
      ["a", lot, invoice_no],
    ];
    const number = own();
    check(await imported(rows(number), "importer"), { status: 200 });
    expect(await stored(lot)).toEqual([number]);
    // The record of row 2 keeps its number; row 3 gets one.
    const file = await workbookOf([
      ...rows(number),
      ["b", lot, null],
      ["c", lot, own()],
      ["a", lot + 1, own()],
    ]);
    const { body } = await importing("clerk").previewed("invoices", file);
    const message = "invoice_no: is a number that the service gives; you may not set it";
    expect(body).toMatchObject({
      status: "preview_error",
      errors: [4, 5].map((rowIndex) => ({ rowIndex, messages: [message] })),
      changes: { insert: 1, update: 1 },
    });
    const changed = await workbookOf(rows(own()));
    const { body: refused } = await importing("clerk").previewed("invoices", changed);
    expect(refused.errors).toMatchObject([{ rowIndex: 2, messages: [message] }]);
  });

  test("a number that is changed is for its roles; one that stays is for all", async () => {
    const lot = newLot();
    const made = record(await create({ lot }));
    const { invoice_id, invoice_no } = made;
    const number = own();
    for (const [path, body] of [
      ["invoices/update", { invoice_id, invoice_no: number }],
      ["invoices/bulk-update", { data: [{ invoice_id, invoice_no: number }] }],
      ["invoices/upsert", { data: { invoice_id, invoice_no: number } }],
      [
        "invoices/bulk-update",
        { where: is("invoice_id", invoice_id), set: { invoice_no: number }, expect: 1 },
      ],
    ] as const) {
      check(await clerk(path, body), { status: 403, error: "Forbidden" });
      const same = JSON.parse(
        JSON.stringify(body).replaceAll(number, String(invoice_no)),
      ) as object;
      check(await clerk(path, same), { status: 200 });
    }
    check(await importer("invoices/update", { invoice_id, invoice_no: number }), {
      status: 200,
      data: { invoice_no: number },
    });
    check(await clerk("invoices/update", { invoice_id: "none", invoice_no: number }), {
      status: 404,
      error: "Not found",
    });
  });

  test("without it, everybody may send a number", async () => {
    const receipt_number = own();
    check(await clerk("receipts/create", { receipt_number }), {
      status: 201,
      data: { receipt_number },
    });
  });

  test("a deleted record returns with its number, whoever brings it back", async () => {
    const lot = newLot();
    const { invoice_id, invoice_no } = record(await create({ lot }));
    check(await admin("invoices/delete", { where: [{ key: "invoice_id", value: invoice_id }] }), {
      status: 200,
    });
    const [entry] = records(await clerk("invoices/history", { invoice_id }));
    const back = await clerk("invoices/revert", { change_id: entry!["change_id"] });
    expect(back.status, JSON.stringify(back.body)).toBeLessThan(300);
    check(await create({ lot }), { status: 201, data: { invoice_no: `INV-${lot}-002` } });
    expect(await stored(lot)).toEqual([invoice_no, `INV-${lot}-002`]);
  });
});

describe("next-number", () => {
  test("tells the next number and takes none", async () => {
    const lot = newLot();
    for (let at = 0; at < 2; at++)
      check(await admin("invoices/next-number", { lot }), {
        status: 200,
        data: { invoice_no: `INV-${lot}-001` },
      });
    await create({ lot });
    check(await admin("invoices/next-number", { lot, name: "n", kind: "x" }), {
      status: 200,
      data: { invoice_no: `INV-${lot}-002` },
    });
    expect(await stored(lot)).toHaveLength(1);
  });

  test.each<[string, string, object, number, string | undefined, string[] | undefined]>([
    ["an empty column", "invoices", {}, 400, "Validation failed", ["lot"]],
    ["a column of a wrong type", "invoices", { lot: "x" }, 400, "Validation failed", ["lot"]],
    ["a value that a rule refuses", "invoices", { lot: -1 }, 400, "Validation failed", ["lot"]],
    ["empty by and date", "receipts", {}, 400, "Validation failed", ["receipt_date", "warehouse"]],
    ["an endpoint without the action", "bills", { lot: 1 }, 404, "Not found", undefined],
  ])("refuses %s", async (_, endpoint, body, status, error, errors) => {
    const answer = await admin(`${endpoint}/next-number`, body);
    check(answer, { status, ...(error && { error }), ...(errors && { errors }) });
  });

  test("tells callers with a scope what they would get, and nothing of others", async () => {
    const tenant = as("tenant");
    const own = await tenant("slips/next-number", {});
    expect(own.body.data, JSON.stringify(own.body)).toEqual({
      slip_no: expect.stringMatching(/^S\d{5}$/),
    });
    check(await tenant("slips/create", { state: "x" }), { status: 201, data: own.body.data });
    check(await tenant("slips/next-number", { tenant: "t2" }), { status: 403, error: "Forbidden" });
  });

  test.each([
    ["tenants", "t3", { status: 200 }],
    ["tenants", "t2", { status: 403, error: "Forbidden" }],
    ["nobody's", "t2", { status: 403, error: "Forbidden" }],
  ])("tells %s of the counter of %s: %o", async (id, tenant, expected) => {
    check(await as(id)("slips/next-number", { tenant }), expected);
  });
});

const needed = ["is required for the number of the record"];

/** Today, where the day begins first. */
const kiritimati = (): string =>
  new Intl.DateTimeFormat("sv-SE", { timeZone: "Pacific/Kiritimati" }).format(new Date());

/** `rowgate init`: its files for a database not designed for the service are served without an edit. */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { checkConfig } from "../../app/start/commands/check-config.ts";
import { readConfigFiles } from "../../app/start/settings/config-files.ts";
import { runInit } from "../../app/start/commands/init.ts";
import { createLog } from "../../app/start/observing/log.ts";
import { openService, type Service } from "../../app/start/servers/wire.ts";
import { freshDatabase, type FreshDatabase } from "../servers/database.ts";
import { openSession } from "../servers/session.ts";
import { messyDatabase } from "./init-database.ts";

const engine = inject("engine");
const folders: string[] = [];
let database: FreshDatabase;
let service: Service;
let configDir: string;
let summary: string;

beforeAll(async () => {
  database = await freshDatabase(engine);
  const session = await openSession(engine, database.url);
  for (const text of messyDatabase(engine)) await session.run(text);
  await session.close();
  configDir = await freshFolder();
  summary = await init();
  const files = await readConfigFiles(configDir);
  const env = { ...environment(), STORAGE_URL: `file:${await freshFolder()}` };
  service = await openService({ files, env, log: createLog("silent") });
  await service.ready;
});
afterAll(async () => {
  await service?.close();
  await database?.drop();
  for (const folder of folders) await rm(folder, { recursive: true, force: true });
});

async function freshFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "rowgate-init-"));
  folders.push(folder);
  return folder;
}

async function init(...args: string[]): Promise<string> {
  let text = "";
  await runInit({
    args: ["--database", database.url, "--project", "shop", ...args],
    env: { CONFIG_DIR: configDir },
    out: (more) => (text += more),
  });
  return text;
}

/** Variables that the summary requires in the environment. */
function environment(): Record<string, string> {
  const [, value] = /^SHOP_DATABASE_URL=(.*)$/m.exec(summary) ?? [];
  return value === undefined ? {} : { SHOP_DATABASE_URL: value };
}

const endpointOf = async (name: string): Promise<any> =>
  JSON.parse(await readFile(join(configDir, "shop", `${name}.json`), "utf8"));

async function post(
  path: string,
  body: object,
  headers: Record<string, string> = {},
): Promise<{ status: number; body: any }> {
  const response = await service.app.request(`/api/shop/${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: await response.json() };
}

const common = [
  "Buyers",
  "MixedCase",
  "Sale_Details",
  "Sales",
  "Wares",
  "attendees",
  "cities",
  "evenings",
  "countries",
  "employees",
  "enrolments",
  "guests",
  "log_lines",
  "order",
  "order_items",
  "paid_orders",
  "project_2",
  "project_lines",
  "stays",
  "terms",
  "visits",
];
const expected = {
  sqlite: [...common, "astray", "keyless"],
  mysql: [...common, "people"],
  postgres: [...common, "filled", "moods", "people", "readings"],
}[engine].toSorted();

describe("the files", () => {
  test("are one for each table and view, and project.json", async () => {
    const files = await readConfigFiles(configDir);
    expect([...files.keys()].toSorted()).toEqual(
      [...expected, "project"].map((name) => `shop/${name}.json`).toSorted(),
    );
  });

  test("hold no password", async () => {
    const text = await readFile(join(configDir, "shop", "project.json"), "utf8");
    const { password } = new URL(database.url.replace(/^sqlite:/, "file:///"));
    expect(text).toContain(password === "" ? "database" : "${SHOP_DATABASE_URL}");
    if (password !== "") expect(text).not.toContain(password);
  });

  test("give rules from types, lengths, nullability and checks", async () => {
    const { fieldValidation } = await endpointOf("order_items");
    expect(fieldValidation).toEqual([
      { name: "order_id", type: "integer", constraints: { required: true } },
      { name: "line_number", type: "integer", constraints: { required: true, min: 1 } },
      { name: "title", type: "string", constraints: { required: true, maxLength: 60 } },
      {
        name: "price",
        type: "decimal",
        constraints: { required: true, min: 0, max: 99999, scale: 2 },
      },
    ]);
    const order = await endpointOf("order");
    expect(order.fieldValidation).toContainEqual({
      name: "status",
      type: "string",
      constraints: { enum: ["open", "paid", "it's off"] },
    });
  });

  test("require no text that is empty in some rows", async () => {
    const { fieldValidation } = await endpointOf("terms");
    expect(fieldValidation).toContainEqual({
      name: "slug",
      type: "string",
      constraints: { required: true, maxLength: 40 },
    });
    expect(fieldValidation).toContainEqual({
      name: "description",
      type: "string",
      constraints: { maxLength: 400 },
    });
    const created = await post("terms/create", {
      id: 3,
      name: "New",
      slug: "new",
      description: "",
    });
    expect(created).toMatchObject({ status: 201, body: { data: { description: "" } } });
    for (const body of [{}, { description: null }]) {
      const refused = await post("terms/create", { id: 4, name: "None", slug: "none", ...body });
      expect(refused).toMatchObject({
        status: 400,
        body: { errors: { description: [expect.stringMatching(/is required|must not be null/)] } },
      });
    }
  });

  test("hide what looks like a secret, and nothing else", async () => {
    expect((await endpointOf("employees")).hiddenFields).toEqual(["password_hash"]);
    expect((await endpointOf("MixedCase")).hiddenFields).toEqual(["ApiToken"]);
    expect((await endpointOf("cities")).hiddenFields).toBeUndefined();
  });

  test("mark deleted records where the columns say so, and nowhere else", async () => {
    const { action, softDelete, fieldValidation } = await endpointOf("guests");
    expect([action.delete, action.restore, softDelete]).toEqual([
      true,
      true,
      { flag: "isDeleted" },
    ]);
    expect(fieldValidation.map(({ name }: { name: string }) => name)).toEqual(["name"]);
    expect((await endpointOf("cities")).softDelete).toBeUndefined();
    expect(summary).toContain(
      "delete marks records in isDeleted, deleted_at, deleted_by, and restore brings them back",
    );
  });

  test("leave out a column that cannot say who deleted a record", async () => {
    const { softDelete, fieldName, fieldValidation } = await endpointOf("visits");
    expect([softDelete, fieldName.includes("deleted_by")]).toEqual([true, true]);
    expect(fieldValidation.map(({ name }: { name: string }) => name)).toEqual([
      "name",
      "deleted_by",
    ]);
  });

  test("have no soft delete where a mark has another type, and the summary says so", async () => {
    const { action, softDelete } = await endpointOf("stays");
    expect([action.delete, action.restore, softDelete]).toEqual([true, undefined, undefined]);
    expect(summary).toMatch(
      /stays\.json:\d+ {2}deleted_at looks like a mark of deleted records, but softDelete needs a timestamp or a text of at least 24 characters that may be null; delete removes records/,
    );
  });

  test("find lines, labels, references and joins", async () => {
    const order = await endpointOf("order");
    expect(order.masterDetail).toMatchObject({
      detailTable: "order_items",
      foreignKey: "order_id",
      detailConfig: { fieldName: ["line_number", "title", "price"] },
    });
    const project = await endpointOf("project_2");
    expect(project.masterDetail).toMatchObject({
      detailTable: "project_lines",
      foreignKey: "project_id",
      detailConfig: { primaryKey: ["project_id", "line_no"], fieldName: ["line_no", "text"] },
    });
    const sales = await endpointOf("Sales");
    expect(sales.masterDetail).toMatchObject({
      detailTable: "Sale Details",
      detailConfig: {
        fieldName: ["WareID", "Quantity"],
        fieldValidation: [
          { name: "WareID", type: "integer", constraints: { required: true } },
          { name: "Quantity", type: "integer" },
        ],
      },
    });
    // A person has no name that finds one row.
    expect(sales.importConfig.lookupFields).not.toHaveProperty("Seller");
    expect(Object.keys(sales.aggregateConfig.joins)).toEqual(["Buyer", "Seller"]);
    // Two projects have one name.
    expect((await endpointOf("project_lines")).importConfig).not.toHaveProperty("lookupFields");
    const cities = await endpointOf("cities");
    expect(cities.importConfig.lookupFields).toEqual({
      Country: {
        targetTable: "countries",
        targetField: "country_code",
        lookupField: "name",
        idField: "code",
      },
    });
    expect(cities.aggregateConfig.joins.country).toMatchObject({
      tableName: "countries",
      sourceField: "country_code",
      targetField: "code",
    });
  });

  test.each([
    ["order", "id", "number", "a number that is unique"],
    ["employees", "id", "first_name || ' ' || last_name", "a whole name"],
    ["cities", "id", "name", "a name that has a reference beside it"],
    ["Buyers", "BuyerID", "CompanyName", "a name, and no title of a person"],
    ["Wares", "WareID", "WareName", "a name before a price"],
    ["Sales", "SaleID", "SaleID", "the key, as names and places of others are no label"],
    ["evenings", "id", "id", "the key, as few titles are different"],
    ["guests", "id", "name", "a name without rows to look at"],
  ])("label %s by %s: %s, %s", async (name, id, text) => {
    expect((await endpointOf(name)).fieldNameLookup).toEqual({ id, text });
  });

  test("leave files and pictures out of answers, which writes can set", async () => {
    expect((await endpointOf("Wares")).hiddenFields).toEqual(["Picture"]);
    const made = await post("Wares/create", { WareName: "Ikura", Picture: "aGVsbG8=" });
    expect(made.status, JSON.stringify(made.body)).toBe(201);
    expect(Object.keys(made.body.data)).toEqual(["WareID", "WareName", "UnitPrice"]);
    const { body } = await post("Wares/read", { page: 1 });
    expect(JSON.stringify(body.data)).not.toContain("Picture");
  });

  test("have no lookup where no column names a row, and no update of a key alone", async () => {
    const enrolments = await endpointOf("enrolments");
    expect(enrolments.action).toMatchObject({ update: true, create: true });
    expect(enrolments.action.lookup).toBeUndefined();
    expect(enrolments.fieldNameLookup).toBeUndefined();
    const attendees = await endpointOf("attendees");
    expect(attendees.action).toMatchObject({ create: true, delete: true });
    expect(attendees.action.update).toBeUndefined();
  });

  test.runIf(engine !== "sqlite")("take labels and headings from the database", async () => {
    const people = await endpointOf("people");
    expect(people.fieldLabels).toEqual({ name: "Family name" });
    expect(people.fieldValidation).toContainEqual({
      name: "mood",
      type: "string",
      constraints: { required: true, enum: ["glad", "sad"] },
    });
  });

  test.runIf(engine === "sqlite")("leave out what a broken foreign key refuses", async () => {
    const astray = await endpointOf("astray");
    expect(astray.action).toMatchObject({ read: true, update: true });
    expect(Object.keys(astray.action)).not.toContain("create");
    expect(Object.keys(astray.action)).not.toContain("delete");
    const reason = "astray, where SQLite says: ";
    expect(summary).toMatch(
      new RegExp(`shop/astray\\.json:\\d+ {2}the database refuses INSERT on ${reason}`),
    );
    const updated = await post("astray/update", { id: 1, note: "new", gone_id: 2 });
    expect(updated).toMatchObject({ status: 200, body: { data: { note: "new", gone_id: null } } });
    const refused = await post("astray/update", { id: 1, gone_id: 2 });
    expect(refused).toMatchObject({ status: 400, body: { error: "Invalid payload" } });
    const files = new Map(await readConfigFiles(configDir));
    const action = { ...astray.action, create: true };
    files.set("shop/astray.json", JSON.stringify({ ...astray, action }));
    const { faults } = await checkConfig({ files, env: environment() });
    expect(faults).toMatchObject([
      { file: "shop/astray.json", found: expect.stringContaining(reason) },
    ]);
  });

  test.runIf(engine === "mysql")("take times beyond a day, as such columns hold them", async () => {
    const people = await endpointOf("people");
    expect(people.fieldValidation.map(({ name }: { name: string }) => name)).not.toContain(
      "worked",
    );
    const worked = "100:30:00";
    const created = await post("people/create", { name: "Bo", mood: "sad", worked });
    expect(created).toMatchObject({ status: 201, body: { data: { worked } } });
    const conditions = [{ key: "worked", operator: "=", value: worked }];
    const found = await post("people/read", { where: { conditions } });
    expect(found.body.data).toHaveLength(1);
  });

  test.runIf(engine === "postgres")("leave out what the database fills", async () => {
    const names = (await endpointOf("filled")).fieldValidation;
    expect(names).toContainEqual({ name: "code", type: "string", constraints: { maxLength: 20 } });
  });
});

describe("the summary", () => {
  test("names each guess with the line to change", async () => {
    const [, file, line] =
      /^ {2}(shop\/order\.json):(\d+) {2}order_items holds the lines of order$/m.exec(summary)!;
    const text = await readFile(join(configDir, file!), "utf8");
    expect(text.split("\n")[Number(line) - 1]).toContain('"masterDetail"');
  });

  test("tells doubtful guesses first, each with its reason, and counts the others", () => {
    const [, doubtful = "", others = ""] =
      /\nDoubtful; look at these first.*:\n((?: {2}.*\n)+)\nGuessed from names and types:\n((?: {2}.*\n)+)/.exec(
        summary,
      )!;
    expect(doubtful).toMatch(
      /Sales\.json:\d+ {2}drop-downs show SaleID: the key, because no other/,
    );
    expect(doubtful).toMatch(
      /evenings\.json:\d+ {2}drop-downs show id: the key, because title has the same values again/,
    );
    expect(doubtful).not.toMatch(/cities|countries|Buyers|employees/);
    expect(others).toMatch(/^ {2}\d+ labels of drop-downs: .*Buyers \(CompanyName\)/m);
    expect(others).toMatch(/^ {2}\d+ columns of names in imports: .*cities \(Country by name\)/m);
    expect(others).toMatch(/^ {2}\d+ joins by name for aggregate: .*Sales \(Buyer, Seller\)/m);
  });
});

test.runIf(engine !== "sqlite")("the summary says which views can be written", () => {
  expect(summary).toMatch(
    /^ {2}shop\/paid_orders\.json:\d+ {2}the database can write through this view: .*primaryKey/m,
  );
});

test.runIf(engine !== "postgres")("a view that the database cannot read is left out", () => {
  const unknown = "the database cannot read it (no such function: group_names)";
  const reason = engine === "sqlite" ? unknown : "it has no columns that the database can read";
  expect(summary).toContain(`\n  broken: ${reason}`);
});

test("check has nothing to say about what init wrote", async () => {
  const files = await readConfigFiles(configDir);
  const { faults, unreachable, drift } = await checkConfig({ files, env: environment() });
  expect({ faults, unreachable, drift }).toEqual({
    faults: [],
    unreachable: [],
    // Omitted, and known only by its outline.
    drift: [],
  });
});

test.runIf(engine === "sqlite")(
  "an endpoint over a view that cannot be read is a fault",
  async () => {
    const files = new Map(await readConfigFiles(configDir));
    files.set("shop/broken.json", JSON.stringify({ tableName: "broken", action: { read: true } }));
    const { faults } = await checkConfig({ files, env: environment() });
    expect(faults).toMatchObject([
      {
        file: "shop/broken.json",
        path: "tableName",
        found: "a view that the database itself cannot read (no such function: group_names)",
      },
    ]);
  },
);

describe("the service", () => {
  test.for(expected)("answers for %s", async (name) => {
    const { action } = await endpointOf(name);
    const read = await post(`${name}/read`, { page: 1, per_page: 2 });
    expect(read.status).toBe(200);
    const grid = await post(`${name}/datatables`, { draw: 1, start: 0, length: 2 });
    expect(grid.status).toBe(200);
    if (action.lookup) {
      const lookup = await post(`${name}/lookup`, { limit: 2 }, { "X-Request-Mode": "static" });
      expect(lookup.status).toBe(200);
    }
    const column = (await endpointOf(name)).fieldName[0];
    const value = read.body.data[0]?.[column] ?? null;
    const first = await post(`${name}/first`, { where: { key: column, operator: "=", value } });
    expect(first.status).toBe(200);
    expect(first.body.data).toEqual(read.body.data[0] ?? null);
  });

  test("stores a document that init found", async () => {
    const { status, body } = await post("order/create-composite", {
      order: {
        number: "o-2",
        placed: "2026-02-02",
        order_items: [{ line_number: 1, title: "screws", price: 3 }],
      },
    });
    expect(status, JSON.stringify(body)).toBe(201);
  });

  test("stores an order with lines, and finds it by its buyer", async () => {
    const buyers = await post(
      "Buyers/lookup",
      { search: "futter" },
      { "X-Request-Mode": "static" },
    );
    expect(buyers.body.data).toEqual([{ id: "ALFKI", text: "Alfreds Futterkiste" }]);
    const lines = [
      { WareID: 1, Quantity: 2 },
      { WareID: 2, Quantity: 1 },
    ];
    const made = await post("Sales/create-composite", {
      Sales: { BuyerID: "ALFKI", "Sale Details": lines },
    });
    expect(made.status, JSON.stringify(made.body)).toBe(201);
    const { SaleID } = made.body.data;
    expect(made.body.data["Sale Details"]).toEqual(lines.map((line) => ({ SaleID, ...line })));
    const found = await post("Sales/read", {
      page: 1,
      where: { conditions: [{ key: "BuyerID", operator: "=", value: "ALFKI" }] },
    });
    expect(found.status, JSON.stringify(found.body)).toBe(200);
    expect(found.body.data.map((row: { SaleID: number }) => row.SaleID)).toEqual([SaleID]);
    const labels = await post("Sales/lookup", {}, { "X-Request-Mode": "static" });
    expect(labels.body.data).toEqual([{ id: String(SaleID), text: String(SaleID) }]);
    const without = await post("Sales/create-composite", {
      Sales: { BuyerID: "ALFKI", "Sale Details": [{ Quantity: 1 }] },
    });
    expect({ status: without.status, errors: without.body.errors }).toMatchObject({ status: 400 });
  });

  test("stores records and lines whose keys have several columns", async () => {
    const made = await post("project_2/create-composite", {
      project: { name: "more", project_lines: [{ line_no: 1, text: "first" }] },
    });
    expect(made.status, JSON.stringify(made.body)).toBe(201);
    const key = { student: 1, course: 1 };
    const changed = await post("enrolments/update", { ...key, grade: 3.5 });
    expect(changed.status, JSON.stringify(changed.body)).toBe(200);
    expect(changed.body.data).toEqual({ ...key, grade: 3.5 });
  });

  test("refuses what the rules refuse", async () => {
    const { status, body } = await post("order/create", {
      number: "o-3",
      placed: "2026-02-02",
      status: "lost",
    });
    expect(status).toBe(400);
    expect(Object.keys(body.errors)).toEqual(["status"]);
  });
});

describe("a second run", () => {
  test("keeps what was edited, and says so", async () => {
    const path = join(configDir, "shop", "cities.json");
    const before = await readFile(path, "utf8");
    await writeFile(path, before.replace('"delete": true', '"delete": false'));
    const text = await init();
    expect(text).toContain("0 files written");
    expect(text).toContain("shop/cities.json");
    expect(await readFile(path, "utf8")).toContain('"delete": false');
    const dry = await init("--dry-run");
    expect(dry).toContain('-    "delete": false');
    expect(dry).toContain('+    "delete": true');
    expect(await readFile(path, "utf8")).toContain('"delete": false');
    await init("--force");
    expect(await readFile(path, "utf8")).toBe(before);
  });

  test("takes only the tables that are named", async () => {
    const dry = await init("--tables", "c*,order", "--dry-run", "--project", "some");
    const names = [...dry.matchAll(/^\+\+\+ some\/(\w+)\.json/gm)].map(([, name]) => name);
    expect(names.toSorted()).toEqual(["cities", "countries", "order", "project"]);
  });

  test.runIf(engine === "postgres")("takes another schema when it is named", async () => {
    const dry = await init("--schema", "archive", "--dry-run", "--project", "other");
    expect([...dry.matchAll(/^\+\+\+ other\/(\w+)\.json/gm)].map(([, name]) => name)).toEqual([
      "project",
      "parcels",
    ]);
    expect(dry).toContain('"tableName": "archive.parcels"');
  });
});

describe("a run that cannot be", () => {
  test.for([
    ["an unknown option", ["--tabels", "x"], /Unknown option '--tabels'/],
    ["no table of that name", ["--tables", "nothing"], /no table or view matches nothing/],
    ["a project that no URL can hold", ["--project", "a b"], /--project must consist of/],
    [
      "a schema that is not there, beside one that is",
      ["--schema", engine === "postgres" ? "archive" : "x", "--schema", "archiv", "--dry-run"],
      engine === "sqlite"
        ? /the database has no schemas to choose from; leave out --schema/
        : /the schema \w+ has no table or view; there are .*/,
    ],
  ] as const)("says so: %s", async ([, args, message]) => {
    await expect(init(...args)).rejects.toThrow(message);
  });

  test("names the way out when the database is not there", async () => {
    const run = runInit({
      args: [
        "--database",
        engine === "sqlite" ? "sqlite:/nowhere/at-all.db" : `${database.url}_not`,
      ],
      env: { CONFIG_DIR: configDir },
      out: () => undefined,
    });
    await expect(run).rejects.toThrow(/; correct .* the address, or create /);
  });
});

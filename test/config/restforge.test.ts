/**
 * Endpoint files in RESTForge's format load unchanged against a real database. Features that cannot be converted are
 * tested in `faults.test.ts`, each spelling in `spellings.test.ts`.
 */
import Database from "better-sqlite3";
import { afterAll, beforeAll, expect, test } from "vitest";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { checkConfig } from "../../app/start/commands/check-config.ts";
import { readConfigFiles } from "../../app/start/settings/config-files.ts";
import { runInit } from "../../app/start/commands/init.ts";
import { compileProject } from "../../core/config/compile-project.ts";
import { formatFaults } from "../../core/config/reading/faults.ts";
import { readConfig } from "../../core/config/reading/read-config.ts";
import { openDb } from "../../db/open.ts";
import { filesOf } from "./shop.ts";

const audit =
  "created_at timestamp, created_by varchar(40), updated_at timestamp, updated_by varchar(40)";
const tables = `
  create table nursery (nursery_id varchar(36) primary key, code varchar(20) unique, name varchar(80),
    mail varchar(80), open_now boolean, credit decimal(12,2), ${audit});
  create table plant (plant_id varchar(36) primary key, label varchar(20), nursery_id varchar(36) references nursery,
    height integer, sold_price decimal(12,2), on_sale boolean);
  create table delivery (delivery_id varchar(36) primary key, number varchar(30), due date, status varchar(20),
    lines integer, pieces decimal(12,2), worth decimal(12,2), ${audit});
  create table delivery_line (delivery_line_id varchar(36) primary key, delivery_id varchar(36), line_number integer,
    plant_id varchar(36), pieces decimal(12,2), price decimal(12,2),
    worth decimal(12,2) generated always as (pieces * price) stored);`;

const key = { primaryKey: true, autoGenerate: true };
const crud = {
  datatables: true,
  create: true,
  update: true,
  delete: true,
  first: true,
  read: true,
};

const nursery = {
  tableName: "nursery",
  primaryKey: "nursery_id",
  fieldName: ["nursery_id", "code", "name", "mail", "open_now", "credit"],
  uniqueConstraints: [{ name: "nursery_code", fields: ["code"] }],
  fieldValidation: [
    { name: "nursery_id", type: "uuid", constraints: key },
    {
      name: "code",
      type: "string",
      constraints: {
        required: true,
        unique: true,
        uppercase: true,
        trim: true,
        pattern: "^[A-Z]{2}\\d+$",
        patternMessage: "Two letters and digits",
      },
    },
    { name: "mail", type: "string", constraints: { format: "email", formatMessage: "No mail" } },
    { name: "credit", type: "decimal", constraints: { min: 0, precision: 12, scale: 2 } },
    { name: "open_now", type: "boolean", constraints: { default: true } },
  ],
  fieldNameLookup: { id: "nursery_id", text: "code||' - '||name as display_text" },
  defaultScope: { lookup: { open_now: true }, read: { open_now: true } },
  action: { ...crud, lookup: true, import: true, export: true },
  columnFormats: { open_now: { type: "boolean" } },
  importConfig: {
    enabled: true,
    upsertKeys: ["code"],
    upsertStrategy: "update_existing",
    requiredFields: ["code", "name"],
    maxFileSize: "10MB",
    allowedFormats: ["xlsx"],
    chunkSize: 100,
  },
};

const plant = {
  tableName: "plant",
  primaryKey: "plant_id",
  // Only the queries have the last column.
  fieldName: ["plant_id", "label", "nursery_id", "height", "sold_price", "nursery_name"],
  viewQuery: "file:query/plant.sql",
  datatablesQuery: "file:query/plant.sql",
  datatablesWhere: ["label", "nursery_name", "all"],
  exportQuery: "file:query/plant.sql",
  columnFormats: { sold_price: { type: "number", format: "#,##0.00" } },
  fieldValidation: [
    { name: "plant_id", type: "string", constraints: key },
    { name: "height", type: "integer", constraints: { min: 0 } },
    { name: "sold_price", type: "decimal", constraints: { min: 0, precision: 2 } },
  ],
  action: { ...crud, adjust: true, aggregate: true, export: true },
  adjustConfig: {
    fields: { height: { type: "number", min: 0, allowNegativeResult: false } },
    reasonRequired: true,
  },
  aggregateConfig: {
    joins: {
      nursery: {
        tableName: "nursery",
        joinType: "LEFT",
        sourceField: "nursery_id",
        targetField: "nursery_id",
        fields: ["name"],
      },
    },
  },
  auditColumns: null,
};

const delivery = {
  tableName: "delivery",
  primaryKey: "delivery_id",
  fieldName: ["delivery_id", "number", "due", "lines", "pieces", "worth", "status", "created_at"],
  dateTimeFields: { due: { type: "date", format: "dd/MM/yyyy" } },
  fieldValidation: [
    { name: "delivery_id", type: "uuid", constraints: key },
    { name: "due", type: "date", constraints: { required: true, format: "dd/MM/yyyy" } },
    { name: "status", type: "string", constraints: { enum: ["open", "sent"], default: "open" } },
  ],
  action: {
    ...crud,
    createComposite: true,
    updateComposite: true,
    readComposite: true,
    workflow: true,
  },
  masterDetail: {
    enabled: true,
    detailTable: "delivery_line",
    foreignKey: "delivery_id",
    cascadeDelete: true,
    transactionMode: "required",
    detailConfig: {
      tableName: "delivery_line",
      primaryKey: "delivery_line_id",
      fieldName: ["delivery_line_id", "delivery_id", "line_number", "plant_id", "pieces", "price"],
      detailQuery: "file:query/lines.sql",
      requiredFields: ["plant_id", "pieces"],
      autoCalculateFields: { worth: { type: "generated", formula: "pieces * price" } },
    },
    headerCalculations: {
      lines: { type: "count", source: "items.length" },
      pieces: { type: "sum", source: "items.pieces" },
      worth: { type: "sum", source: "items.worth", description: "What it costs" },
    },
  },
  workflow: {
    statusField: "status",
    transitions: { open: ["sent"], sent: [] },
    hooks: {
      sent: {
        onBefore: [],
        onAfter: [
          {
            type: "api",
            method: "POST",
            url: "/depot/book",
            body: { id: "{{id}}", number: "{{record.number}}", was: "{{oldStatus}}" },
            blocking: true,
            timeout: 10000,
          },
        ],
      },
    },
  },
};

const files = {
  "nursery.json": nursery,
  "plant.json": plant,
  "delivery.json": delivery,
  "query/plant.sql":
    "select p.*, n.name as nursery_name from plant p left join nursery n on n.nursery_id = p.nursery_id",
  "query/lines.sql": "select * from delivery_line where delivery_id = $1",
};

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "rowgate-test-restforge-"));
  new Database(join(folder, "garden.db")).exec(tables).close();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("files of master data, of records with queries, and of documents with a workflow load as they are", async () => {
  const url = `sqlite:${join(folder, "garden.db")}`;
  const { projects, faults } = readConfig(
    filesOf({ ...files, "project.json": { database: { url } } }),
    {},
  );
  const db = await openDb(url, { connectionsMax: 1, statementTimeoutMs: 0, decimals: "number" });
  const compiled = await compileProject(projects[0]!, db.catalog);
  await db.close();
  expect(formatFaults([...faults, ...compiled.faults])).toMatch(/^0 faults/);
  const { nursery: first, plant: second, delivery: third } = Object.fromEntries(compiled.entities);
  expect([...first!.lookup!.columns.keys()]).toContain("code");
  expect([...second!.read!.columns.keys()]).toContain("nursery_name");
  expect([...second!.write!.writable.keys()]).not.toContain("nursery_name");
  const [details] = third!.composite!.details;
  expect(details!.totals.map(({ column, function: name }) => [column.name, name])).toEqual([
    ["lines", "count"],
    ["pieces", "sum"],
    ["worth", "sum"],
  ]);
  expect(third!.workflow!.hooks.get("sent")!.onAfter).toMatchObject([
    { label: "onAfter:hook1", url: ["/api/shop/depot/book"], isBlocking: true, timeoutMs: 10_000 },
  ]);
});

/** Runs `rowgate init --from-restforge` on a folder with these files; returns the summary and the output folder. */
async function taken(
  name: string,
  payload: Readonly<Record<string, object | string>>,
): Promise<{ summary: string; configDir: string }> {
  const project = join(folder, name);
  const configDir = join(folder, `${name}-configs`);
  for (const [path, content] of Object.entries(payload)) {
    const target = join(project, "payload", path);
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, typeof content === "string" ? content : JSON.stringify(content, null, 4));
  }
  let summary = "";
  await runInit({
    args: `--database sqlite:${join(folder, "garden.db")} --project garden --from-restforge ${project}`.split(
      " ",
    ),
    env: { CONFIG_DIR: configDir },
    out: (text) => (summary += text),
  });
  return { summary, configDir };
}

test("init --from-restforge takes files and queries along, and what it wrote is valid", async () => {
  const { summary, configDir } = await taken("whole", files);
  const written = await readConfigFiles(configDir);
  expect([...written.keys()].toSorted()).toEqual(
    [...Object.keys(files), "project.json"].map((path) => `garden/${path}`).toSorted(),
  );
  expect(JSON.parse(written.get("garden/delivery.json")!)).toEqual(delivery);
  expect(summary).toContain("6 files written");
  expect(summary).not.toContain("To be changed");
  const { faults, endpoints } = await checkConfig({ files: written, env: {} });
  expect(formatFaults(faults)).toMatch(/^0 faults/);
  expect(endpoints).toBe(3);
});

test("init --from-restforge says by file and property what is to be changed, and what is left out", async () => {
  const { summary, configDir } = await taken("faulty", {
    "plant.json": { ...plant, fieldName: ["plant_id", "lable"], kafka: { topic: "plants" } },
    "stock-check.json": { processor: [{ name: "check", method: "POST" }] },
    "sold.json": { widgets: [{ id: "sold", query: "file:query/sold.sql" }] },
    "query/plant.sql": files["query/plant.sql"],
    "nursery.json": "{ nothing",
  });
  expect(summary).toContain("4 files written to");
  expect(summary).toMatch(/^ {2}sold\.json: widgets: there is no dashboards? /m);
  expect(summary).toMatch(/^ {2}stock-check\.json: processor: there is no processor setting /m);
  expect(summary).toMatch(/^ {2}garden\/plant\.json:\d+ {2}kafka: .*onAfter/m);
  expect(summary).toMatch(/^ {2}garden\/plant\.json:\d+ {2}fieldName\[1\]: .*"label"/m);
  expect(summary).toMatch(/^ {2}garden\/nursery\.json:1 {2}\$: /m);
  expect(summary).toContain("Next: rowgate check, until it finds no fault");
  expect(readFileSync(join(configDir, "garden/nursery.json"), "utf8")).toBe("{ nothing");
});

test("init --from-restforge refuses a folder without payload files", async () => {
  await expect(taken("empty", {})).rejects.toThrow("empty holds no payload/*.json");
});

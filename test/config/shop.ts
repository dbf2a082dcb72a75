/** A sample shop for the configuration tests: its tables as a catalog reports them, and functions that load files. */
import { textIndexOf } from "../../core/values/types/text-index.ts";
import { compileProject, type CompiledProject } from "../../core/config/compile-project.ts";
import { faultMessage, sortFaults, type Fault } from "../../core/config/reading/faults.ts";
import {
  readConfig,
  type ConfigFiles,
  type ProjectConfig,
} from "../../core/config/reading/read-config.ts";
import { readDocument } from "../../core/config/reading/document.ts";
import { normaliseEndpoint } from "../../core/config/reading/compat.ts";
import type { Column, Table } from "../../core/values/types/column.ts";
import type { Catalog } from "../../core/plans/database-catalog.ts";
import { column, columnsOf } from "../values/column.ts";

const text = (name: string, given: Partial<Column> = {}): Column =>
  column("text", { name, ...given });

function table(name: string, columns: readonly Column[], given: Partial<Table> = {}): Table {
  return {
    kind: "table",
    schema: null,
    name,
    columns: columnsOf(...columns),
    primaryKey: [columns[0]!.name],
    unique: [{ name: `${name}_pkey`, columns: [columns[0]!.name] }],
    foreignKeys: [],
    transactional: true,
    identity: `public.${name}`,
    changesWith: [],
    ...given,
  };
}

const audit: readonly Column[] = [
  column("timestamp", { name: "created_at" }),
  text("created_by"),
  column("timestamp", { name: "updated_at" }),
  text("updated_by"),
];

const products: readonly Column[] = [
  column("uuid", { name: "product_id", nullable: false }),
  text("sku", { nullable: false }),
  text("name"),
  column("decimal", { name: "price", precision: 12, scale: 2 }),
  column("decimal", { name: "weight" }),
  column("integer", { name: "stock" }),
  column("boolean", { name: "is_active" }),
  column("timestamp", { name: "deleted_at" }),
  column("decimal", { name: "margin", generated: "computed" }),
  text("secret"),
  ...audit,
];

export const tables: readonly Table[] = [
  table("products", products, {
    unique: [
      { name: "products_pkey", columns: ["product_id"] },
      { name: "products_sku", columns: ["sku"] },
    ],
  }),
  table("product_view", [...products.slice(0, 4), text("category_name")], {
    kind: "view",
    primaryKey: [],
    unique: [],
    refusals: (["insert", "update", "delete"] as const).map((statement) => ({
      statement,
      columns: null,
      reason: "a view that takes none",
    })),
  }),
  table("receipts", [
    column("uuid", { name: "receipt_id" }),
    text("status"),
    column("decimal", { name: "total" }),
  ]),
  table("receipt_lines", [
    column("uuid", { name: "line_id" }),
    column("uuid", { name: "receipt_id" }),
    column("decimal", { name: "qty" }),
    column("decimal", { name: "amount" }),
    text("note"),
    column("decimal", { name: "largest" }),
  ]),
  table("packages", [
    column("uuid", { name: "package_id" }),
    column("uuid", { name: "product_id" }),
    column("boolean", { name: "is_active" }),
    column("timestamp", { name: "deleted_at" }),
  ]),
  table(
    "members",
    [column("integer", { name: "group_id" }), column("integer", { name: "user_id" }), text("role")],
    {
      primaryKey: ["group_id", "user_id"],
      unique: [{ name: "members_pkey", columns: ["group_id", "user_id"] }],
    },
  ),
  table("journal", [text("entry"), text("note")], { transactional: false }),
  table(
    "coupons",
    [text("alias"), text("code", { nullable: false }), text("note", { nullable: false })],
    {
      primaryKey: [],
      unique: [
        { name: "coupons_alias", columns: ["alias"] },
        { name: "coupons_code", columns: ["code"] },
        { name: "coupons_both", columns: ["note", "code"] },
      ],
    },
  ),
  // As an engine with loosely typed storage reports it.
  table("loose", [
    column("integer", { name: "id" }),
    text("amount", { native: "TEXT", ruleTypes: ["decimal"] }),
    column("integer", { name: "flag", ruleTypes: ["boolean"], range: { min: -128n, max: 127n } }),
    text("day", { native: "TEXT", ruleTypes: ["decimal"] }),
    column("integer", { name: "created_by" }),
    text("updated_at", { lengthMax: 23 }),
  ]),
];

/** Queries return the columns of products, unless their text contains `refused`, `twice` or `names`. */
export const catalog: Catalog = {
  table: async (name) =>
    tables.find((one) => name === one.name || name === `public.${one.name}`) ?? null,
  referencesTo: async () => [],
  names: async () => tables.map(({ name }) => name),
  together: () => catalog,
  schemas: async () => [],
  outline: async () => [],
  // A formula that names `largest` is too long for this database.
  textIndex: async (_table, { columns }) => ({ index: textIndexOf(columns, {}) }),
  computes: ({ formula }) => !formula.names.includes("largest"),
  answersStoredRows: true,
  // As a database without procedures.
  routines: async () => null,
  parameterQuery: (texts) => catalog.query(texts.join("null")),
  async query(sql) {
    if (sql.includes("refused")) throw new Error('relation "refused" does not exist');
    if (sql.includes("names")) return products.slice(1, 3);
    return sql.includes("twice") ? [text("name"), text("name")] : products;
  },
};

export const projectFile = { database: { url: "sqlite::memory:" } };

/** The files of the project `shop`, from values or texts. */
export function filesOf(files: Record<string, unknown>): ConfigFiles {
  const print = (value: unknown): string =>
    typeof value === "string" ? value : JSON.stringify(value, null, 2);
  return new Map(
    Object.entries({ "project.json": projectFile, ...files }).map(([name, value]) => [
      `shop/${name}`,
      print(value),
    ]),
  );
}

/** Reads and compiles the files: every fault of both steps. */
export async function load(
  files: ConfigFiles,
  env: Record<string, string> = {},
): Promise<CompiledProject & { projects: ProjectConfig[] }> {
  const { projects, faults } = readConfig(files, env);
  const compiled = await Promise.all(projects.map((project) => compileProject(project, catalog)));
  return {
    projects,
    entities: new Map(compiled.flatMap(({ entities }) => [...entities])),
    faulty: new Map(compiled.flatMap(({ faulty }) => [...faulty])),
    faults: sortFaults([...faults, ...compiled.flatMap((one) => one.faults)]),
    notices: compiled.flatMap(({ notices }) => notices),
    risks: compiled.flatMap(({ risks }) => risks),
    remarks: compiled.flatMap(({ remarks }) => remarks),
  };
}

/** One endpoint without faults, compiled. */
export async function entityOf(payload: unknown, files: Record<string, unknown> = {}) {
  const { entities, faults, notices } = await load(filesOf({ "items.json": payload, ...files }));
  if (faults.length > 0) throw new Error(faults.map(sentenceOf).join("\n"));
  return { entity: entities.get("items")!, notices };
}

/** The payload after its second spellings were normalised. */
export function normalised(payload: unknown): { value: unknown; faults: Fault[] } {
  const { document } = readDocument("shop/items.json", JSON.stringify(payload));
  return normaliseEndpoint(document!);
}

export const sentenceOf = (fault: Fault): string =>
  `${fault.file} ${fault.path}: ${faultMessage(fault)}`;

/**
 * Workbooks of other programs (`test/workbook/samples`), from the upload to the records: the records are the same for
 * every program and database.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { importerOf } from "./imports.ts";
import { openJobFixture } from "./job-places.ts";
import { openForTests } from "./harness.ts";

const fields = "name born seen_at opens price code stock active double note".split(" ");
const records = [
  {
    name: "Ann",
    born: "1999-12-31",
    seen_at: "2024-02-29T12:34:56.000Z",
    opens: "08:30:00",
    price: "19.99",
    code: "007",
    stock: 5,
    active: true,
    double: 10,
    note: "plain",
  },
  {
    name: "Bob & <Co>",
    born: "1900-03-01",
    seen_at: "2038-01-19T03:14:08.000Z",
    opens: "23:59:59",
    price: "0.1",
    code: "00",
    stock: -3,
    active: false,
    double: -6,
    note: "two\nlines",
  },
  {
    name: "Zoë 😀",
    born: "9999-12-31",
    seen_at: "1970-01-01T00:00:00.000Z",
    opens: "00:00:01",
    price: "123456789.012345",
    code: "1e5",
    stock: 0,
    active: true,
    double: 0,
    note: "a bold end ",
  },
];

const endpoint = {
  tableName: "things",
  action: { import: true, read: true },
  fieldName: ["id", ...fields],
};

const shop = openForTests(openJobFixture, "in the service", {
  tables: [
    {
      name: "things",
      columns: {
        id: "identity",
        name: "text(40)",
        born: "date",
        seen_at: "timestamp",
        opens: "time",
        price: "decimal(20,6)",
        code: "text(10)",
        stock: "integer",
        active: "boolean",
        double: "integer",
        note: "text(100)",
      },
    },
  ],
  endpoints: {
    things: endpoint,
    plain: { ...endpoint, fieldName: endpoint.fieldName.filter((name) => name !== "double") },
  },
  project: { decimals: "string" },
});
const imports = importerOf(shop);
beforeEach(async () => void (await shop.sql("delete from things")));

const sample = async (name: string) =>
  new Uint8Array(await readFile(join(import.meta.dirname, "../workbook/samples", name)));

async function stored(): Promise<unknown[]> {
  const { body } = await shop.post("things/read", { select: fields, limit: 10 });
  return body.data.toSorted((one: { name: string }, other: { name: string }) =>
    one.name < other.name ? -1 : 1,
  );
}

describe.each(["xlsxwriter.xlsx", "libreoffice.xlsx", "exceljs.xlsx"])("%s", (name) => {
  test("is shown with its rows, and without its hidden sheet and its empty rows", async () => {
    const { body } = await imports.sendFile("things", await sample(name));
    expect(body).toMatchObject({ success: true, total_rows: 3, ignored_columns: ["broken"] });
    expect(body.preview[0]).toMatchObject({ name: "Ann", code: "007", price: 19.99 });
  });

  test("is imported to the records that it shows", async () => {
    const { body } = await imports.committed("things", await sample(name));
    expect(body.result).toEqual({ inserted: 3, updated: 0, skipped: 0, failed: 0 });
    expect(await stored()).toEqual(records);
  });
});

describe("openpyxl.xlsx, whose formulas nobody has computed yet,", () => {
  test("is imported to the same records, where nobody wants the formulas", async () => {
    const { body } = await imports.committed("plain", await sample("openpyxl.xlsx"));
    expect(body.result).toEqual({ inserted: 3, updated: 0, skipped: 0, failed: 0 });
    expect(await stored()).toEqual(records.map((record) => ({ ...record, double: null })));
  });

  test("is refused with its rows where they are wanted", async () => {
    const { body } = await imports.previewed("things", await sample("openpyxl.xlsx"));
    expect(body).toMatchObject({ status: "preview_error", success: true });
    expect(body.errors.map(({ rowIndex }: { rowIndex: number }) => rowIndex)).toEqual([2, 3, 5]);
    expect(body.errors[0].messages).toEqual([expect.stringContaining("formula without a result")]);
    expect(await shop.sql("select id from things")).toEqual([]);
  });
});

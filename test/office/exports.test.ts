/**
 * Exports opened in LibreOffice, compared with `read` on each engine: every cell of 5,000 rows, with all column types,
 * formats, and texts that look like other types.
 */
import { beforeAll, describe, expect, test, vi } from "vitest";
import { createTable } from "../../jobs/workbook/create-table.ts";
import type { FixtureColumn, FixtureType } from "../contract/tables.ts";
import { openPlace } from "../jobs/places.ts";
import type { EngineName } from "../servers/session.ts";
import { type OpenedCell, openInLibreOffice } from "./opened.ts";
import { openForTests } from "../contract/harness.ts";

/** Each is made this often, so that there are 5,000. */
const distinct = 500;
const copies = 10;

const columns = {
  id: "identity",
  code: "text(20)",
  note: "longtext",
  small: "smallint",
  qty: "integer",
  many: "unsigned",
  big: "bigint",
  price: "decimal(18,4)",
  exact: "decimal(30,10)",
  size: "float",
  active: "boolean",
  born: "date",
  seen_at: "timestamp",
  opens: "time",
  ref: "uuid",
  extra: "json",
  raw: "bytes",
  due: "date",
  amount: "decimal(12,2)",
  agreed: "boolean",
} as const satisfies Record<string, FixtureType | FixtureColumn>;
type Name = keyof typeof columns;

const hostile = [
  "=1+1",
  '=HYPERLINK("http://localhost","x")',
  "+1",
  "-1",
  "@SUM(A1)",
  "=cmd|' /C calc'!A0",
  "'quoted",
  "007",
  "1e5",
  "12345678901234567890",
  "2024-02-29",
  "TRUE",
  "#DIV/0!",
  "  two  blanks  ",
  "a\nb\r\nc\rd",
  // Beside line ends LibreOffice keeps tabs too, but does not write them into that XML.
  "\ta\tb\t",
  "\nlines around\n",
  "a\u0001b\u001fc",
  "_x0041_ _x000D_",
  `<a href="x">&amp;</a>]]>`,
  "Zoë 😀 \u00a0\u2028\ufeff.",
  "x".repeat(32_767),
  "",
];

const pad = (number: number, length: number): string => String(number).padStart(length, "0");
/** Differs in all columns from row to row, and has a null now and then. */
function bodyOf(at: number, engine: EngineName): Record<string, unknown> {
  const day = new Date(Date.UTC(1899, 0, 1) + at * 86_400_000 * 150).toISOString().slice(0, 10);
  const time = `${pad(at % 24, 2)}:${pad((at * 7) % 60, 2)}:${pad((at * 13) % 60, 2)}`;
  const body: Record<string, unknown> = {
    code: pad(at, 5),
    note: hostile[at % hostile.length],
    small: (at % 2 === 0 ? 1 : -1) * at,
    qty: at * 4_000_000,
    many: 4_294_967_295 - at,
    big: at % 2 === 0 ? `90071992547409${pad(at % 100, 2)}` : `-922337203685477${pad(at, 4)}`,
    price: `${at * 1_000}.${pad((at * 37) % 10_000, 4)}`,
    // More than a double holds, where the database can keep it.
    exact: engine === "sqlite" ? `12345.${pad(at, 10)}` : `12345678901234.${pad(at, 10)}`,
    size: at / 7,
    active: at % 2 === 0,
    born: day,
    seen_at: `${2000 + (at % 38)}-02-28T${time}.${pad(at, 3)}Z`,
    opens: time,
    ref: `0b3c1f4e-6a3d-4b5e-9f10-${pad(at, 12)}`,
    extra: { at, formula: "=1+1", list: [1, null, "x"] },
    raw: Buffer.from(`bytes ${at}`).toString("base64"),
    due: `20${pad(10 + (at % 90), 2)}-${pad(1 + (at % 12), 2)}-${pad(1 + (at % 28), 2)}`,
    amount: `${at * 1_234}.${pad(at % 100, 2)}`,
    agreed: at % 3 === 0,
  };
  const names = Object.keys(body).slice(1);
  if (at % 4 === 0) body[names[at % names.length]!] = null;
  return body;
}

type Row = Readonly<Record<Name, unknown>>;

/** What the cell of a value must be. Numbers and instants are as near as LibreOffice writes them. */
function expectCell(cell: OpenedCell | null, value: unknown, name: Name): void {
  const { type, value: found, shown } = cell ?? { type: null, value: "", shown: "" };
  if (value === null || value === "") return expect(cell).toBeNull();
  const text = typeof value === "object" ? JSON.stringify(value) : String(value);
  if (name === "agreed") return expect([type, found]).toEqual(["string", value ? "yes" : "no"]);
  if (typeof value === "boolean")
    return expect([type, found, shown]).toEqual(["float", value ? "1" : "0", text.toUpperCase()]);
  expect(cell?.formula).toBeNull();
  if (typeof value === "number" && Math.abs(value) < 1e15) {
    expect(type).toBe("float");
    expect(Math.abs(Number(found) - value)).toBeLessThanOrEqual(Math.abs(value) * 1e-14);
    if (name === "amount")
      expect(shown).toBe(value.toLocaleString("en-US", { minimumFractionDigits: 2 }));
    return;
  }
  if ((name === "born" || name === "due") && text >= "1900-03-01") {
    const [year, month, day] = text.split("-");
    const pattern = name === "due" ? `${day}/${month}/${year}` : text;
    return expect([type, found, shown]).toEqual(["date", text, pattern]);
  }
  if (name === "seen_at") {
    expect(type).toBe("date");
    const ms = Date.parse(found.includes("T") ? `${found}Z` : found);
    return expect(Math.abs(ms - Date.parse(text))).toBeLessThanOrEqual(10);
  }
  expect([type, found]).toEqual(["string", asXml(text)]);
}

/** The text in LibreOffice's XML: every line end is a line feed, and control characters are missing. */
const asXml = (text: string): string =>
  // oxlint-disable-next-line no-control-regex -- they are what is looked for
  text.replace(/\r\n?/g, "\n").replace(/[\0-\x08\x0b\x0c\x0e-\x1f]/g, "");

describe.each(["sqlite", "postgres", "mysql"] as const)("an export of %s", (engine) => {
  const shop = openForTests(openPlace, {
    engine,
    where: "in the service",
    tables: [{ name: "things", columns }],
    endpoints: {
      things: {
        tableName: "things",
        action: { create: true, read: true, export: true },
        fieldName: Object.keys(columns),
        fieldLabels: { due: "Due on", amount: "Amount & tax" },
        columnFormats: {
          due: { type: "date", format: "DD/MM/YYYY" },
          amount: { type: "number", format: "#,##0.00" },
          agreed: { type: "boolean", trueLabel: "yes", falseLabel: "no" },
        },
      },
    },
  });
  beforeAll(async () => {
    for (let at = 0; at < distinct; at++) {
      const { status, body } = await shop.post("things/create", bodyOf(at, engine));
      expect([status, body.errors]).toEqual([201, undefined]);
    }
    const names = Object.keys(columns).slice(1).join(", ");
    await shop.sql(
      `insert into things (${names}) select ${names} from things, (${Array.from({ length: copies - 1 }, (_, at) => `select ${at} as copy`).join(" union all ")}) copies`,
    );
  }, 120_000);

  test("opens with every cell as read shows it", async () => {
    const sort_columns = [{ column: "id", direction: "asc" }];
    const started = await shop.post("things/export", { sort_columns });
    const jobId: string = started.body.job_id;
    const isCompleted = async () =>
      (await shop.request(`/api/test/things/export-status?job_id=${jobId}`)).body.status ===
      "completed";
    await vi.waitUntil(isCompleted, { timeout: 60_000, interval: 50 });
    const path = `/api/test/things/export-download?job_id=${jobId}`;
    const bytes = await (await shop.fetch(path)).arrayBuffer();
    const sheets = await openInLibreOffice(new Uint8Array(bytes));
    const { body } = await shop.post("things/read", { limit: 5_000, sort_columns });
    const records = body.data as readonly Row[];
    expect(records).toHaveLength(distinct * copies);

    expect(sheets.map(({ name }) => name)).toEqual(["things"]);
    const [headings, ...rows] = sheets[0]!.rows;
    const names = Object.keys(columns) as Name[];
    const labels: Partial<Record<Name, string>> = { due: "Due on", amount: "Amount & tax" };
    expect(headings!.map((cell) => cell?.value)).toEqual(names.map((name) => labels[name] ?? name));
    expect(rows).toHaveLength(records.length);
    for (const [at, row] of rows.entries())
      for (const [place, name] of names.entries())
        expectCell(row[place] ?? null, records[at]![name], name);
  });
});

test("a table that goes on in further sheets opens with all of them", async () => {
  const writer = createTable("xlsx", {
    sheetName: "Rows [all]",
    columns: [{ heading: "number" }, { heading: "text" }],
    rowsPerSheetMax: 1_000,
  });
  const rows = Array.from({ length: 2_500 }, (_, at) => [at, `=A${at}`]);
  const pieces: Uint8Array[] = [];
  for await (const piece of writer.write([rows])) pieces.push(piece);
  const sheets = await openInLibreOffice(Buffer.concat(pieces));
  expect(sheets.map((sheet) => sheet.rows.length)).toEqual([1_001, 1_001, 501]);
  expect(new Set(sheets.map(({ name }) => name)).size).toBe(3);
  const cells = sheets.flatMap((sheet) => sheet.rows.slice(1));
  expect(cells.map((row) => row.map((cell) => cell?.value))).toEqual(
    rows.map(([number, text]) => [String(number), text]),
  );
  expect(cells.flat().filter((cell) => cell?.formula)).toEqual([]);
});

/** What the table writers write, read back by our reader and by exceljs. */
import ExcelJS from "exceljs";
import { describe, expect, test } from "vitest";
import type { Json } from "../../core/values/json.ts";
import { createTable } from "../../jobs/workbook/create-table.ts";
import type { TableFormat } from "../../core/plans/table-formats.ts";
import { parseDatePattern } from "../../jobs/workbook/date-pattern.ts";
import { sheetNameAt } from "../../jobs/workbook/sheet-name.ts";
import type { Batch, ColumnFormat } from "../../jobs/workbook/table-column.ts";
import { bytesOf, fileOf, roundTrip, rowsOf } from "./files.ts";

async function withExceljs(bytes: Uint8Array): Promise<ExcelJS.Workbook> {
  const workbook = new ExcelJS.Workbook();
  await workbook.xlsx.readFile(await fileOf(bytes));
  return workbook;
}

describe("a value is read back as it was written", () => {
  const flag = { type: "boolean", trueLabel: "yes", falseLabel: "no" } as const;
  const long = "x".repeat(32_767);
  test.each<[string, Json]>([
    ["a text", "Zoë 😀"],
    ["markup", `<a href="x">&amp;</a>`],
    ["a formula", "=1+1"],
    ["a command", `=cmd|' /C calc'!A0`],
    ["a plus, a minus, an at", "+1-2@x"],
    ["leading zeros", "007"],
    ["digits of a text column", "12345678901234567890"],
    ["blanks around", "  x  "],
    ["line ends of all kinds", "a\nb\r\nc\rd\te"],
    ["control characters", "a\u0000b\u0001c\u001fd"],
    ["what XML forbids", "a\ufffeb\uffffc"],
    ["what looks like an escape", "_x0041_ _x005F_ _x000D_x000D_ _xZZZZ_"],
    ["the longest text", long],
    ["true", true],
    ["false", false],
    ["zero", 0],
    ["a negative fraction", -0.000_001_5],
    ["a double with all its digits", 0.1 + 0.2],
    ["a large double", 1.5e300],
    ["the largest whole number that Excel keeps", 999_999_999_999_999],
    ["nothing", null],
  ])("%s", async (_, value) => {
    expect(await roundTrip(value)).toEqual(value);
  });

  test.each<[string, ColumnFormat, Json, Json]>([
    ["a date", { type: "date" }, "2024-02-29", "2024-02-29"],
    ["the first day that programs agree on", { type: "date" }, "1900-03-01", "1900-03-01"],
    ["the day before it, as a text", { type: "date" }, "1900-02-28", "1900-02-28"],
    ["the last day", { type: "date" }, "9999-12-31", "9999-12-31"],
    ["a day that is none, as a text", { type: "date" }, "2023-02-29", "2023-02-29"],
    ["a timestamp in a column of days", { type: "date" }, "2024-02-29T23:59:59.999Z", "2024-02-29"],
    ["an instant", { type: "datetime" }, "2024-02-29T23:59:59.999Z", "2024-02-29T23:59:59.999Z"],
    [
      "an instant of another zone",
      { type: "datetime" },
      "2024-03-01T01:00:00+02:00",
      "2024-02-29T23:00:00.000Z",
    ],
    ["a midnight", { type: "datetime" }, "2024-02-29", "2024-02-29T00:00:00.000Z"],
    ["a time of day", { type: "datetime", pattern: "HH:mm" }, "08:30:15", "08:30:15"],
    ["a word in a column of dates", { type: "date" }, "soon", "soon"],
    ["a decimal", { type: "number", pattern: "#,##0.00" }, "1234567.89", 1_234_567.89],
    ["a decimal of 15 digits", { type: "number" }, "0.123456789012345", 0.123456789012345],
    [
      "a longer decimal, as a text",
      { type: "number" },
      "12345678901234.5678",
      "12345678901234.5678",
    ],
    [
      "a long whole number, as a text",
      { type: "number" },
      "-1234567890123456",
      "-1234567890123456",
    ],
    ["an unsafe number, as a text", { type: "number" }, 2 ** 60, "1152921504606847000"],
    ["a number too small for Excel, as a text", { type: "number" }, 5e-324, "5e-324"],
    ["leading zeros among numbers, as a text", { type: "number" }, "007", "007"],
    ["a word in a column of numbers", { type: "number" }, "n/a", "n/a"],
    ...([true, 1, "1", "true"] as const).map((value): [string, ColumnFormat, Json, Json] => [
      `a true that is ${JSON.stringify(value)}`,
      flag,
      value,
      "yes",
    ]),
    ...([false, 0, "0", "false"] as const).map((value): [string, ColumnFormat, Json, Json] => [
      `a false that is ${JSON.stringify(value)}`,
      flag,
      value,
      "no",
    ]),
    ["another number in a column of booleans", flag, 2, 2],
    ["another word in a column of booleans", flag, "maybe", "maybe"],
    ["an empty text in a column of booleans", flag, "", ""],
    ["a one without a label", { type: "boolean" }, 1, 1],
    ["a true without a label", { type: "boolean", falseLabel: "no" }, true, true],
    ["a number in a column of texts", { type: "text" }, 5, "5"],
  ])("%s", async (_, format, value, expected) => {
    expect(await roundTrip(value, format)).toEqual(expected);
  });

  test.each<[string, Json, Json]>([
    ["half a surrogate becomes the replacement character", "a\ud800b", "a\ufffdb"],
    ["an object becomes its JSON", { formula: "1+1" }, '{"formula":"1+1"}'],
    ["a list becomes its JSON", [1, "a", null], '[1,"a",null]'],
    ["a minus zero becomes zero", -0, 0],
  ])("%s", async (_, value, expected) => {
    expect(await roundTrip(value)).toEqual(expected);
  });

  test("a text that a cell cannot hold is cut, between characters, and counted", async () => {
    const columns = [{ heading: "a" }];
    const writer = createTable("xlsx", { sheetName: "Data", columns });
    const pieces: Uint8Array[] = [];
    const texts = ["x".repeat(32_768), `${"x".repeat(32_766)}😀`, "short"];
    for await (const piece of writer.write([texts.map((text) => [text])])) pieces.push(piece);
    const { rows } = await rowsOf(await fileOf(Buffer.concat(pieces)));
    expect(rows.map(([, text]) => String(text).length)).toEqual([32_767, 32_766, 5]);
    expect(writer.textsCut).toBe(2);
  });
});

describe("a workbook", () => {
  const columns = [
    { heading: "Name" },
    { heading: "Born", format: { type: "date", pattern: "DD/MM/YYYY" } },
    { heading: "Seen", format: { type: "datetime", pattern: "YYYY-MM-DD HH:mm" } },
    { heading: "Price", format: { type: "number", pattern: "#,##0.00" } },
    { heading: "Remark <&>", width: 40 },
  ] as const;
  const rows = [
    ["Ann", "1999-12-31", "2024-02-29T12:34:00.000Z", "19.99", "=1+1"],
    ["Bob", null, null, null, null],
  ];

  test("has the cells, formats and comforts that exceljs finds in it", async () => {
    const workbook = await withExceljs(await bytesOf(rows, { columns }));
    const sheet = workbook.worksheets[0]!;
    expect(sheet.name).toBe("Data");
    const headings = (sheet.getRow(1).values as string[]).slice(1);
    expect(headings).toEqual(["Name", "Born", "Seen", "Price", "Remark <&>"]);
    expect(sheet.getCell("A1").font.bold).toBe(true);
    expect(sheet.getCell("A2").font?.bold ?? false).toBe(false);
    expect(sheet.views[0]).toMatchObject({ state: "frozen", ySplit: 1 });
    expect(sheet.autoFilter).toBe("A1:E3");
    expect(sheet.getColumn(5).width).toBe(40);
    expect(sheet.getCell("B2").value).toEqual(new Date("1999-12-31"));
    expect(sheet.getCell("B2").numFmt).toBe("dd/mm/yyyy");
    expect(sheet.getCell("C2").value).toEqual(new Date("2024-02-29T12:34:00Z"));
    expect(sheet.getCell("C2").numFmt).toBe("yyyy-mm-dd hh:mm");
    expect(sheet.getCell("D2").value).toBe(19.99);
    expect(sheet.getCell("D2").numFmt).toBe("#,##0.00");
    expect(sheet.getCell("E2").type).toBe(ExcelJS.ValueType.String);
    expect(sheet.getCell("E2").value).toBe("=1+1");
  });

  test("goes on in further sheets, each with its headings", async () => {
    const numbers = Array.from({ length: 7 }, (_, at) => [at]);
    const bytes = await bytesOf(numbers, { rowsPerSheetMax: 3 });
    const { worksheets } = await withExceljs(bytes);
    expect(worksheets.map(({ name, rowCount }) => [name, rowCount])).toEqual([
      ["Data", 4],
      ["Data 2", 4],
      ["Data 3", 2],
    ]);
    expect(worksheets.map((sheet) => sheet.getCell("A1").value)).toEqual(Array(3).fill("column 1"));
    expect(worksheets.map((sheet) => sheet.getCell("A2").value)).toEqual([0, 3, 6]);
  });

  test("has no empty further sheet when the rows end with the sheet", async () => {
    const bytes = await bytesOf([[1], [2], [3]], { rowsPerSheetMax: 3 });
    expect((await withExceljs(bytes)).worksheets).toHaveLength(1);
  });

  test("without rows has its headings", async () => {
    const path = await fileOf(await bytesOf([], { columns }));
    const { headings, rows: found } = await rowsOf(path);
    expect(headings).toEqual(["Name", "Born", "Seen", "Price", "Remark <&>"]);
    expect(found).toEqual([]);
  });

  test("is the same whenever it is made", async () => {
    expect(await bytesOf(rows, { columns })).toEqual(await bytesOf(rows, { columns }));
  });

  test("with a number format that Excel might not take is written without it", async () => {
    const format = { type: "number", pattern: "[$-bad" } as const;
    const bytes = await bytesOf([["1.5"]], { columns: [{ heading: "a", format }] });
    const cell = (await withExceljs(bytes)).worksheets[0]!.getCell("A2");
    expect([cell.value, cell.numFmt]).toEqual([1.5, undefined]);
  });

  test("needs columns", () => {
    expect(() => createTable("xlsx", { sheetName: "a", columns: [] })).toThrow(/1 to 16384/);
  });
});

describe.each<TableFormat>(["xlsx", "csv", "jsonl"])("a writer of %s", (format) => {
  const options = { sheetName: "Data", columns: [{ heading: "a" }, { heading: "b" }] };
  /** Texts that hardly compress, so that bytes come while rows do. */
  const batch = (at: number): Batch =>
    Array.from({ length: 1000 }, (_, row) => [row, `${Math.sin(at * 1000 + row)}`]);

  test("asks for rows only as fast as its bytes are taken", async () => {
    let asked = 0;
    function* batches(): Generator<Batch> {
      for (; asked < 1000; asked++) yield batch(asked);
    }
    const bytes = createTable(format, options).write(batches());
    for (let piece = 0; piece < 5; piece++) await bytes.next();
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(asked).toBeLessThan(100);
    await bytes.return(undefined);
  });

  test("ends its source when its reader stops", async () => {
    let isEnded = false;
    async function* batches(): AsyncGenerator<Batch> {
      try {
        for (let at = 0; ; at++) yield batch(at);
      } finally {
        isEnded = true;
      }
    }
    for await (const piece of createTable(format, options).write(batches()))
      if (piece.length > 1000) break;
    await expect.poll(() => isEnded).toBe(true);
  });

  test("fails with its source", async () => {
    async function* batches(): AsyncGenerator<Batch> {
      yield batch(0);
      throw new Error("the database went away");
    }
    const read = async (): Promise<void> => {
      for await (const _ of createTable(format, options).write(batches()));
    };
    await expect(read()).rejects.toThrow("the database went away");
  });
});

test.each([
  [0, "Items", "Items"],
  [1, "Items", "Items 2"],
  [0, "a[b]:c*d?e/f\\g", "a b  c d e f g"],
  [0, "'quoted'", "quoted"],
  [0, "", "Sheet"],
  [1, "???", "Sheet 2"],
  [0, "History", "History_"],
  [0, "x".repeat(40), "x".repeat(31)],
  [10, "x".repeat(40), `${"x".repeat(28)} 11`],
  [0, `${"x".repeat(30)}😀`, "x".repeat(30)],
])("sheet %i of %j is called %j", (index, wish, name) => {
  expect(sheetNameAt(index, wish)).toBe(name);
});

test.each([
  ["YYYY-MM-DD", "yyyy-mm-dd", "2024-02-09"],
  ["DD/MM/YYYY HH:mm", "dd/mm/yyyy hh:mm", "09/02/2024 15:04"],
  ["dd/mm/yyyy hh:mm:ss", "dd/mm/yyyy hh:mm:ss", "09/02/2024 15:04:05"],
  ["D.M.YY", "d.m.yy", "9.2.24"],
  ["DDDD, D MMMM YYYY", "dddd, d mmmm yyyy", "Friday, 9 February 2024"],
  ["ddd D MMM", "ddd d mmm", "Fri 9 Feb"],
  ["h:mm A", "h:mm AM/PM", "3:04 PM"],
  ["mm:ss.SSS", "mm:ss.000", "04:05.006"],
  ["YYYY[ at ]HH", "yyyy \\a\\t hh", "2024 at 15"],
])("the pattern %s is %s in Excel and gives %s", (pattern, excelCode, text) => {
  const parsed = parseDatePattern(pattern)!;
  expect(parsed.excelCode).toBe(excelCode);
  expect(parsed.format(Date.UTC(2024, 1, 9, 15, 4, 5, 6))).toBe(text);
});

test("a pattern without any part of a date is none", () => {
  expect(parseDatePattern("#,##0.00")).toBeNull();
});

describe("csv", () => {
  const csv = async (
    value: Json,
    format?: ColumnFormat,
    formulas?: "escape" | "keep",
  ): Promise<string> => {
    const columns = [{ heading: "a", format }];
    const bytes = await bytesOf([[value]], { columns, format: "csv", formulas });
    expect(bytes.toString("utf8").slice(0, 4)).toBe("\ufeffa\r\n");
    return bytes.toString("utf8").slice(4, -2);
  };
  test.each<[Json, string]>([
    ["plain", "plain"],
    ["a,b", '"a,b"'],
    ['say "x"', '"say ""x"""'],
    ["two\r\nlines", '"two\r\nlines"'],
    [" x", '" x"'],
    ["=1+1", "'=1+1"],
    ["@x", "'@x"],
    ["-x", "'-x"],
    ["-12.5", "-12.5"],
    [-12.5, "-12.5"],
    ["+55 (12) 3923-5555", "+55 (12) 3923-5555"],
    ["-(1.000,5)", '"-(1.000,5)"'],
    ["+1/2:3", "+1/2:3"],
    ["-", "-"],
    ["- ", '"- "'],
    ["=", "'="],
    ["+A1", "'+A1"],
    ["-1+2", "'-1+2"],
    ["+1*2", "'+1*2"],
    ["-2e3", "'-2e3"],
    ["-1\n2", '"\'-1\n2"'],
    ["-5\r\n=1", '"\'-5\r\n=1"'],
    ["@SUM(1)", "'@SUM(1)"],
    ["\t=1", '"\'\t=1"'],
    ["x;=1", '"x;=1"'],
    ["x\t=1", '"x\t=1"'],
    ["\r=1", '"\'\r=1"'],
    ["\n=1", '"\'\n=1"'],
    ["＝1+1", "'＝1+1"],
    ["＠SUM(1)", "'＠SUM(1)"],
    ["＋A1", "'＋A1"],
    ["－12", "－12"],
    [" =1", '" =1"'],
    ["'=1", "''=1"],
    ["a=1", "a=1"],
    [null, ""],
    [true, "true"],
    [{ a: 1 }, '"{""a"":1}"'],
  ])("writes %j as %j", async (value, expected) => {
    expect(await csv(value)).toBe(expected);
  });

  test.each<[Json, string]>([
    ["=1+1", "=1+1"],
    ["-x", "-x"],
    ["@x,y", '"@x,y"'],
    ["\t=1", '"\t=1"'],
  ])("writes %j as %j where formulas are kept", async (value, expected) => {
    expect(await csv(value, undefined, "keep")).toBe(expected);
  });

  test("keeps formulas in headings too where it is told to", async () => {
    const columns = [{ heading: "=a" }];
    const write = async (formulas: "escape" | "keep") =>
      (await bytesOf([], { columns, format: "csv", formulas })).toString("utf8").slice(1);
    expect([await write("escape"), await write("keep")]).toEqual(["'=a\r\n", "=a\r\n"]);
  });

  test("follows patterns of dates and labels, and leaves numbers plain", async () => {
    expect(await csv("2024-02-29", { type: "date", pattern: "DD/MM/YYYY" })).toBe("29/02/2024");
    expect(await csv("2024-02-29", { type: "date" })).toBe("2024-02-29");
    expect(await csv(true, { type: "boolean", trueLabel: "yes, sir" })).toBe('"yes, sir"');
    expect(await csv(1, { type: "boolean", trueLabel: "yes, sir" })).toBe('"yes, sir"');
    expect(await csv("0", { type: "boolean", falseLabel: "no" })).toBe("no");
    expect(await csv(null, { type: "boolean", falseLabel: "no" })).toBe("");
    expect(await csv("1234.5", { type: "number", pattern: "#,##0.00" })).toBe("1234.5");
  });
});

test("jsonl writes an object per line, values as they are", async () => {
  const columns = [{ heading: 'a "b"' }, { heading: "born", format: { type: "date" } }] as const;
  const bytes = await bytesOf(
    [
      ["x", "2024-02-29"],
      [{ y: null }, null],
    ],
    { columns, format: "jsonl" },
  );
  expect(bytes.toString("utf8")).toBe(
    '{"a \\"b\\"":"x","born":"2024-02-29"}\n{"a \\"b\\"":{"y":null},"born":null}\n',
  );
});

/** How the reader handles the many legal forms of a workbook, and which forms it refuses. */
import { describe, expect, test } from "vitest";
import { dateKindOf } from "../../jobs/workbook/date-styles.ts";
import { InvalidWorkbook } from "../../jobs/workbook/invalid-workbook.ts";
import { openWorkbook } from "../../jobs/workbook/open-workbook.ts";
import type { CellValue } from "../../jobs/workbook/sheet-cells.ts";
import { bytesOf, fileOf, rowsOf } from "./files.ts";
import { textRow, type WorkbookParts, workbookParts, zipOf } from "./zip-of.ts";

const read = async (parts: WorkbookParts): ReturnType<typeof rowsOf> =>
  rowsOf(await fileOf(zipOf(workbookParts(parts))));

/** The value of a cell below the heading `a`. */
async function valueOf(cell: string, parts: WorkbookParts = {}): Promise<CellValue> {
  const rows = `${textRow(1, "a", "b")}<row r="2">${cell}<c r="B2"><v>1</v></c></row>`;
  return (await read({ ...parts, rows })).rows[0]![1]!;
}

const styles =
  '<numFmts><numFmt numFmtId="164" formatCode="dd/mm/yyyy&quot;h&quot;"/><numFmt numFmtId="165" formatCode="[h]:mm"/></numFmts>' +
  '<cellStyleXfs><xf numFmtId="14"/></cellStyleXfs>' +
  `<cellXfs>${[0, 14, 22, 21, 164, 165, 4].map((id) => `<xf numFmtId="${id}"/>`).join("")}</cellXfs>`;
const strings =
  "<si><t>plain</t></si><si><r><t>a </t></r><r><rPr><b/></rPr><t>b</t></r><rPh><t>no</t></rPh></si>" +
  '<si><t xml:space="preserve"> x_x000D_ &amp;&#65;&#x42; </t></si><si><t/></si>';

describe("a cell gives", () => {
  test.each<[string, string, CellValue]>([
    ["a shared text", '<c r="A2" t="s"><v>0</v></c>', "plain"],
    ["a shared text with runs, without its reading aid", '<c r="A2" t="s"><v>1</v></c>', "a b"],
    ["escapes and entities resolved", '<c r="A2" t="s"><v>2</v></c>', " x\r &AB "],
    ["an empty shared text", '<c r="A2" t="s"><v>3</v></c>', ""],
    ["an inline text", '<c r="A2" t="inlineStr"><is><t>x</t></is></c>', "x"],
    [
      "an inline text with runs",
      '<c r="A2" t="inlineStr"><is><r><t>x</t></r><r><t>y</t></r></is></c>',
      "xy",
    ],
    ["CDATA", '<c r="A2" t="inlineStr"><is><t>a<![CDATA[<b>&amp;]]>c</t></is></c>', "a<b>&amp;c"],
    ["the text of a formula", '<c r="A2" t="str"><f>B1</f><v>x</v></c>', "x"],
    ["the empty text of a formula", '<c r="A2" t="str"><f>B1</f><v></v></c>', ""],
    ["the zero of a formula", '<c r="A2"><f>B1</f><v>0</v></c>', 0],
    ["the false of a formula", '<c r="A2" t="b"><f>B1</f><v>0</v></c>', false],
    ["an error", '<c r="A2" t="e"><v>#N/A</v></c>', { error: "#N/A" }],
    [
      "that a formula has no result",
      '<c r="A2"><f>B1</f></c>',
      { error: "a formula without a result" },
    ],
    ["true", '<c r="A2" t="b"><v>1</v></c>', true],
    ["a number", '<c r="A2"><v>-1.50</v></c>', -1.5],
    ["a number with an exponent", '<c r="A2" t="n"><v>1.2E-3</v></c>', 0.0012],
    ["the double of 17 digits", '<c r="A2"><v>1.1000000000000001</v></c>', 1.1],
    ["more digits as a text", '<c r="A2"><v>12345678901234567890</v></c>', "12345678901234567890"],
    [
      "a long decimal as a text",
      '<c r="A2"><v>0.12345678901234567890</v></c>',
      "0.12345678901234567890",
    ],
    ["an ISO date", '<c r="A2" t="d"><v>2024-02-29T00:00:00</v></c>', "2024-02-29"],
    [
      "an ISO instant",
      '<c r="A2" t="d"><v>2024-02-29T10:00:00</v></c>',
      "2024-02-29T10:00:00.000Z",
    ],
    ["a date", '<c r="A2" s="1"><v>45351</v></c>', "2024-02-29"],
    [
      "a date with a time that its format hides",
      '<c r="A2" s="1"><v>45351.5</v></c>',
      "2024-02-29T12:00:00.000Z",
    ],
    ["an instant", '<c r="A2" s="2"><v>45351.524259259262</v></c>', "2024-02-29T12:34:56.000Z"],
    [
      "an instant just before midnight",
      '<c r="A2" s="2"><v>45351.9999999999</v></c>',
      "2024-03-01T00:00:00.000Z",
    ],
    ["a time of day", '<c r="A2" s="3"><v>0.5</v></c>', "12:00:00"],
    ["a date of a format of its own", '<c r="A2" s="4"><v>45351</v></c>', "2024-02-29"],
    ["a duration beyond a day", '<c r="A2" s="5"><v>1.25</v></c>', "30:00:00"],
    ["an amount that is no date", '<c r="A2" s="6"><v>45351</v></c>', 45_351],
    ["1 January 1900", '<c r="A2" s="1"><v>1</v></c>', "1900-01-01"],
    ["the day that Excel made up", '<c r="A2" s="1"><v>60</v></c>', "1900-02-29"],
    ["1 March 1900", '<c r="A2" s="1"><v>61</v></c>', "1900-03-01"],
    ["a number that is beyond all dates", '<c r="A2" s="1"><v>9999999</v></c>', 9_999_999],
    ["attributes in quotes of both kinds", "<c  s = '1'\n r='A2'><v>45351</v></c>", "2024-02-29"],
    ["prefixed tags", '<x:c r="A2"><x:v>5</x:v></x:c>', 5],
    ["nothing", '<c r="A2" s="1"/>', null],
    ["nothing for an empty value", "<c><v></v></c>", null],
    ["a text without its own place", '<c t="s"><v>0</v></c>', "plain"],
  ])("%s", async (_, cell, expected) => {
    expect(await valueOf(cell, { styles, strings })).toEqual(expected);
  });

  test.each(['<c r="A2"><v>45351</v></c>', '<c r="A2"><v>45351</v> </c>', "<c><v>45351</v></c>"])(
    "a cell without a style has the first one: %s",
    async (cell) => {
      const dates = '<cellXfs><xf numFmtId="14"/></cellXfs>';
      expect(await valueOf(cell, { styles: dates })).toBe("2024-02-29");
    },
  );

  test("dates from 1904 on, where the workbook counts so", async () => {
    const properties = '<workbookPr date1904="1"/>';
    const cell = '<c r="A2" s="1"><v>43889</v></c>';
    expect(await valueOf(cell, { styles, properties })).toBe("2024-02-29");
    expect(await valueOf('<c r="A2" s="1"><v>0</v></c>', { styles, properties })).toBe(
      "1904-01-01",
    );
  });
});

test.each([
  ["General", null],
  ["0.00E+00", null],
  ['#,##0 "days"', null],
  ["[Red]0;[Blue]-0", null],
  ["_-* #,##0.00 _d", null],
  ["\\d0", null],
  ["m/d/yy h:mm", "datetime"],
  ["[$-409]mmm d, yyyy", "date"],
  ["mmm", "date"],
  ["mm:ss.0", "time"],
  ["h AM/PM", "time"],
  ["[mm]:ss", "duration"],
  ["0;yyyy", null],
])("the number format %s shows %s", (code, kind) => {
  expect(dateKindOf(code)).toBe(kind);
});

describe("a workbook", () => {
  const rows = textRow(1, "a", "b") + textRow(2, "1", "2");
  const expected = { headings: ["a", "b"], rows: [[2, "1", "2"]] };

  test("may have its parts in any order", async () => {
    const parts = workbookParts({ rows });
    expect(await rowsOf(await fileOf(zipOf(parts.toReversed())))).toEqual(expected);
  });

  test("may name its sheet from the root, and its parts in other letters", async () => {
    expect(await read({ rows, target: "/xl/worksheets/sheet1.xml" })).toEqual(expected);
    expect(await read({ rows, target: "../XL/Worksheets/Sheet1.xml" })).toEqual(expected);
  });

  test("may store parts without packing them, and end with a comment", async () => {
    const stored = workbookParts({ rows }).map((part) => ({
      ...part,
      packed: Buffer.from(part.content),
      lie: { method: 0 },
    }));
    expect(await rowsOf(await fileOf(zipOf(stored, "made by hand")))).toEqual(expected);
  });

  test("may begin its parts with a byte order mark, and hold comments", async () => {
    const sheet = `\ufeff<?xml version="1.0"?><!-- <row> --><worksheet><sheetData>${rows}<!-- x --></sheetData><mergeCells count="1"><mergeCell ref="A1:XFD1048576"/></mergeCells></worksheet>`;
    expect(await read({ sheet })).toEqual(expected);
  });

  test("gives the first sheet that is visible", async () => {
    const sheets =
      '<sheet name="No" state="hidden" r:id="rId9"/><sheet name="Never" state="veryHidden" r:id="rId9"/><sheet name="A&amp;B" r:id="rId1"/>';
    const path = await fileOf(zipOf(workbookParts({ rows, sheets })));
    expect((await openWorkbook(path)).sheetName).toBe("A&B");
  });

  test("gives gaps as nothing, and leaves out rows without values", async () => {
    const gaps =
      `<row r="2"/><row r="3"><c r="B3" t="str"><v>heading</v></c><c r="D3" t="str"><v> d </v></c></row>` +
      `<row r="5"><c r="D5"><v>1</v></c><c r="B5"><v>2</v></c></row><row r="6"><c r="A6" s="1"/></row>` +
      `<row r="9"><c r="B9" t="str"><v></v></c></row><row><c><v>3</v></c></row>`;
    expect(await read({ rows: gaps })).toEqual({
      headings: [null, "heading", null, "d"],
      rows: [
        [5, null, 2, null, 1],
        [10, 3],
      ],
    });
  });

  test("can be read again, and left in the middle", async () => {
    const many = Array.from({ length: 20_000 }, (_, at) => [at]);
    const workbook = await openWorkbook(await fileOf(await bytesOf(many)));
    for await (const row of workbook.rows()) if (row.rowIndex === 5) break;
    let count = 0;
    for await (const _ of workbook.rows()) count++;
    expect(count).toBe(20_000);
  });
});

describe("a sheet is refused", () => {
  const good = textRow(1, "a", "b");
  test.each<[string, WorkbookParts, RegExp]>([
    ["without rows", { rows: "" }, /empty/],
    ["with a heading twice", { rows: textRow(1, "a", "b", " a ") }, /"a" appears twice/],
    [
      "with a shared text that is not there",
      { rows: `${good}<row r="2"><c r="A2" t="s"><v>7</v></c></row>` },
      /A2 refers/,
    ],
    [
      "with a negative shared text",
      { rows: `${good}<row r="2"><c r="A2" t="s"><v>-1</v></c></row>` },
      /A2 refers/,
    ],
    [
      "with a number that is none",
      { rows: `${good}<row r="2"><c r="A2"><v>NaN</v></c></row>` },
      /A2 is not a number/,
    ],
    [
      "with an endless number",
      { rows: `${good}<row r="2"><c r="A2"><v>1e999</v></c></row>` },
      /A2 is not a number/,
    ],
    [
      "with a kind of cell that is not known",
      { rows: `${good}<row r="2"><c r="A2" t="z"><v>1</v></c></row>` },
      /A2 has an unknown type/,
    ],
    [
      "with row 4294967296",
      { rows: `${good}<row r="4294967296"><c><v>1</v></c></row>` },
      /row number/,
    ],
    ["with row 0", { rows: `<row r="0"><c><v>1</v></c></row>` }, /row number/],
    ["with rows that go back", { rows: `<row r="2"/>${good}` }, /row number/],
    [
      "with a cell of another row",
      { rows: `${good}<row r="2"><c r="A3"><v>1</v></c></row>` },
      /A3 is in row 2/,
    ],
    [
      "with a cell beyond the last column",
      { rows: `${good}<row r="2"><c r="XFE2"><v>1</v></c></row>` },
      /XFE2/,
    ],
    [
      "with a cell twice",
      { rows: `${good}<row r="2"><c r="A2"><v>1</v></c><c r="A2"><v>2</v></c></row>` },
      /two cells A2/,
    ],
    ["with a tag that is not closed", { sheet: `<worksheet><sheetData>${good}` }, /ends too early/],
    ["with tags that cross", { sheet: "<worksheet><a><b></a></b></worksheet>" }, /do not match/],
    ["with a second root", { sheet: "<worksheet/><worksheet/>" }, /one worksheet/],
    ["of another kind", { sheet: "<chartsheet/>" }, /one worksheet/],
    [
      "with a document type",
      { sheet: `<!DOCTYPE worksheet [<!ENTITY a "aaa">]><worksheet/>` },
      /document type/,
    ],
    ["with an entity of its own", { rows: textRow(1, "&lol;") }, /entity/],
    ["with a character that there is not", { rows: textRow(1, "&#x110000;") }, /entity/],
    ["with an attribute without quotes", { rows: "<row r=1></row>" }, /attribute/],
    ["nested too deep", { sheet: `<worksheet>${"<a>".repeat(500)}` }, /nested too deep/],
    ["with no text but NULs", { sheet: "\0".repeat(100) }, /worksheet/],
  ])("%s", async (_, parts, message) => {
    await expect(read(parts)).rejects.toThrow(InvalidWorkbook);
    await expect(read(parts)).rejects.toThrow(message);
  });

  test("beyond its limits", async () => {
    const path = await fileOf(
      await bytesOf([
        [1, 2],
        [3, 4],
        [5, 6],
      ]),
    );
    await expect(rowsOf(path, { rowsMax: 2 })).rejects.toThrow(/more than 2 rows/);
    await expect(rowsOf(path, { columnsMax: 1 })).rejects.toThrow(/more than 1 columns/);
    await expect(rowsOf(path, { bytesMax: 100 })).rejects.toThrow(/more than 100 bytes/);
    expect((await rowsOf(path, { rowsMax: 3, columnsMax: 2 })).rows).toHaveLength(3);
  });

  test("when no sheet is visible", async () => {
    const sheets = '<sheet name="No" state="hidden" r:id="rId1"/>';
    await expect(read({ sheets })).rejects.toThrow(/no visible sheet/);
  });
});

test("a file that is not there is no invalid workbook", async () => {
  await expect(openWorkbook("/nowhere/at/all.xlsx")).rejects.toThrow(/ENOENT/);
});

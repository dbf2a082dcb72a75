/** The CSV reader: files of other programs, files of our writer, and files that are hostile or not CSV. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTable } from "../../jobs/workbook/create-table.ts";
import { openWorkbook } from "../../jobs/workbook/open-workbook.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "rowgate-test-csv-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function read(bytes: string | Uint8Array, limits = {}): Promise<unknown[]> {
  const path = join(folder, "rows.csv");
  await writeFile(path, bytes);
  const workbook = await openWorkbook(path, limits);
  const rows: unknown[] = [workbook.headings];
  for await (const { rowIndex, values } of workbook.rows()) rows.push([rowIndex, ...values]);
  return rows;
}

const utf16 = (text: string): Buffer => Buffer.from(`\ufeff${text}`, "utf16le");

test.each<[string, string | Uint8Array, unknown[]]>([
  [
    "commas",
    "a,b\r\n1,x\r\n",
    [
      ["a", "b"],
      [2, "1", "x"],
    ],
  ],
  [
    "semicolons",
    "a;b\n1;x,y",
    [
      ["a", "b"],
      [2, "1", "x,y"],
    ],
  ],
  [
    "tabs",
    "a\tb\r1\tx;y\r",
    [
      ["a", "b"],
      [2, "1", "x;y"],
    ],
  ],
  [
    "a line for Excel that names the separator",
    "\ufeffsep=;\r\na, b, c;d\r\n1;x",
    [
      ["a, b, c", "d"],
      [2, "1", "x"],
    ],
  ],
  ["such a line further down", "a\nsep=;\n", [["a"], [2, "sep=;"]]],
  ["one column", "a\n1\n", [["a"], [2, "1"]]],
  [
    "UTF-8 with a mark",
    "\ufeffä,b\n1,😀",
    [
      ["ä", "b"],
      [2, "1", "😀"],
    ],
  ],
  [
    "UTF-16",
    utf16("ä;b\r\n1;😀\r\n"),
    [
      ["ä", "b"],
      [2, "1", "😀"],
    ],
  ],
  [
    "UTF-16 with the high byte first",
    utf16("a;b\n1;é").swap16(),
    [
      ["a", "b"],
      [2, "1", "é"],
    ],
  ],
  [
    "quotes",
    '"a, b",c\n"x ""y""","1\r\n2"\n',
    [
      ["a, b", "c"],
      [2, 'x "y"', "1\r\n2"],
    ],
  ],
  [
    "quotes within a cell",
    'a,b\n5" x 6",y\n',
    [
      ["a", "b"],
      [2, '5" x 6"', "y"],
    ],
  ],
  [
    "empty lines and cells",
    "\n\na,b\n\n,\n1\n,2,,\n",
    [
      ["a", "b"],
      [6, "1"],
      [7, null, "2"],
    ],
  ],
  [
    "formulas of the export",
    "a,b\n'=1,'x\n''@y,'-z",
    [
      ["a", "b"],
      [2, "=1", "'x"],
      [3, "'@y", "-z"],
    ],
  ],
])("csv with %s is read", async (_, bytes, rows) => {
  expect(await read(bytes)).toEqual(rows);
});

test.each<[string, string | Uint8Array, object, string]>([
  ["nothing", "", {}, "empty"],
  ["NULs", "a,b\n1,\0", {}, "NUL"],
  ["bytes that are no UTF-8", Buffer.from([97, 10, 0xff, 10]), {}, "UTF-8"],
  ["a character that is cut off", Buffer.from([97, 10, 0xe2, 0x82]), {}, "UTF-8"],
  ["an open quote", 'a\n"x\n', {}, "quote"],
  ["a quote within a cell", 'a,b\n5" x,y\n', {}, "quote"],
  ["quotes within the cells of two rows", 'a\n5"\n6"\n', {}, "Row 2 has a quote in a wrong place"],
  [
    "quotes within cells and rows of fewer cells",
    'a,b,c\nA,5"\nB,6"\n',
    {},
    "Row 2 has a quote in a wrong place",
  ],
  ["text behind a quote", 'a,b\n"x"y,1\n', {}, "Row 2 has a quote in a wrong place"],
  ["more cells than headings", "a,b\n1,2,3\n", {}, "Row 2 has more cells"],
  ["a heading twice", "a,a\n1,2", {}, "twice"],
  ["too many rows", "a\n1\n2\n3\n", { rowsMax: 2 }, "more than 2 rows"],
  ["too many columns", "a,b,c\n", { columnsMax: 2 }, "more than 2 cells"],
  ["too many bytes", "a\n1234567890\n", { bytesMax: 5 }, "more than 5 bytes"],
  ["one line without an end", `a\n${"x".repeat(4_500_000)}`, {}, "is longer than"],
  ["a workbook", Buffer.from("504b0304140000000800ffff", "hex"), {}, ""],
])("csv with %s is refused", async (_, bytes, limits, message) => {
  await expect(read(bytes, limits)).rejects.toMatchObject({
    name: "InvalidWorkbook",
    message: expect.stringContaining(message),
  });
});

// Its end was once searched for from the beginning again with each piece of the file, for 14 seconds.
test.each([
  ["line ends", "\n".repeat(4_000_000)],
  ["quotes", '""'.repeat(2_000_000)],
])("csv with a cell of four million %s is read soon", { timeout: 6_000 }, async (_, cell) => {
  const [, row] = await read(`a,b\n"${cell}",1\n`);
  expect((row as string[])[2]).toBe("1");
});

test("csv of the export comes back unchanged", async () => {
  const texts = [
    "=1+1",
    "'=1+1",
    "\n＝1",
    "''@x",
    "'plain",
    "-x",
    "+55 (12) 3",
    "a,b;c",
    ' "q" ',
    "1\n2",
    "\t",
    "'",
  ];
  const columns = [{ heading: "id" }, { heading: "text" }];
  for (const formulas of ["escape", "keep"] as const) {
    const pieces: Uint8Array[] = [];
    const table = createTable("csv", { sheetName: "x", columns: columns as never, formulas });
    for await (const piece of table.write([texts.map((text, at) => [at, text])]))
      pieces.push(piece);
    const [, ...rows] = await read(Buffer.concat(pieces), { formulas });
    expect(rows).toEqual(texts.map((text, at) => [at + 2, String(at), text]));
  }
});

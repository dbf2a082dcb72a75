/**
 * Invalid files: damaged, hostile, or of another type with a workbook's name. They are made on demand and not stored.
 * Run as a program, it writes them into the given folder, to try other readers.
 */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { deflateRawSync } from "node:zlib";
import { type Part, textRow, workbookParts, zipOf } from "./zip-of.ts";

export interface HostileFile {
  readonly name: string;
  make(): Buffer;
  /** A piece of the refusal, or how many rows are read nevertheless. */
  readonly expected: RegExp | number;
}

const MiB = 1024 ** 2;
const rows = textRow(1, "a", "b") + textRow(2, "1", "2");
const good = (): Buffer => zipOf(workbookParts({ rows }));
const sheetPath = "xl/worksheets/sheet1.xml";
/** The valid workbook, with one part changed. */
const changed = (name: string, change: (part: Part) => Partial<Part>): Buffer =>
  zipOf(
    workbookParts({ rows }).map((part) =>
      part.name === name ? { ...part, ...change(part) } : part,
    ),
  );
const withPart = (part: Part): Buffer => zipOf([...workbookParts({ rows }), part]);
const sheetOf = (content: string): Buffer =>
  Buffer.from(`<worksheet><sheetData>${textRow(1, "a", "b")}${content}`);

export const hostileFiles: readonly HostileFile[] = [
  { name: "nothing at all", make: () => Buffer.alloc(0), expected: /is empty/ },
  { name: "one byte", make: () => Buffer.from("P"), expected: /not an xlsx/ },
  { name: "a renamed csv", make: () => Buffer.from("a,b\r\n1,2\r\n"), expected: /not an xlsx/ },
  {
    name: "an encrypted or old workbook",
    make: () => Buffer.concat([Buffer.from("d0cf11e0a1b11ae1", "hex"), Buffer.alloc(4096)]),
    expected: /without a password/,
  },
  { name: "the first bytes of a workbook", make: () => good().subarray(0, 4), expected: /damaged/ },
  { name: "half a workbook", make: () => good().subarray(0, 700), expected: /damaged/ },
  {
    name: "a workbook and something behind it",
    make: () => Buffer.concat([good(), Buffer.from("x")]),
    expected: /damaged/,
  },
  {
    name: "another kind of archive",
    make: () => zipOf([{ name: "hello.txt", content: "hello" }]),
    expected: /not an xlsx/,
  },
  {
    name: "a text document",
    make: () =>
      zipOf([
        { name: "word/document.xml", content: "<document/>" },
        { name: "word/_rels/document.xml.rels", content: "<Relationships/>" },
        {
          name: "_rels/.rels",
          content:
            '<Relationships><Relationship Type="x/officeDocument" Target="word/document.xml"/></Relationships>',
        },
      ]),
    expected: /workbook/,
  },
  {
    name: "a binary workbook",
    make: () =>
      zipOf([
        {
          name: "_rels/.rels",
          content:
            '<Relationships><Relationship Type="x/officeDocument" Target="xl/workbook.bin"/></Relationships>',
        },
      ]),
    expected: /xlsb/,
  },
  {
    name: "a sheet that is missing",
    make: () => zipOf(workbookParts({ rows }).filter(({ name }) => name !== sheetPath)),
    expected: /missing/,
  },
  {
    name: "a wrong checksum",
    make: () => changed(sheetPath, () => ({ lie: { crc: 1 } })),
    expected: /damaged/,
  },
  {
    name: "a size too small",
    make: () => changed(sheetPath, () => ({ lie: { size: 10 } })),
    expected: /damaged/,
  },
  {
    name: "a size too large",
    make: () => changed(sheetPath, () => ({ lie: { size: 9999 } })),
    expected: /damaged/,
  },
  {
    name: "a packed size beyond the file",
    make: () => changed(sheetPath, () => ({ lie: { packedSize: 2 ** 31 } })),
    expected: /damaged/,
  },
  {
    name: "a packed size too small",
    make: () => changed(sheetPath, () => ({ lie: { packedSize: 9 } })),
    expected: /damaged/,
  },
  {
    name: "a member beyond the file",
    make: () => changed(sheetPath, () => ({ lie: { offset: 2 ** 31 } })),
    expected: /damaged/,
  },
  {
    name: "members in one another",
    make: () => changed(sheetPath, () => ({ lie: { offset: 0 } })),
    expected: /damaged/,
  },
  {
    name: "a member of the larger form without its numbers",
    make: () => changed(sheetPath, () => ({ lie: { size: 0xffff_ffff } })),
    expected: /damaged/,
  },
  {
    name: "bytes that are not deflated",
    make: () => changed(sheetPath, () => ({ packed: Buffer.alloc(500, 0xff) })),
    expected: /damaged/,
  },
  {
    name: "a way of packing that is not known",
    make: () => changed(sheetPath, () => ({ lie: { method: 14 } })),
    expected: /unknown method/,
  },
  {
    name: "an encrypted member",
    make: () => changed(sheetPath, () => ({ lie: { flags: 1 } })),
    expected: /encrypted/,
  },
  {
    name: "a link to a file",
    make: () =>
      withPart({ name: "xl/link", content: "/etc/passwd", lie: { attributes: 0xa1ff_0000 } }),
    expected: /link/,
  },
  {
    name: "names that lead out of the archive",
    make: () => withPart({ name: "../../../../tmp/escaped", content: "x" }),
    expected: 1,
  },
  {
    name: "a part twice",
    make: () => withPart({ name: "XL/worksheets/Sheet1.xml", content: "<worksheet/>" }),
    expected: /same name/,
  },
  {
    name: "60,000 members",
    make: () => {
      const empty = { content: "", packed: deflateRawSync("") };
      const extra = Array.from({ length: 60_000 }, (_, at) => ({ name: `x/${at}`, ...empty }));
      return zipOf([...workbookParts({ rows }), ...extra]);
    },
    expected: /more than 5000 parts/,
  },
  {
    name: "a sheet of 300 MB in 300 kB",
    make: () =>
      changed(sheetPath, () => ({
        content: Buffer.concat([sheetOf(""), Buffer.alloc(300 * MiB, " ")]),
      })),
    expected: /compressed more than 200 times/,
  },
  {
    name: "a sheet of 300 MB that says it has 1,000 bytes",
    make: () =>
      changed(sheetPath, () => ({
        content: Buffer.concat([sheetOf(""), Buffer.alloc(300 * MiB, " ")]),
        lie: { size: 1000 },
      })),
    expected: /damaged/,
  },
  {
    name: "shared texts of 300 MB",
    make: () =>
      changed("xl/sharedStrings.xml", () => ({
        content: Buffer.concat([
          Buffer.from("<sst>"),
          Buffer.alloc(300 * MiB, "<si><t>ab</t></si>"),
        ]),
      })),
    expected: /more than 64 MiB/,
  },
  {
    name: "styles of 300 MB",
    make: () =>
      changed("xl/styles.xml", () => ({
        content: Buffer.concat([Buffer.from("<styleSheet>"), Buffer.alloc(300 * MiB, "<xf/>")]),
      })),
    expected: /more than 32 MiB/,
  },
  {
    name: "70,000 styles of one format of 900 KB",
    make: () =>
      zipOf(
        workbookParts({
          rows,
          styles: `<numFmts><numFmt numFmtId="164" formatCode="${"[".repeat(900_000)}"/></numFmts><cellXfs>${'<xf numFmtId="164"/>'.repeat(70_000)}</cellXfs>`,
        }),
      ),
    expected: 1,
  },
  {
    name: "a number of 900,000 digits and something behind it",
    make: () =>
      zipOf(
        workbookParts({
          rows: `${textRow(1, "a", "b")}<row r="2"><c><v>${"0".repeat(900_000)}+</v></c></row>`,
        }),
      ),
    expected: /is not a number/,
  },
  {
    name: "30 MB of shared texts of two letters",
    make: () =>
      changed("xl/sharedStrings.xml", () => ({
        content: `<sst>${"<si><t>ab</t></si>".repeat(1_700_000)}</sst>`,
      })),
    expected: 1,
  },
  ...(
    [
      ["attributes", `<row r="2"${' a="1"'.repeat(150_000)}>`, "</row>"],
      ["an attribute", `<row r="2" x="${">".repeat(900_000)}">`, "</row>"],
      ["blanks in its closing tag", '<row r="2">', `</row${" ".repeat(900_000)}>`],
    ] as const
  ).map(([what, begin, end]) => ({
    name: `20 rows with 900 KB of ${what}`,
    make: () =>
      changed(sheetPath, () => ({
        content: sheetOf(
          Array.from({ length: 20 }, (_, at) =>
            `${begin}<c><v>1</v></c>${end}`.replace('"2"', `"${at + 2}"`),
          ).join("") + "</sheetData></worksheet>",
        ),
      })),
    expected: 20,
  })),
  {
    name: "a text of 20 MB",
    make: () =>
      changed(sheetPath, () => ({
        content: sheetOf(`<row r="2"><c r="A2" t="str"><v>${"x".repeat(20 * MiB)}`),
      })),
    expected: /too long/,
  },
  {
    name: "a text of 20 MB in pieces",
    make: () =>
      changed(sheetPath, () => ({
        content: sheetOf(`<row r="2"><c r="A2" t="str"><v>${"x<!-- -->".repeat(2 * MiB)}`),
      })),
    expected: /too long|ends too early/,
  },
  {
    name: "a tag without end",
    make: () => changed(sheetPath, () => ({ content: sheetOf(`<row r="${"2".repeat(20 * MiB)}`) })),
    expected: /too long/,
  },
  {
    name: "a comment without end",
    make: () => changed(sheetPath, () => ({ content: sheetOf(`<!--${"-".repeat(20 * MiB)}`) })),
    expected: /too long/,
  },
  {
    name: "a million tags that are not closed",
    make: () => changed(sheetPath, () => ({ content: sheetOf("<a>".repeat(1_000_000)) })),
    expected: /nested too deep/,
  },
  {
    name: "entities that grow",
    make: () =>
      changed(sheetPath, () => ({
        content: `<!DOCTYPE x [<!ENTITY a "${"a".repeat(1000)}"><!ENTITY b "${"&a;".repeat(1000)}">]><worksheet>&b;</worksheet>`,
      })),
    expected: /document type/,
  },
  {
    name: "another encoding",
    make: () =>
      changed(sheetPath, () => ({ content: Buffer.from("\ufeff<worksheet/>", "utf16le") })),
    expected: /UTF-8/,
  },
  {
    name: "bytes that are no UTF-8",
    make: () =>
      changed(sheetPath, () => ({ content: Buffer.concat([sheetOf(""), Buffer.from([0xc3])]) })),
    expected: /UTF-8/,
  },
  {
    name: "a merged cell over the whole sheet",
    make: () =>
      changed(sheetPath, () => ({
        content: `<worksheet><sheetData>${rows}</sheetData><mergeCells><mergeCell ref="A1:XFD1048576"/></mergeCells></worksheet>`,
      })),
    expected: 1,
  },
  {
    name: "row 4294967296",
    make: () =>
      changed(sheetPath, () => ({ content: sheetOf('<row r="4294967296"><c><v>1</v></c></row>') })),
    expected: /row number/,
  },
  {
    name: "a value in the last column",
    make: () =>
      changed(sheetPath, () => ({ content: sheetOf('<row r="2"><c r="XFD2"><v>1</v></c></row>') })),
    expected: /more than 1024 columns/,
  },
  {
    name: "200,000 rows with one far value each",
    make: () => {
      const far = Array.from(
        { length: 200_000 },
        (_, at) => `<row r="${at + 2}"><c r="ALA${at + 2}"><v>1</v></c></row>`,
      );
      return changed(sheetPath, () => ({
        content: sheetOf(`${far.join("")}</sheetData></worksheet>`),
      }));
    },
    expected: /more than 25000000 cells/,
  },
  {
    name: "a million cells without value",
    make: () =>
      changed(sheetPath, () => ({
        content: sheetOf(`<row>${"<c/>".repeat(1_000_000)}</row></sheetData></worksheet>`),
      })),
    expected: 0,
  },
];

const folder = process.argv[2];
if (import.meta.main && folder !== undefined) {
  await mkdir(folder, { recursive: true });
  for (const { name, make } of hostileFiles)
    await writeFile(join(folder, `${name.replace(/\W+/g, "-")}.xlsx`), make());
}

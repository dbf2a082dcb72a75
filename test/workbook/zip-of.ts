/**
 * Builds Zip archives that no program would write, for tests of workbooks. Every field that a reader might trust can
 * hold a false value.
 */
import { crc32, deflateRawSync } from "node:zlib";

export interface Part {
  readonly name: string;
  readonly content: string | Uint8Array;
  /** False values that the archive states. */
  readonly lie?: Partial<Fields>;
  /** Bytes to store instead of the deflated content. */
  readonly packed?: Uint8Array;
}

interface Fields {
  readonly method: number;
  readonly flags: number;
  readonly crc: number;
  readonly packedSize: number;
  readonly size: number;
  readonly offset: number;
  readonly attributes: number;
}

/** The archive with the parts in this order. */
export function zipOf(parts: readonly Part[], comment = ""): Buffer {
  const locals: Buffer[] = [];
  const records: Buffer[] = [];
  let offset = 0;
  for (const { name, content, lie, packed } of parts) {
    const bytes = typeof content === "string" ? Buffer.from(content) : content;
    // The quickest way: some parts have 300 MB.
    const data = packed ?? deflateRawSync(bytes, { level: 1 });
    const truth = { method: 8, flags: 0, crc: crc32(bytes), packedSize: data.length };
    const fields = { ...truth, size: bytes.length, offset, attributes: 0, ...lie };
    const header = Buffer.alloc(30);
    header.writeUInt32LE(0x04034b50, 0);
    writeFields(header, { fields, at: 4, name });
    const local = Buffer.concat([header, Buffer.from(name), data]);
    locals.push(local);
    records.push(directoryRecord(name, fields));
    offset += local.length;
  }
  const directory = Buffer.concat(records);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(parts.length % 0x10000, 8);
  end.writeUInt16LE(parts.length % 0x10000, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(offset, 16);
  end.writeUInt16LE(comment.length, 20);
  return Buffer.concat([...locals, directory, end, Buffer.from(comment)]);
}

function directoryRecord(name: string, fields: Fields): Buffer {
  const record = Buffer.alloc(46);
  record.writeUInt32LE(0x02014b50, 0);
  writeFields(record, { fields, at: 6, name });
  record.writeUInt32LE(fields.attributes, 38);
  record.writeUInt32LE(fields.offset, 42);
  return Buffer.concat([record, Buffer.from(name)]);
}

function writeFields(
  bytes: Buffer,
  { fields, at, name }: { fields: Fields; at: number; name: string },
): void {
  bytes.writeUInt16LE(20, at);
  bytes.writeUInt16LE(fields.flags, at + 2);
  bytes.writeUInt16LE(fields.method, at + 4);
  bytes.writeUInt32LE(fields.crc, at + 10);
  bytes.writeUInt32LE(fields.packedSize, at + 14);
  bytes.writeUInt32LE(fields.size, at + 18);
  bytes.writeUInt16LE(Buffer.byteLength(name), at + 22);
}

export interface WorkbookParts {
  /** The rows as XML, between the tags of sheetData. */
  readonly rows?: string;
  /** The whole sheet instead. */
  readonly sheet?: string;
  readonly strings?: string;
  readonly styles?: string;
  /** Within the workbook's tag, before its sheets. */
  readonly properties?: string;
  readonly sheets?: string;
  /** The folder of the sheet's target: openpyxl begins it with a slash. */
  readonly target?: string;
}

const main = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"';
const office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const head = '<?xml version="1.0" encoding="UTF-8"?>';

/** The parts of a workbook with one sheet; the headings are up to `rows`. */
export function workbookParts(given: WorkbookParts): Part[] {
  const relation = (id: string, type: string, target: string): string =>
    `<Relationship Id="${id}" Type="${office}/${type}" Target="${target}"/>`;
  const relations = (list: string): string =>
    `${head}<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${list}</Relationships>`;
  const sheets = given.sheets ?? '<sheet name="Things" sheetId="1" r:id="rId1"/>';
  return [
    { name: "[Content_Types].xml", content: `${head}<Types/>` },
    {
      name: "_rels/.rels",
      content: relations(relation("rId1", "officeDocument", "xl/workbook.xml")),
    },
    {
      name: "xl/workbook.xml",
      content: `${head}<workbook ${main} xmlns:r="${office}">${given.properties ?? ""}<sheets>${sheets}</sheets></workbook>`,
    },
    {
      name: "xl/_rels/workbook.xml.rels",
      content: relations(
        relation("rId1", "worksheet", given.target ?? "worksheets/sheet1.xml") +
          relation("rId2", "styles", "styles.xml") +
          relation("rId3", "sharedStrings", "sharedStrings.xml"),
      ),
    },
    {
      name: "xl/styles.xml",
      content: `${head}<styleSheet ${main}>${given.styles ?? ""}</styleSheet>`,
    },
    { name: "xl/sharedStrings.xml", content: `${head}<sst ${main}>${given.strings ?? ""}</sst>` },
    {
      name: "xl/worksheets/sheet1.xml",
      content:
        given.sheet ??
        `${head}<worksheet ${main}><sheetData>${given.rows ?? ""}</sheetData></worksheet>`,
    },
  ];
}

/** A row of inline texts; each is XML already. */
export const textRow = (number: number, ...texts: readonly string[]): string =>
  `<row r="${number}">${texts.map((text) => `<c t="inlineStr"><is><t>${text}</t></is></c>`).join("")}</row>`;

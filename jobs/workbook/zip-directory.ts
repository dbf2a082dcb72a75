/**
 * The content of a zip archive by the directory at its end, checked before anything is inflated: number of members,
 * their sizes, and that none overlaps another or exceeds the file. Names are never used as paths.
 */
import type { FileHandle } from "node:fs/promises";
import { InvalidWorkbook } from "./invalid-workbook.ts";

/** A member of an archive, from its directory. */
export interface ZipEntry {
  /** As the archive spells it. */
  readonly name: string;
  readonly method: number;
  readonly crc: number;
  readonly packedSize: number;
  readonly size: number;
  /** Of the member's header, from the beginning of the file. */
  readonly offset: number;
}

/** Members by name, as `partName` makes it: names of parts ignore case. */
export type ZipDirectory = ReadonlyMap<string, ZipEntry>;

/** Rejects with `InvalidWorkbook` when the file is no such archive, or holds more than `membersMax` members. */
export async function readDirectory(file: FileHandle, membersMax: number): Promise<ZipDirectory> {
  const { size } = await file.stat();
  await refuseOtherFiles(file, size);
  const end = await findEnd(file, size);
  if (end.count > membersMax) throw tooMany(membersMax);
  if (end.size > directoryBytesMax || end.offset + end.size > end.position) throw damaged();
  const entries = readEntries(await readBytes(file, end), { end, membersMax });
  refuseOverlaps(entries, end.offset);
  const directory = new Map(entries.map((entry) => [partName(entry.name), entry]));
  if (directory.size < entries.length)
    throw new InvalidWorkbook("The file contains two parts with the same name");
  return directory;
}

/** The name under which a part is found: in lower case, without a leading slash. */
export const partName = (path: string): string =>
  path.replaceAll("\\", "/").replace(/^\/+/, "").toLowerCase();

/** `length` bytes from `position`; rejects with `InvalidWorkbook` when the file ends before. */
export async function readBytes(
  file: FileHandle,
  { offset, size }: { offset: number; size: number },
): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(size);
  let filled = 0;
  while (filled < size) {
    const { bytesRead } = await file.read(bytes, filled, size - filled, offset + filled);
    if (bytesRead === 0) throw damaged();
    filled += bytesRead;
  }
  return bytes;
}

/** A directory of 5,000 members has some 500 KB. */
const directoryBytesMax = 8 * 1024 ** 2;
const endSize = 22;
const commentMax = 0xffff;
const max16 = 0xffff;
const max32 = 0xffff_ffff;

const damaged = (): InvalidWorkbook => new InvalidWorkbook("The file is damaged or incomplete");
const tooMany = (membersMax: number): InvalidWorkbook =>
  new InvalidWorkbook(`The file contains more than ${membersMax} parts`);

async function refuseOtherFiles(file: FileHandle, size: number): Promise<void> {
  if (size === 0) throw new InvalidWorkbook("The file is empty");
  const start = await readBytes(file, { offset: 0, size: Math.min(size, 4) });
  const signature = start.toString("hex");
  if (signature === "d0cf11e0")
    throw new InvalidWorkbook(
      "The file is encrypted or in the old xls format; save it as xlsx without a password",
    );
  if (signature !== "504b0304") throw new InvalidWorkbook("The file is not an xlsx workbook");
}

interface End {
  readonly count: number;
  readonly size: number;
  readonly offset: number;
  /** Where the record itself begins: the directory lies before it. */
  readonly position: number;
}

async function findEnd(file: FileHandle, fileSize: number): Promise<End> {
  const size = Math.min(fileSize, endSize + commentMax);
  const start = fileSize - size;
  const tail = await readBytes(file, { offset: start, size });
  for (let at = size - endSize; at >= 0; at--) {
    const isEnd =
      tail.readUInt32LE(at) === 0x06054b50 && tail.readUInt16LE(at + 20) === size - endSize - at;
    if (!isEnd) continue;
    const end = {
      count: tail.readUInt16LE(at + 10),
      size: tail.readUInt32LE(at + 12),
      offset: tail.readUInt32LE(at + 16),
      position: start + at,
    };
    const isZip64 = end.count === max16 || end.size === max32 || end.offset === max32;
    return isZip64 ? readZip64End(file, end) : end;
  }
  throw damaged();
}

/** The data of the zip64 directory, if its locator is there. */
async function readZip64End(file: FileHandle, end: End): Promise<End> {
  if (end.position < 20) throw damaged();
  const locator = await readBytes(file, { offset: end.position - 20, size: 20 });
  if (locator.readUInt32LE(0) !== 0x07064b50) return end;
  const position = Number(locator.readBigUInt64LE(8));
  if (position + 56 > end.position) throw damaged();
  const record = await readBytes(file, { offset: position, size: 56 });
  if (record.readUInt32LE(0) !== 0x06064b50) throw damaged();
  const [count, size, offset] = [32, 40, 48].map((at) => Number(record.readBigUInt64LE(at)));
  return { count: count!, size: size!, offset: offset!, position };
}

function readEntries(
  bytes: Buffer,
  { end, membersMax }: { end: End; membersMax: number },
): ZipEntry[] {
  const entries: ZipEntry[] = [];
  let at = 0;
  while (at < bytes.length) {
    if (at + 46 > bytes.length || bytes.readUInt32LE(at) !== 0x02014b50) throw damaged();
    const [nameLength, extraLength, commentLength] = [28, 30, 32].map((field) =>
      bytes.readUInt16LE(at + field),
    ) as [number, number, number];
    const next = at + 46 + nameLength + extraLength + commentLength;
    if (next > bytes.length) throw damaged();
    entries.push(readEntry(bytes.subarray(at, next), { nameLength, extraLength }));
    if (entries.length > membersMax) throw tooMany(membersMax);
    at = next;
  }
  if (entries.length !== end.count) throw damaged();
  return entries;
}

function readEntry(
  record: Buffer,
  { nameLength, extraLength }: { nameLength: number; extraLength: number },
): ZipEntry {
  const name = record.toString("utf8", 46, 46 + nameLength);
  if (record.readUInt16LE(8) & 1)
    throw new InvalidWorkbook("The file is encrypted; save it without a password");
  const unixType = record.readUInt16LE(40) & 0xf000;
  if (unixType === 0xa000) throw new InvalidWorkbook("The file contains a link to another file");
  const extra = record.subarray(46 + nameLength, 46 + nameLength + extraLength);
  const [size, packedSize, offset] = wideNumbers(
    [24, 20, 42].map((field) => record.readUInt32LE(field)),
    extra,
  );
  return {
    name,
    method: record.readUInt16LE(10),
    crc: record.readUInt32LE(16),
    size: size!,
    packedSize: packedSize!,
    offset: offset!,
  };
}

/** Numbers that do not fit into 32 bits are in the zip64 extra field, in this order. */
function wideNumbers(numbers: readonly number[], extra: Buffer): number[] {
  if (!numbers.includes(max32)) return [...numbers];
  const wide = extraField(extra, 1);
  let at = 0;
  return numbers.map((number) => {
    if (number !== max32) return number;
    if (at + 8 > wide.length) throw damaged();
    at += 8;
    return Number(wide.readBigUInt64LE(at - 8));
  });
}

function extraField(extra: Buffer, wanted: number): Buffer {
  for (let at = 0; at + 4 <= extra.length;) {
    const size = extra.readUInt16LE(at + 2);
    if (extra.readUInt16LE(at) === wanted) return extra.subarray(at + 4, at + 4 + size);
    at += 4 + size;
  }
  return extra.subarray(0, 0);
}

/** A few bytes shared by many members would otherwise inflate to any size. */
function refuseOverlaps(entries: readonly ZipEntry[], directoryOffset: number): void {
  const sorted = entries.toSorted((a, b) => a.offset - b.offset);
  sorted.forEach((entry, at) => {
    const end = entry.offset + 30 + Buffer.byteLength(entry.name) + entry.packedSize;
    if (end > (sorted[at + 1]?.offset ?? directoryOffset)) throw damaged();
  });
}

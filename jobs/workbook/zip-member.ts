/**
 * One member of a zip archive, inflated piece by piece. The directory is not trusted: bytes are counted during
 * inflation and compared at the end.
 */
import { isUtf8 } from "node:buffer";
import type { FileHandle } from "node:fs/promises";
import { pipeline, Readable } from "node:stream";
import { crc32, createInflateRaw } from "node:zlib";
import { InvalidWorkbook } from "./invalid-workbook.ts";
import { readBytes, type ZipEntry } from "./zip-directory.ts";

/** The limits of a member. */
export interface InflateLimits {
  /** Of the inflated member. */
  readonly bytesMax: number;
  /** Inflated bytes per stored byte, checked from `ratioFromBytes` on. */
  readonly ratioMax: number;
}

/** A real sheet can begin with a long run of equal rows; a bomb continues. */
const ratioFromBytes = 32 * 1024 ** 2;
const pieceBytes = 128 * 1024;

/**
 * The text of an XML part in pieces that never split a character. Rejects with `InvalidWorkbook` when the member is
 * damaged, not in UTF-8, or beyond the limits; pieces before that are unchecked.
 */
export async function* partText(
  file: FileHandle,
  { entry, limits }: { entry: ZipEntry; limits: InflateLimits },
): AsyncGenerator<string> {
  let rest: Buffer = Buffer.alloc(0);
  let isFirst = true;
  for await (const piece of checked(inflated(file, entry), { entry, limits })) {
    const bytes = rest.length === 0 ? piece : Buffer.concat([rest, piece]);
    const end = endOfCharacters(bytes);
    const text = utf8(bytes.subarray(0, end), entry);
    yield isFirst && text.startsWith("\ufeff") ? text.slice(1) : text;
    rest = bytes.subarray(end);
    isFirst = false;
  }
  if (rest.length > 0) throw notUtf8(entry);
}

/** Counts the bytes and compares them with the directory. */
async function* checked(
  pieces: AsyncIterable<Buffer>,
  { entry, limits }: { entry: ZipEntry; limits: InflateLimits },
): AsyncGenerator<Buffer> {
  refuseSize(entry, { size: entry.size, limits });
  let size = 0;
  let crc = 0;
  try {
    for await (const piece of pieces) {
      size += piece.length;
      crc = crc32(piece, crc);
      if (size > entry.size) throw damaged(entry);
      yield piece;
    }
  } catch (error) {
    // Errors of the disk are not the file's fault; all others come from zlib.
    if (error instanceof InvalidWorkbook || (error instanceof Error && "syscall" in error))
      throw error;
    throw damaged(entry, error);
  }
  if (size !== entry.size || crc !== entry.crc) throw damaged(entry);
}

function refuseSize(
  entry: ZipEntry,
  { size, limits }: { size: number; limits: InflateLimits },
): void {
  if (size > limits.bytesMax)
    throw new InvalidWorkbook(
      `The part ${shown(entry)} has more than ${Math.floor(limits.bytesMax / 1024 ** 2)} MiB unpacked`,
    );
  if (size > ratioFromBytes && size > entry.packedSize * limits.ratioMax)
    throw new InvalidWorkbook(
      `The part ${shown(entry)} is compressed more than ${limits.ratioMax} times`,
    );
}

function inflated(file: FileHandle, entry: ZipEntry): AsyncIterable<Buffer> {
  const packed = packedBytes(file, entry);
  if (entry.method === 0) return packed;
  if (entry.method !== 8)
    throw new InvalidWorkbook(`The part ${shown(entry)} is compressed with an unknown method`);
  const inflate = createInflateRaw({ chunkSize: pieceBytes });
  // An error of either ends the other; leaving the loop over `inflate` early ends both.
  pipeline(Readable.from(packed, { highWaterMark: 1 }), inflate, () => {});
  return inflate;
}

async function* packedBytes(file: FileHandle, entry: ZipEntry): AsyncGenerator<Buffer> {
  const header = await readBytes(file, { offset: entry.offset, size: 30 });
  const nameLength = header.readUInt16LE(26);
  const isSame =
    header.readUInt32LE(0) === 0x04034b50 &&
    header.readUInt16LE(8) === entry.method &&
    nameLength === Buffer.byteLength(entry.name);
  if (!isSame) throw damaged(entry);
  const start = entry.offset + 30 + nameLength + header.readUInt16LE(28);
  for (let at = 0; at < entry.packedSize; at += pieceBytes) {
    const size = Math.min(pieceBytes, entry.packedSize - at);
    yield await readBytes(file, { offset: start + at, size });
  }
}

/** Where the last whole character ends. */
function endOfCharacters(bytes: Buffer): number {
  for (let back = 1; back <= 3 && back <= bytes.length; back++) {
    const byte = bytes[bytes.length - back]!;
    if (byte < 0x80) break;
    if (byte < 0xc0) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    return length > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

function utf8(bytes: Buffer, entry: ZipEntry): string {
  if (!isUtf8(bytes)) throw notUtf8(entry);
  return bytes.toString("utf8");
}

const damaged = (entry: ZipEntry, cause?: unknown): InvalidWorkbook =>
  new InvalidWorkbook(`The part ${shown(entry)} of the file is damaged`, { cause });
const notUtf8 = (entry: ZipEntry): InvalidWorkbook =>
  new InvalidWorkbook(`The part ${shown(entry)} is not in UTF-8`);
/** Names come from the file and appear in messages. */
const shown = ({ name }: ZipEntry): string => name.replace(/[^\w./[\]-]/g, "?").slice(0, 80);

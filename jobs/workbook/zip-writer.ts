/**
 * A zip archive as a stream of bytes: every member is deflated while it is made, and its sizes follow in a data
 * descriptor. Only one directory entry per member is kept. The same members give the same bytes (on one runtime).
 */
import { Readable, pipeline } from "node:stream";
import { crc32, createDeflateRaw } from "node:zlib";

/** `name` in ASCII. `content` is read whole before the next member is asked for. */
export interface ZipMember {
  readonly name: string;
  readonly content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
}

/** Most bytes of a member, before and after compression: more needs zip64, which not every Excel reads. */
export const memberBytesMax = 0xffff_fffe;

/** The archive. Rejects when a member is larger than `memberBytesMax`. */
export const zipBytes = (members: AsyncIterable<ZipMember>): AsyncGenerator<Uint8Array> =>
  inBlocks(archive(members));

async function* archive(members: AsyncIterable<ZipMember>): AsyncGenerator<Uint8Array> {
  const entries: Entry[] = [];
  let offset = 0;
  for await (const { name, content } of members) {
    const entry: Entry = { name, offset, crc: 0, size: 0, packedSize: 0 };
    const header = localHeader(name);
    yield header;
    for await (const chunk of deflated(entry, content)) yield chunk;
    if (entry.size > memberBytesMax || entry.packedSize > memberBytesMax)
      throw new Error(`The part ${name} of the workbook has more than 4 GiB`);
    const descriptor = dataDescriptor(entry);
    yield descriptor;
    offset += header.length + entry.packedSize + descriptor.length;
    entries.push(entry);
  }
  yield directory(entries, offset);
}

interface Entry {
  readonly name: string;
  /** Of the local header, from the beginning of the archive. */
  readonly offset: number;
  crc: number;
  size: number;
  packedSize: number;
}

/**
 * Level 3 makes files as large as those of exceljs, in less time than the usual 6. The compression runs on a thread of
 * the pool, in parallel to making the content.
 */
const deflateOptions = { level: 3, chunkSize: 64 * 1024 };

async function* deflated(entry: Entry, content: ZipMember["content"]): AsyncGenerator<Uint8Array> {
  const counted = async function* (): AsyncGenerator<Uint8Array> {
    for await (const block of inBlocks(content)) {
      entry.crc = crc32(block, entry.crc);
      entry.size += block.length;
      yield block;
    }
  };
  const deflate = createDeflateRaw(deflateOptions);
  // An error of the content destroys `deflate` with it, and leaving the loop early ends the content.
  pipeline(Readable.from(counted(), { highWaterMark: 1 }), deflate, () => {});
  for await (const chunk of deflate as AsyncIterable<Uint8Array>) {
    entry.packedSize += chunk.length;
    yield chunk;
  }
}

/** Small pieces are joined: each step between threads (deflate, file) takes as long as compressing some 20 KB. */
const blockBytes = 128 * 1024;

async function* inBlocks(content: ZipMember["content"]): AsyncGenerator<Uint8Array> {
  let pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of content) {
    pieces.push(piece);
    bytes += piece.length;
    if (bytes < blockBytes) continue;
    yield Buffer.concat(pieces);
    pieces = [];
    bytes = 0;
  }
  yield Buffer.concat(pieces);
}

/** Deflated, sizes in the descriptor, name in UTF-8. */
const flags = 0x0808;
const versionNeeded = 20;
const methodDeflate = 8;
/** 1 January 1980, the first day that the format knows: the same table gives the same file. */
const firstDay = 0x0021;

function localHeader(name: string): Uint8Array {
  const header = Buffer.alloc(30 + name.length);
  header.writeUInt32LE(0x04034b50, 0);
  header.writeUInt16LE(versionNeeded, 4);
  header.writeUInt16LE(flags, 6);
  header.writeUInt16LE(methodDeflate, 8);
  header.writeUInt16LE(firstDay, 12);
  header.writeUInt16LE(name.length, 26);
  header.write(name, 30, "latin1");
  return header;
}

function dataDescriptor(entry: Entry): Uint8Array {
  const descriptor = Buffer.alloc(16);
  descriptor.writeUInt32LE(0x08074b50, 0);
  descriptor.writeUInt32LE(entry.crc, 4);
  descriptor.writeUInt32LE(entry.packedSize, 8);
  descriptor.writeUInt32LE(entry.size, 12);
  return descriptor;
}

const max32 = 0xffff_ffff;

/** The directory and the archive's end, in the zip64 form where the archive itself has grown beyond 4 GiB. */
function directory(entries: readonly Entry[], offset: number): Uint8Array {
  const records = Buffer.concat(entries.map(directoryEntry));
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(records.length, 12);
  end.writeUInt32LE(Math.min(offset, max32), 16);
  if (offset < max32) return Buffer.concat([records, end]);
  return Buffer.concat([records, zip64End(entries.length, { offset, size: records.length }), end]);
}

function directoryEntry(entry: Entry): Uint8Array {
  const isFar = entry.offset >= max32;
  const record = Buffer.alloc(46 + entry.name.length + (isFar ? 12 : 0));
  record.writeUInt32LE(0x02014b50, 0);
  record.writeUInt16LE(isFar ? 45 : versionNeeded, 4);
  record.writeUInt16LE(isFar ? 45 : versionNeeded, 6);
  record.writeUInt16LE(flags, 8);
  record.writeUInt16LE(methodDeflate, 10);
  record.writeUInt16LE(firstDay, 14);
  record.writeUInt32LE(entry.crc, 16);
  record.writeUInt32LE(entry.packedSize, 20);
  record.writeUInt32LE(entry.size, 24);
  record.writeUInt16LE(entry.name.length, 28);
  record.writeUInt16LE(isFar ? 12 : 0, 30);
  record.writeUInt32LE(Math.min(entry.offset, max32), 42);
  record.write(entry.name, 46, "latin1");
  if (isFar) {
    const extra = 46 + entry.name.length;
    record.writeUInt16LE(1, extra);
    record.writeUInt16LE(8, extra + 2);
    record.writeBigUInt64LE(BigInt(entry.offset), extra + 4);
  }
  return record;
}

/** The zip64 end of the directory, and the locator that points at it. */
function zip64End(count: number, directory: { offset: number; size: number }): Uint8Array {
  const end = Buffer.alloc(76);
  end.writeUInt32LE(0x06064b50, 0);
  end.writeBigUInt64LE(44n, 4);
  end.writeUInt16LE(45, 12);
  end.writeUInt16LE(45, 14);
  end.writeBigUInt64LE(BigInt(count), 24);
  end.writeBigUInt64LE(BigInt(count), 32);
  end.writeBigUInt64LE(BigInt(directory.size), 40);
  end.writeBigUInt64LE(BigInt(directory.offset), 48);
  end.writeUInt32LE(0x07064b50, 56);
  end.writeBigUInt64LE(BigInt(directory.offset + directory.size), 64);
  end.writeUInt32LE(1, 72);
  return end;
}

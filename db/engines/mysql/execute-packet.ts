/**
 * The packet that executes a prepared statement, written in one go. The driver makes an object and two functions of each
 * parameter, which is most of the time of a statement that stores 500 rows.
 */
import { Buffer } from "node:buffer";

/** What the driver needs of a packet to send it. */
export interface OutgoingPacket {
  readonly buffer: Buffer;
  /** In bytes; what is as long as the protocol's longest packet, or longer, goes in several. */
  length(): number;
  writeHeader(sequenceId: number): void;
}

/** The protocol's codes. */
const executeCommand = 0x17;
const types = { tiny: 1, double: 5, null: 6, longlong: 8, blob: 252, text: 253 } as const;
const unsigned = 0x80;

/** A head, the command, the statement, no cursor, and one iteration. */
const paramsAt = 4 + 1 + 4 + 1 + 4;
/** Of a value's length, at most. */
const lengthBytes = 9;
/** Of a text whose bytes are less than 251 in any case. */
const shortLength = 83;

/**
 * As the driver sends them, but for whole numbers: a bigint is the protocol's 64-bit integer. Throws TypeError for what
 * is no null, text, number, boolean or Uint8Array.
 */
export function executePacket(statementId: number, params: readonly unknown[]): OutgoingPacket {
  const count = params.length;
  // A bit of each parameter says whether it is null, and a byte that types follow.
  const typesAt = paramsAt + (count === 0 ? 0 : ((count + 7) >> 3) + 1);
  let bytesMax = typesAt + count * 2;
  for (const value of params) bytesMax += bytesMaxOf(value);
  const bytes = Buffer.allocUnsafe(bytesMax);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytesMax);
  view.setUint8(4, executeCommand);
  view.setUint32(5, statementId, true);
  view.setUint8(9, 0);
  view.setUint32(10, 1, true);
  bytes.fill(0, paramsAt, typesAt);
  if (count > 0) bytes[typesAt - 1] = 1;
  let at = typesAt + count * 2;
  for (let place = 0; place < count; place++) {
    const value = params[place];
    let type: number = types.text;
    let flag = 0;
    if (typeof value === "string") at = writeText(bytes, at, value);
    else if (value === null) {
      type = types.null;
      bytes[paramsAt + (place >> 3)]! |= 1 << (place & 7);
    } else if (typeof value === "bigint") {
      type = types.longlong;
      if (value > int64Max) flag = unsigned;
      view.setBigUint64(at, value, true);
      at += 8;
    } else if (typeof value === "number") {
      type = types.double;
      view.setFloat64(at, value, true);
      at += 8;
    } else if (typeof value === "boolean") {
      type = types.tiny;
      bytes[at++] = value ? 1 : 0;
    } else {
      type = types.blob;
      const own = value as Uint8Array;
      at = writeLength(bytes, at, own.byteLength);
      bytes.set(own, at);
      at += own.byteLength;
    }
    bytes[typesAt + place * 2] = type;
    bytes[typesAt + place * 2 + 1] = flag;
  }
  return packetOf(bytes.subarray(0, at));
}

const int64Max = 2n ** 63n - 1n;

function bytesMaxOf(value: unknown): number {
  if (typeof value === "string")
    return (
      lengthBytes + (value.length <= shortLength ? value.length * 3 : Buffer.byteLength(value))
    );
  if (value instanceof Uint8Array) return lengthBytes + value.byteLength;
  const isKnown =
    value === null ||
    typeof value === "bigint" ||
    typeof value === "number" ||
    typeof value === "boolean";
  if (!isKnown) throw new TypeError(`A parameter must not be of the type ${typeof value}`);
  return 8;
}

/** Returns where the text ends. */
function writeText(bytes: Buffer, at: number, text: string): number {
  const { length } = text;
  if (length > shortLength) {
    const from = writeLength(bytes, at, Buffer.byteLength(text));
    return from + bytes.write(text, from);
  }
  // For few characters, a call into the runtime takes longer than they do.
  for (let place = 0; place < length; place++) {
    const code = text.charCodeAt(place);
    if (code > 127) {
      bytes[at] = bytes.write(text, at + 1);
      return at + 1 + bytes[at];
    }
    bytes[at + 1 + place] = code;
  }
  bytes[at] = length;
  return at + 1 + length;
}

/** Returns where the value begins. */
function writeLength(bytes: Buffer, at: number, length: number): number {
  if (length < 251) {
    bytes[at] = length;
    return at + 1;
  }
  if (length < 0x1_00_00) {
    bytes[at] = 0xfc;
    return bytes.writeUInt16LE(length, at + 1);
  }
  if (length < 0x1_00_00_00) {
    bytes[at] = 0xfd;
    return bytes.writeUIntLE(length, at + 1, 3);
  }
  bytes[at] = 0xfe;
  return bytes.writeBigUInt64LE(BigInt(length), at + 1);
}

const packetOf = (buffer: Buffer): OutgoingPacket => ({
  buffer,
  // One more than without the head: the driver then ends what fills whole packets with an empty one, as it has to.
  length: () => buffer.length - 3,
  writeHeader(sequenceId) {
    buffer.writeUIntLE(buffer.length - 4, 0, 3);
    buffer[3] = sequenceId;
  },
});

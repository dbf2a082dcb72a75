/** `quick-dates.ts` makes the same texts of the same bytes as the driver does. */
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { readDateTimeString } from "../../db/engines/mysql/quick-dates.ts";

interface DriverPacket {
  readonly buffer: Buffer;
  offset: number;
  readDateTimeString: typeof readDateTimeString;
}

const require = createRequire(import.meta.url);
const file = join(dirname(require.resolve("mysql2/package.json")), "lib/packets/packet.js");
const used = require.cache[file];
// In the one that connections use, other tests of this process have replaced it.
delete require.cache[file];
const Packet = require(file) as new (
  id: number,
  buffer: Buffer,
  start: number,
  end: number,
) => DriverPacket;
require.cache[file] = used;
const { readDateTimeString: own } = Packet.prototype as DriverPacket;

/** Year, month, day, hours, minutes, seconds, microseconds: as many as are sent. */
function bytesOf(parts: readonly number[]): Buffer {
  const [year = 0, month = 0, day = 0, hours = 0, minutes = 0, seconds = 0, micros = 0] = parts;
  const whole = Buffer.from([0, 0, 0, month, day, hours, minutes, seconds, 0, 0, 0, 0]);
  whole.writeUInt16LE(year, 1);
  whole.writeUInt32LE(micros, 8);
  whole[0] = { 0: 0, 3: 4, 6: 7, 7: 11 }[parts.length]!;
  return whole.subarray(0, 1 + whole[0]);
}

const values = [
  [],
  [2026, 11, 30],
  [2026, 11, 30],
  [2026, 12, 30],
  [2025, 12, 30],
  [1, 1, 1],
  [999, 1, 2],
  [0, 0, 0],
  [9999, 12, 31, 23, 59, 59],
  [2026, 1, 2, 3, 4, 5],
  [2026, 0, 0, 0, 0, 0],
  [2026, 1, 2, 3, 4, 5, 6],
  [2026, 1, 2, 3, 4, 5, 120_000],
  [2026, 1, 2, 0, 0, 0, 999_999],
];
const asked = [0, 1, 3, 6, 31].flatMap((decimals) =>
  [null, "T"].flatMap((separator) =>
    [7, 10, 12, null].map((type) => [decimals, separator, type] as const),
  ),
);

test.each(asked)(
  "as the driver: %i decimals, separator %s, type %s",
  (decimals, separator, type) => {
    expect(own).not.toBe(readDateTimeString);
    // Two bytes that come before, and one of the next value.
    const bytes = Buffer.concat([Buffer.from("ab"), ...values.map(bytesOf), Buffer.from("c")]);
    const read = (method: typeof readDateTimeString) => {
      const packet = new Packet(0, bytes, 0, bytes.length);
      packet.offset = 2;
      const texts = values.map(() => method.call(packet, decimals, separator, type));
      expect(packet.offset).toBe(bytes.length - 1);
      return texts;
    };
    expect(read(readDateTimeString)).toEqual(read(own));
  },
);

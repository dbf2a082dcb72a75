/**
 * Dates and times of prepared statements as the texts that the driver makes of them, but several times as fast: it pads
 * and joins six parts of each, which in a list with one date in each row takes a seventh of the request's time. Replaces
 * a member of the driver that it does not document; `test/db/mysql-quick-dates.test.ts` compares the two.
 */

/** The packet that is being read, at the length of the value. */
interface Packet {
  readonly buffer: Buffer;
  offset: number;
}

interface Packets {
  readDateTimeString: typeof readDateTimeString;
}

/** For all packets of the driver. */
export function useQuickDates(packet: object): void {
  const packets = Object.getPrototypeOf(packet) as Packets;
  if (packets.readDateTimeString !== readDateTimeString)
    packets.readDateTimeString = readDateTimeString;
}

/** The codes of the types whose texts have a time even where it is midnight. */
const timestamp = 7;
const datetime = 12;

const two = Array.from({ length: 256 }, (_, number) => String(number).padStart(2, "0"));

/** Values of neighbouring rows are often of one day. */
let lastDay = { year: 1, month: 1, day: 1, text: "0001-01-01" };

function dayText(year: number, month: number, day: number): string {
  if (lastDay.day !== day || lastDay.month !== month || lastDay.year !== year) {
    const text = `${String(year).padStart(4, "0")}-${two[month]}-${two[day]}`;
    lastDay = { year, month, day, text };
  }
  return lastDay.text;
}

/** A value has no bytes, those of the day, also those of the time, or also those of the microseconds. */
export function readDateTimeString(
  this: Packet,
  decimals: number,
  separator: string | null,
  type: number | null,
): string {
  const { buffer, offset } = this;
  const length = buffer[offset]!;
  this.offset = offset + 1 + length;
  const year = buffer[offset + 1]! + buffer[offset + 2]! * 256;
  const day = length > 3 ? dayText(year, buffer[offset + 3]!, buffer[offset + 4]!) : "0000-00-00";
  if (length <= 6) return type === datetime || type === timestamp ? `${day} 00:00:00` : day;
  const [hours, minutes] = [two[buffer[offset + 5]!], two[buffer[offset + 6]!]];
  const text = `${day}${separator ?? " "}${hours}:${minutes}:${two[buffer[offset + 7]!]}`;
  if (length <= 10) return text;
  const micros = String(buffer.readUInt32LE(offset + 8));
  return `${text}.${decimals ? micros.padStart(6, "0").slice(0, decimals) : micros}`;
}

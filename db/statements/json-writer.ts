/**
 * Writes JSON as bytes, from the bytes of texts that a server sent. Most values are plain texts and digits, and
 * copying their bytes costs a fraction of making, converting and joining strings. All others go to `JSON.stringify`,
 * so the result is always the same as with it.
 */
import type { Json } from "../../core/values/json.ts";
import type { WrittenJson } from "../../core/values/ready-json.ts";

const startBytes = 65_536;
/** A shorter result is sent in one piece with its headers, as a text. */
const bytesMin = 16_384;
/** A longer buffer is released. */
const keptBytesMax = 1_048_576;

const quote = 0x22;
const backslash = 0x5c;
const zero = 0x30;
const nine = 0x39;
const minus = 0x2d;
const plus = 0x2b;
const point = 0x2e;
const colon = 0x3a;
const space = 0x20;

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** Invalid UTF-8 becomes U+FFFD. */
export const utf8Text = (bytes: Uint8Array): string => decoder.decode(bytes);

/** Methods that return a boolean write a value of the usual form. False: another form; nothing was written. */
export class JsonWriter {
  private bytes = new Uint8Array(startBytes);
  private end = 0;

  /** All that was written: long JSON as bytes, if they are valid. */
  written(isUtf8: (bytes: Uint8Array) => boolean): WrittenJson {
    const bytes = this.bytes.subarray(0, this.end);
    return this.end >= bytesMin && isUtf8(bytes) ? bytes.slice() : decoder.decode(bytes);
  }

  clear(): void {
    this.end = 0;
    if (this.bytes.length > keptBytesMax) this.bytes = new Uint8Array(startBytes);
  }

  /** Bytes of JSON. */
  raw(json: Uint8Array): void {
    const { length } = json;
    this.reserve(length);
    const { bytes } = this;
    let { end } = this;
    for (let at = 0; at < length; at++) bytes[end++] = json[at]!;
    this.end = end;
  }

  json(value: Json): void {
    const text = JSON.stringify(value);
    this.reserve(text.length * 3);
    this.end += encoder.encodeInto(text, this.bytes.subarray(this.end)).written;
  }

  boolean(value: boolean): void {
    this.raw(value ? trueBytes : falseBytes);
  }

  /** A text, with the escapes that it needs. */
  text(value: Uint8Array): void {
    const { length } = value;
    this.reserve(length + 2);
    const { bytes } = this;
    let { end } = this;
    bytes[end++] = quote;
    for (let at = 0; at < length; at++) {
      const byte = value[at]!;
      if (byte < space || byte === quote || byte === backslash) return this.json(utf8Text(value));
      bytes[end++] = byte;
    }
    bytes[end++] = quote;
    this.end = end;
  }

  /**
   * A number in plain decimal notation (`-12.50`, at most 15 characters), as `JSON.stringify` writes it; `isQuoted`: as
   * a text, in canonical form.
   */
  digits(value: Uint8Array, isQuoted = false): boolean {
    const { length } = value;
    const start = this.end + (isQuoted ? 1 : 0);
    if (length > 15) return false;
    this.copy(value, start);
    const { bytes } = this;
    const whole = bytes[start] === minus ? start + 1 : start;
    let stop = start + length;
    let pointAt = stop;
    for (let at = whole; at < stop; at++) {
      const byte = bytes[at]!;
      if (byte === point && pointAt === stop && at > whole) pointAt = at;
      else if (byte < zero || byte > nine) return false;
    }
    if (pointAt === whole) return false;
    const isBelowOne = bytes[whole] === zero;
    if (isBelowOne && pointAt > whole + 1) return false;
    if (pointAt < stop) {
      while (bytes[stop - 1] === zero) stop--;
      if (stop - 1 === pointAt) stop--;
    }
    // -0, and numbers so small that they have an exponent.
    const isMinusZero = whole > start && stop === whole + 1;
    if (isBelowOne && (isMinusZero || this.isTiny(pointAt, stop))) return false;
    if (isQuoted) this.keepQuoted(start, stop);
    else this.end = stop;
    return true;
  }

  /** `YYYY-MM-DD HH:MM:SS[.ffffff][+00]` as `showTimestamp` shows it. */
  timestamp(value: Uint8Array): boolean {
    let { length } = value;
    const start = this.end + 1;
    if (length < 19 || length > 29) return false;
    this.copy(value, start);
    const { bytes } = this;
    const zoneAt = start + length - 3;
    if (bytes[zoneAt] === plus && bytes[zoneAt + 1] === zero && bytes[zoneAt + 2] === zero)
      length -= 3;
    const hasFraction = length > 20 && length <= 26 && bytes[start + 19] === point;
    if (length !== 19 && !hasFraction) return false;
    if (!this.isDay(start) || bytes[start + 10] !== space || !this.isTime(start + 11)) return false;
    if (hasFraction && !this.areDigits(start + 20, start + length)) return false;
    bytes[start + 10] = 0x54;
    bytes[start + 19] = point;
    let stop = start + length;
    if (!hasFraction) stop++;
    while (stop > start + 23 && bytes[stop - 1] === zero) stop--;
    while (stop < start + 23) bytes[stop++] = zero;
    bytes[stop++] = 0x5a;
    this.keepQuoted(start, stop);
    return true;
  }

  /** `YYYY-MM-DD` */
  day(value: Uint8Array): boolean {
    const start = this.end + 1;
    if (value.length !== 10) return false;
    this.copy(value, start);
    if (!this.isDay(start)) return false;
    this.keepQuoted(start, start + 10);
    return true;
  }

  /** `HH:MM:SS` */
  time(value: Uint8Array): boolean {
    const start = this.end + 1;
    if (value.length !== 8) return false;
    this.copy(value, start);
    if (!this.isTime(start)) return false;
    this.keepQuoted(start, start + 8);
    return true;
  }

  /** Copies the value behind the end, to check it there. */
  private copy(value: Uint8Array, start: number): void {
    const { length } = value;
    this.reserve(length + copyRoom);
    const { bytes } = this;
    for (let at = 0; at < length; at++) bytes[start + at] = value[at]!;
  }

  /** Keeps the copy, from `start` to `stop`, as a quoted text. */
  private keepQuoted(start: number, stop: number): void {
    const { bytes } = this;
    bytes[start - 1] = quote;
    bytes[stop] = quote;
    this.end = stop + 1;
  }

  /** A year of zeros is not a date. */
  private isDay(start: number): boolean {
    const { bytes } = this;
    const isYear =
      this.areDigits(start, start + 4) &&
      (bytes[start]! | bytes[start + 1]! | bytes[start + 2]! | bytes[start + 3]!) !== zero;
    return (
      isYear &&
      bytes[start + 4] === minus &&
      this.areDigits(start + 5, start + 7) &&
      bytes[start + 7] === minus &&
      this.areDigits(start + 8, start + 10)
    );
  }

  private isTime(start: number): boolean {
    const { bytes } = this;
    return (
      this.areDigits(start, start + 2) &&
      bytes[start + 2] === colon &&
      this.areDigits(start + 3, start + 5) &&
      bytes[start + 5] === colon &&
      this.areDigits(start + 6, start + 8)
    );
  }

  private areDigits(start: number, stop: number): boolean {
    const { bytes } = this;
    for (let at = start; at < stop; at++) if (bytes[at]! < zero || bytes[at]! > nine) return false;
    return true;
  }

  /** Whether the fraction begins with five zeros. */
  private isTiny(pointAt: number, stop: number): boolean {
    const { bytes } = this;
    if (stop < pointAt + 7) return false;
    for (let at = pointAt + 1; at < pointAt + 6; at++) if (bytes[at] !== zero) return false;
    return true;
  }

  private reserve(room: number): void {
    const needed = this.end + room;
    if (needed <= this.bytes.length) return;
    const longer = new Uint8Array(Math.max(needed, this.bytes.length * 2));
    longer.set(this.bytes.subarray(0, this.end));
    this.bytes = longer;
  }
}

/** Room for two quotation marks and the suffix of a timestamp: `.000Z`. */
const copyRoom = 8;

const trueBytes = encoder.encode("true");
const falseBytes = encoder.encode("false");

/**
 * Writes log lines in batches, without waiting for them. A line that cannot be written is dropped and counted, because
 * a full disk or a pipe that is not read must not stop the service. When writing works again, one line reports the
 * count.
 */
import fs from "node:fs";
import { limits } from "../../../core/values/limits.ts";

/** How long an exit waits for the reader of the lines. */
const exitWaitMs = 500;
/** Pause before a full pipe is tried again. */
const fullPipeMs = 20;

export interface LogOutput {
  write(line: string): void;
  /** Starts to write the waiting lines. */
  flush(): void;
  /** Writes the waiting lines synchronously; gives up after the time. */
  flushSync(waitMs?: number): void;
}

export type LogFiles = Pick<typeof fs, "write" | "writeSync">;

export interface LogOutputOptions {
  readonly files?: LogFiles;
  /**
   * Bytes that are written at once, unless a single line has more. A pipe takes 4,096 as a whole, so that lines of
   * several processes do not mix. Absent: whatever is waiting.
   */
  readonly pieceBytes?: number;
}

/** `fd`: an open file. */
export function createLogOutput(
  fd: number,
  { files = fs, pieceBytes = Infinity }: LogOutputOptions = {},
): LogOutput {
  const lines: string[] = [];
  let waitingBytes = 0;
  /** The bytes being written: whole lines, except that a part of the first may be written already. */
  let batch: Buffer | null = null;
  let isWriting = false;
  let isCut = false;
  let dropped = 0;
  let told = 0;

  function next(): Buffer | null {
    if (batch !== null || lines.length === 0) return batch;
    told = dropped;
    const head = isCut ? "\n" : "";
    const piece = lines.splice(0, piecesOf(lines, pieceBytes)).join("");
    batch = Buffer.from(head + (told > 0 ? lossLine(told) : "") + piece);
    waitingBytes -= piece.length;
    return batch;
  }

  function wrote(bytes: number): void {
    if (bytes < batch!.length) {
      isCut = batch!.at(bytes - 1) !== newLine;
      batch = batch!.subarray(bytes);
      return;
    }
    batch = null;
    isCut = false;
    dropped -= told;
    told = 0;
  }

  /** The line that reports the number of dropped lines is not counted. */
  function drop(): void {
    let count = 0;
    for (const byte of batch!) if (byte === newLine) count++;
    dropped += Math.max(0, count - (told > 0 ? 1 : 0));
    batch = null;
    told = 0;
  }

  function flush(): void {
    const bytes = isWriting ? null : next();
    if (bytes === null) return;
    isWriting = true;
    files.write(fd, bytes, 0, bytes.length, null, (error, written) => {
      isWriting = false;
      if (error === null) {
        wrote(written);
        flush();
      } else if (!isFull(error)) drop();
      // A full pipe is tried again by the next flush.
    });
  }

  return {
    write(line) {
      if (waitingBytes > limits.logWaitingBytesMax) return void dropped++;
      lines.push(line);
      waitingBytes += line.length;
      if (waitingBytes >= limits.logBatchBytes) flush();
    },
    flush,
    flushSync(waitMs = exitWaitMs) {
      const untilMs = performance.now() + waitMs;
      for (let bytes = isWriting ? null : next(); bytes !== null; bytes = next()) {
        try {
          wrote(files.writeSync(fd, bytes));
        } catch (error) {
          if (!isFull(error)) return drop();
          if (performance.now() >= untilMs) return;
          Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, fullPipeMs);
        }
      }
    },
  };
}

/** How many of the lines, at least one, have together at most so many bytes. */
function piecesOf(lines: readonly string[], bytesMax: number): number {
  if (bytesMax === Infinity) return lines.length;
  let bytes = 0;
  const above = lines.findIndex((line) => (bytes += Buffer.byteLength(line)) > bytesMax);
  return above < 0 ? lines.length : Math.max(1, above);
}

const newLine = 10;

const isFull = (error: unknown): boolean => (error as { code?: unknown } | null)?.code === "EAGAIN";

const lossLine = (count: number): string =>
  `${JSON.stringify({ level: 40, time: new Date().toISOString(), lost: count, msg: "Lines of the log were lost, because they could not be written" })}\n`;

/**
 * Messages between the service and a reader process, over the reader's standard input and output. A frame is a length
 * (4 bytes) and a value in the format of `node:v8`, which keeps BigInts and bytes.
 */
import { Buffer } from "node:buffer";
import { deserialize, serialize } from "node:v8";
import type { Command, StreamCommand } from "../engine.ts";
import type { RawRow } from "../../statements/dialect.ts";
import type { FormulaFault } from "./formulas.ts";

/** Each is answered before the next one is sent. */
export type ToReader =
  | { readonly type: "open"; readonly path: string }
  | ({ readonly type: "send" } & Pick<Command, "text" | "params" | "reuse" | "isNative">)
  | ({ readonly type: "stream" } & Pick<StreamCommand, "text" | "params" | "batchRows">)
  /** Asks for the next batch of the stream. */
  | { readonly type: "next" }
  /** Ends the stream before its last batch. */
  | { readonly type: "stop" };

/** `rows` come before the `done` of the same statement; all others are an answer. */
export type FromReader =
  | { readonly type: "rows"; readonly rows: RawRow[] }
  | {
      readonly type: "done";
      readonly matched: number;
      readonly fields: readonly unknown[] | undefined;
    }
  | { readonly type: "batch"; readonly rows: RawRow[] }
  | { readonly type: "failed"; readonly error: SentError };

/** An error with what `failure.ts` reads of it. */
export interface SentError {
  readonly message: string;
  readonly code: string | null;
  readonly formula: FormulaFault["kind"] | null;
}

const headBytes = 4;

export function frameOf(message: ToReader | FromReader): Buffer {
  const body = serialize(message);
  const frame = Buffer.allocUnsafe(headBytes + body.length);
  frame.writeUInt32LE(body.length);
  frame.set(body, headBytes);
  return frame;
}

export const messageOf = (body: Uint8Array): unknown => deserialize(body);

/** Takes the bytes as they come, and calls `take` with the body of each frame that is complete. */
export function createFrames(take: (body: Buffer) => void): (chunk: Buffer) => void {
  let chunks: Buffer[] = [];
  let bytes = 0;
  let needed = headBytes;
  return (chunk) => {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes < needed) return;
    let rest = chunks.length === 1 ? chunk : Buffer.concat(chunks);
    for (;;) {
      needed = headBytes + (rest.length < headBytes ? 0 : rest.readUInt32LE());
      if (rest.length < needed || rest.length < headBytes) break;
      take(rest.subarray(headBytes, needed));
      rest = rest.subarray(needed);
    }
    chunks = rest.length > 0 ? [rest] : [];
    bytes = rest.length;
  };
}

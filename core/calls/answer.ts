/** What actions answer, and the forms of answers that descriptions of the service are made from. */
import type { AnsweredTable } from "../plans/export-plan.ts";
import type { HookCall } from "../plans/hook-call.ts";
import type { Json } from "../values/json.ts";
import type { WrittenJson } from "../values/ready-json.ts";
import type { JsonSchema } from "../values/json-schema.ts";

/** A successful answer; the edge adds `success` and `timestamp`. */
export interface Answer {
  readonly status: 200 | 201 | 207;
  /** Members of the envelope in the order in which they are shown. */
  readonly body: Record<string, unknown>;
  /** JSON of an object whose members follow those of the body. It is sent unchanged, without being parsed. */
  readonly rest?: WrittenJson;
  /** True: the body is the whole answer, without `success` and `timestamp`. */
  readonly isBare?: boolean | undefined;
  readonly etag?: string;
  /** The language of its messages about fields; absent: it was not chosen. */
  readonly language?: string;
  /** The envelope's time; absent: now. */
  readonly answeredAt?: string;
  /** True: an earlier request with the same Idempotency-Key got this answer. */
  readonly isReplayed?: boolean;
  /** Hook calls to make after the commit. */
  readonly later?: readonly HookCall[];
  /** The answer is this file instead of JSON. */
  readonly file?: AnsweredFile;
  /** The answer is this stream, which goes on until the client leaves. */
  readonly stream?: AnsweredStream;
  /** The answer is this table as csv instead of JSON. */
  readonly table?: AnsweredTable;
  /**
   * The key of the record in `data`, in the form of `keyAsJson`. A replay of the answer shows the record only if the
   * caller may see it at that time.
   */
  readonly subject?: readonly Json[];
  /** The same for each record of a list in `data` or `results`; null = it is gone, or was refused. */
  readonly subjects?: readonly (readonly Json[] | null)[];
  /** Of a batch: what a replay needs to know of each step. */
  readonly steps?: readonly AnsweredStep[];
}

export interface AnsweredStep {
  /** Of `Handler.viewKey` at that time; null: the step failed. */
  readonly view: string | null;
  readonly subject?: readonly Json[];
  readonly subjects?: readonly (readonly Json[] | null)[];
}

export interface AnsweredStream {
  readonly mediaType: string;
  open(): ReadableStream<Uint8Array<ArrayBuffer>>;
}

export interface AnsweredFile {
  /** The file name for the download. */
  readonly name: string;
  readonly mediaType: string;
  readonly bytes: number;
  /** A strong ETag: clients may keep the file, and ask whether it is still the same. Absent: they may not. */
  readonly etag?: string;
  /** True: browsers show it instead of saving it. Absent: never. */
  readonly isInline?: boolean;
  /** The bytes, or those from `start` to `end`, both included. */
  read(range?: { start: number; end: number }): Promise<ReadableStream<Uint8Array<ArrayBuffer>>>;
}

/** The form of a successful answer: its members without the envelope's `success` and `timestamp`, or a file. */
export type AnswerForm = JsonForm | FileForm;

export interface JsonForm {
  readonly status: 200 | 201 | 207;
  readonly schema: JsonSchema;
  /** True: the schema is that of the whole answer, which has no envelope. Absent: it has one. */
  readonly isBare?: boolean;
  /** True: an answer that shows a record has its ETag. Absent: there is none. */
  readonly hasEtag?: boolean;
  /** Further successful answers, by their status. Absent: there are none. */
  readonly others?: Readonly<Partial<Record<200 | 207, JsonSchema>>>;
}

export interface FileForm {
  readonly status: 200;
  readonly mediaTypes: readonly string[];
  /** True: answers have an ETag, and 304 for If-None-Match. Absent: never. */
  readonly hasEtag?: boolean;
}

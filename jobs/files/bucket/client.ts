/**
 * Calls to one bucket: signed, limited in time, and repeated when the service is busy or the network fails. Needs only
 * `fetch` and Web Crypto, so it runs on all runtimes. Every failure is `unavailable`; the cause has the reason.
 */
import { AwsClient } from "aws4fetch";
import { type AppError, unavailable } from "../../../core/values/errors.ts";
import { bucketLimits } from "./bucket-limits.ts";
import type { BucketKeys } from "../../../core/jobs/storage-url.ts";
import { textIn } from "./answers.ts";

/** Where a bucket is, and the keys to it. */
export interface BucketAddress {
  /** The address without a final slash: `https://shop.s3.eu-central-1.amazonaws.com`, `http://minio:9000/shop`. */
  readonly url: string;
  readonly region: string;
  readonly keys: BucketKeys;
}

/** One call to the bucket, signed when it is sent. */
export interface BucketCall {
  readonly method: "GET" | "HEAD" | "PUT" | "POST" | "DELETE";
  /** With the prefix; absent: the bucket itself. */
  readonly key?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array<ArrayBuffer>;
  /** Default: `bucketLimits.answerMs`, and the time that a slow line needs for the body. All tries together. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

/** An answer that was read to its end. */
export interface BucketAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** Calls to one bucket. */
export interface BucketClient {
  /** A 404 about a key counts as success. Rejects with `unavailable`, or with the reason of `signal`. */
  ask(call: BucketCall): Promise<BucketAnswer>;
  /** Like `ask`, but the caller reads the body of a success, without this time limit. Null: 404. */
  open(call: BucketCall): Promise<Response | null>;
}

/** Nothing is sent before the first call. */
export function createBucketClient({ url, region, keys }: BucketAddress): BucketClient {
  const { accessKeyId, secretAccessKey, sessionToken } = keys;
  const signer = new AwsClient({
    accessKeyId,
    secretAccessKey,
    ...(sessionToken !== undefined && { sessionToken }),
    service: "s3",
    region,
  });

  async function send(call: BucketCall, signal: AbortSignal): Promise<Response> {
    const { method, key, query = {}, headers, body } = call;
    const address = new URL(key === undefined ? url : `${url}/${key}`);
    address.search = new URLSearchParams(query).toString();
    const hash = body && { "x-amz-content-sha256": await sha256(body) };
    const request = await signer.sign(address, {
      method,
      headers: { ...headers, ...hash },
      ...(body && { body }),
    });
    return fetch(request, { signal, redirect: "manual" });
  }

  /** `take` is part of the try: its rejection counts as a network failure. */
  async function sendWithRetries<T>(
    call: BucketCall,
    take: (answer: Response) => Promise<T>,
  ): Promise<T> {
    const overdue = new AbortController();
    const timer = setTimeout(() => overdue.abort(), call.timeoutMs ?? defaultTimeoutMs(call));
    const signal = call.signal ? AbortSignal.any([overdue.signal, call.signal]) : overdue.signal;
    try {
      for (let tries = 1; ; tries++) {
        const outcome = await send(call, signal).then(take).catch(asTrouble);
        if (!(outcome instanceof Trouble)) return outcome;
        call.signal?.throwIfAborted();
        if (overdue.signal.aborted) throw outOfReach(call, "no answer in time");
        if (!outcome.mayPass || tries >= bucketLimits.triesMax)
          throw outOfReach(call, outcome.message, outcome.cause);
        await pause(bucketLimits.retryMs * 2 ** (tries - 1) * (0.5 + Math.random() / 2));
      }
    } finally {
      clearTimeout(timer);
    }
  }

  return {
    ask: (call) => sendWithRetries(call, takeWhole),
    open: (call) => sendWithRetries(call, takeOpen),
  };
}

/** Why a try failed. */
class Trouble extends Error {
  override readonly name = "Trouble";
  readonly mayPass: boolean;

  constructor(message: string, { mayPass, cause }: { mayPass: boolean; cause?: unknown }) {
    super(message, { cause });
    this.mayPass = mayPass;
  }
}

const asTrouble = (error: unknown): Trouble =>
  error instanceof Trouble
    ? error
    : new Trouble("the network failed", { mayPass: true, cause: error });

async function takeWhole(answer: Response): Promise<BucketAnswer> {
  const { status, headers } = answer;
  const text = await textOf(answer);
  if (!isSuccess(status, text)) throw refusal(status, text);
  return { status, headers, text };
}

async function takeOpen(answer: Response): Promise<Response | null> {
  if (answer.ok) return answer;
  const text = await textOf(answer);
  if (!isSuccess(answer.status, text)) throw refusal(answer.status, text);
  return null;
}

/** The body as text. Rejects, without a further try, when it is longer than any answer of a bucket. */
async function textOf({ body }: Response): Promise<string> {
  if (!body) return "";
  const decoder = new TextDecoder();
  let size = 0;
  let text = "";
  for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) {
    size += chunk.byteLength;
    if (size > bucketLimits.answerBytesMax)
      throw new Trouble("the answer is too long", { mayPass: false });
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

/** The answer to joining the parts can begin as a success and end in an error. */
const isSuccess = (status: number, text: string): boolean =>
  status === 404
    ? textIn(text, "Code") !== "NoSuchBucket"
    : status >= 200 && status < 300 && !/<Error[\s>]/.test(text.slice(0, 1_000));

function refusal(status: number, text: string): Trouble {
  const code = textIn(text, "Code");
  const words = [status, code, textIn(text, "Message")].filter((word) => word !== null);
  const mayPass = status >= 500 || status === 429 || status < 300 || code === "RequestTimeout";
  return new Trouble(words.join(" "), { mayPass });
}

/** The URL is named without its query, which could contain secrets. */
function outOfReach({ method, key = "" }: BucketCall, reason: string, cause?: unknown): AppError {
  const detail = new Error(`The bucket did not do ${method} /${key}: ${reason}`, { cause });
  return unavailable("The file storage is not reachable; try again later", detail);
}

const defaultTimeoutMs = ({ body }: BucketCall): number =>
  bucketLimits.answerMs + Math.ceil((body?.byteLength ?? 0) / bucketLimits.bytesPerMsMin);

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** What handlers answer: plain parts, so that a server can write them as they are, and everything else makes a `Response` of them. */

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Null: none. */
  readonly body: string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> | null;
}

export const toResponse = ({ status, headers, body }: Reply): Response =>
  new Response(body, { status, headers });

/** The reply with further headers; values of a field that it has already are added to it. */
export function extended(reply: Reply, more: Readonly<Record<string, string>>): Reply {
  const headers: Record<string, string> = { ...reply.headers };
  for (const [name, value] of Object.entries(more))
    headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`;
  return { ...reply, headers };
}

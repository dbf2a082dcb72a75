/** The reply of a handler, as plain parts: servers can write them directly, and `fetch` makes a `Response` of them. */

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> | null;
}

export interface TextReply extends Reply {
  readonly body: string;
}

export const toResponse = ({ status, headers, body }: Reply): Response =>
  new Response(body, { status, headers });

/** The reply with further headers; values of an existing field are added to it. */
export function extended<Kind extends Reply>(
  reply: Kind,
  more: Readonly<Record<string, string>>,
): Kind {
  const headers: Record<string, string> = { ...reply.headers };
  for (const [name, value] of Object.entries(more))
    headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`;
  return { ...reply, headers };
}

/** How PostgreSQL is asked to stop a statement: over a connection of its own, which says nothing else. */
import net from "node:net";

/** What the server asks of those who want to cancel a session's statement. */
export interface Backend {
  readonly pid: number;
  readonly secret: number;
}

interface Listening {
  readonly host: string;
  readonly port: number;
  /** Of a Unix socket; then host and port do not count. */
  readonly path: string | null;
  readonly isPooled: boolean;
}

/** Asks the server to stop what the session does; resolves when it has closed that connection, which has no TLS. Best effort, never rejects. */
export function requestCancel(
  { host, port, path, isPooled }: Listening,
  { pid, secret }: Backend,
): Promise<unknown> {
  const request = Buffer.alloc(16);
  // The length of the message, and the number that makes it a cancel request.
  for (const [index, word] of [16, 80_877_102, pid, secret].entries()) {
    request.writeUInt32BE(word, index * 4);
  }
  const socket = path ? net.connect({ path }) : net.connect({ host, port });
  socket.on("error", () => {});
  socket.setTimeout(1_000, () => socket.destroy());
  socket.resume();
  // A pooler forgets the requests of clients that have left.
  if (isPooled) socket.write(request);
  else socket.end(request);
  return new Promise((resolve) => socket.once("close", resolve));
}

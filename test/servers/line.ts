/** Counts how often a client waits for a server. */
import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";

export interface Line {
  readonly host: string;
  /** Times that the service sent something after an answer. */
  turns: number;
  close(): void;
}

/** A stretch of network before a server, that counts. */
export async function openLine({ hostname, port }: URL): Promise<Line> {
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    let isAnswered = true;
    client.on("data", (bytes) => {
      if (isAnswered) line.turns++;
      isAnswered = false;
      upstream.write(bytes);
    });
    upstream.on("data", (bytes) => {
      isAnswered = true;
      client.write(bytes);
    });
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const)
      one.on("error", () => undefined).on("close", () => other.destroy());
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const line: Line = {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    turns: 0,
    close: () => void server.close(),
  };
  return line;
}

/** A stretch of network before a test's server that loses calls or answers, or answers in the server's place. */
import {
  createServer,
  type IncomingMessage,
  request as forward,
  type ServerResponse,
} from "node:http";
import { buffer } from "node:stream/consumers";
import { once } from "node:events";
import type { AddressInfo } from "node:net";

/** What happens to a call: it is lost, its answer is lost, the network answers it, or (null) it passes unchanged. */
export type Fate =
  | "lose the call"
  | "lose the answer"
  | { status: number; body: string; location?: string }
  | null;

export interface Network {
  /** To be used instead of the server's origin. */
  readonly origin: string;
  /** `PUT /bucket/key?partNumber=1&…`, in the order in which they came. */
  readonly calls: { readonly line: string; readonly headers: IncomingMessage["headers"] }[];
  close(): Promise<void>;
}

/** `fateOf` is called once per call, with its line. */
export async function startNetwork(
  serverUrl: string,
  fateOf: (line: string) => Fate,
): Promise<Network> {
  const calls: Network["calls"] = [];
  const { hostname, port } = new URL(serverUrl);

  async function pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const line = `${request.method} ${request.url}`;
    calls.push({ line, headers: request.headers });
    const fate = fateOf(line);
    const body = await buffer(request);
    if (fate === "lose the call") return void request.socket.destroy();
    if (fate !== null && fate !== "lose the answer")
      return void response
        .writeHead(fate.status, fate.location === undefined ? {} : { location: fate.location })
        .end(fate.body);
    const { method, url, headers } = request;
    const onward = forward({ hostname, port, method, path: url, headers }).end(body);
    const [answer] = (await once(onward, "response")) as [IncomingMessage];
    const answered = await buffer(answer);
    if (fate === "lose the answer") return void request.socket.destroy();
    response.writeHead(answer.statusCode!, answer.headers).end(answered);
  }

  const network = createServer((request, response) => {
    pass(request, response).catch(() => request.socket.destroy());
  });
  await once(network.listen(0, "127.0.0.1"), "listening");
  return {
    origin: `http://127.0.0.1:${(network.address() as AddressInfo).port}`,
    calls,
    async close() {
      network.closeAllConnections();
      await new Promise((resolve) => network.close(resolve));
    },
  };
}

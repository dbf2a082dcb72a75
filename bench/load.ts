/** Sends requests from a fixed number of connections for a fixed time, and counts the answers. */
import { Agent, request } from "node:http";

export interface Load {
  readonly path: string;
  /** Makes the body of the nth request. */
  body(at: number): string;
  readonly expectedStatus: number;
}

const connections = 16;

/** Answers per second. Rejects when one of them has another status than expected. */
export async function measure(origin: string, load: Load, durationMs: number): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const endMs = performance.now() + durationMs;
  let sent = 0;
  const client = async () => {
    while (performance.now() < endMs)
      await post(agent, `${origin}${load.path}`, load.body(sent++), load.expectedStatus);
  };
  const startedMs = performance.now();
  await Promise.all(Array.from({ length: connections }, client));
  agent.destroy();
  return sent / ((performance.now() - startedMs) / 1000);
}

function post(agent: Agent, url: string, body: string, expectedStatus: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = {
      "Content-Type": "application/json",
      "Content-Length": Buffer.byteLength(body),
    };
    const call = request(url, { method: "POST", agent, headers }, (response) => {
      let text = "";
      response.on("data", (chunk) => (text += chunk));
      response.on("end", () => {
        if (response.statusCode === expectedStatus) resolve();
        else reject(new Error(`${url} answered ${response.statusCode}: ${text}`));
      });
    });
    call.on("error", reject);
    call.end(body);
  });
}

/** Sends requests from a fixed number of connections for a fixed time, and counts the answers or times each of them. */
import { setTimeout as sleep } from "node:timers/promises";
import { Agent, request } from "node:http";

export interface Load {
  readonly path: string;
  /** Default: POST. */
  readonly method?: "GET" | "POST";
  readonly headers?: Readonly<Record<string, string>>;
  /** Makes the body of the nth request. */
  body(at: number): string;
  readonly expectedStatus: number;
  /** Requests at the same time; default 16. */
  readonly connections?: number;
  /** Of each connection, between an answer and its next request; default: none. */
  readonly pauseMs?: number;
}

/** Answers per second. Rejects when one of them has another status than expected. */
export async function measure(origin: string, load: Load, durationMs: number): Promise<number> {
  const startedMs = performance.now();
  const times = await latencies(origin, load, durationMs);
  return times.length / ((performance.now() - startedMs) / 1000);
}

/** The milliseconds that each answer took. Rejects as `measure`. */
export async function latencies(origin: string, load: Load, durationMs: number): Promise<number[]> {
  const { connections = 16, pauseMs } = load;
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const endMs = performance.now() + durationMs;
  const times: number[] = [];
  let sent = 0;
  const client = async () => {
    while (performance.now() < endMs) {
      const startMs = performance.now();
      await send(agent, `${origin}${load.path}`, load, load.body(sent++));
      times.push(performance.now() - startMs);
      if (pauseMs !== undefined) await sleep(pauseMs);
    }
  };
  await Promise.all(Array.from({ length: connections }, client));
  agent.destroy();
  return times;
}

function send(agent: Agent, url: string, load: Load, body: string): Promise<void> {
  const { method = "POST", expectedStatus } = load;
  const sized = { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body) };
  const headers = { ...(method === "POST" && sized), ...load.headers };
  return new Promise((resolve, reject) => {
    const call = request(url, { method, agent, headers }, (response) => {
      let text = "";
      response.on("data", (chunk) => (text += chunk));
      response.on("end", () => {
        if (response.statusCode === expectedStatus) resolve();
        else reject(new Error(`${url} answered ${response.statusCode}: ${text}`));
      });
    });
    call.on("error", reject);
    call.end(method === "POST" ? body : undefined);
  });
}

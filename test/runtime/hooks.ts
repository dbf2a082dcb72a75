/**
 * Calls a server (its host is the first argument) that misbehaves in every way, and refused addresses, through the
 * client for hooks. Prints one JSON document, call -> outcome, which `runtime-hooks.test.ts` compares between Node, Bun
 * and Deno.
 */
import process from "node:process";
import { createOutbound } from "../../app/outbound/outbound-client.ts";

const host = process.argv[2] ?? "";
const port = new URL(`http://${host}`).port;
const timeoutMs = 700;

const outbound = createOutbound({
  allowedHosts: [host, `named.test:${port}`],
  own: () => new Response("own", { status: 207 }),
  resolve: async (name) => (name === "named.test" ? ["127.0.0.1"] : ["10.0.0.1"]),
});

const calls = [
  `http://${host}/fine`,
  `http://${host}/status/404`,
  `http://${host}/redirect?to=/secret`,
  `http://named.test:${port}/named`,
  "/api/a/b/c",
  ...["silent", "drip-head", "drip-body", "huge", "closes", "closes-late", "garbage"].map(
    (peer) => `http://${host}/${peer}`,
  ),
  `http://other.test:${port}/`,
  `http://localhost:${port}/`,
  `http://0.0.0.0:${port}/`,
  `http://[::ffff:127.0.0.1]:${port}/`,
  `https://${host}/`,
];

const outcomes: Record<string, unknown> = {};
for (const url of calls) {
  const startMs = performance.now();
  const outcome = await outbound
    .send({
      method: "POST",
      url,
      headers: { "Content-Type": "application/json", "X-Request-Id": "r1" },
      body: '{"a":"ü"}',
      timeoutMs,
    })
    .then(
      ({ status }) => status,
      () => "failed",
    );
  const tookMs = performance.now() - startMs;
  outcomes[url] = tookMs < timeoutMs + 500 ? outcome : `${outcome} after ${tookMs} ms`;
}
console.log(JSON.stringify(outcomes));
process.exit(0);

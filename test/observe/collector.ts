/** A collector of traces as a real HTTP server: takes what OpenTelemetry's exporters send, and shows it to tests. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { gunzipSync } from "node:zlib";
import { expect } from "vitest";

/** A span, with its attributes as a plain object. */
export interface CollectedSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** Absent: the first of its trace. */
  readonly parentSpanId?: string;
  readonly traceState?: string;
  readonly name: string;
  /** 2 = server, 3 = client, 5 = consumer. */
  readonly kind: number;
  /** Of the process that sent it. */
  readonly service: string;
  readonly pid: number;
  readonly attributes: Readonly<Record<string, unknown>>;
  /** 2 = error. */
  readonly status: { readonly code?: number };
  readonly startMs: number;
  readonly endMs: number;
}

export interface Received {
  readonly path: string;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: Buffer;
}

export interface Collector {
  /** For OTEL_EXPORTER_OTLP_ENDPOINT. */
  readonly url: string;
  readonly received: Received[];
  /** What every request is answered with; 200 at first. */
  status: number;
  /** Of all that was sent as JSON. */
  spans(): readonly CollectedSpan[];
  /** Waits for as many spans as the test knows of, and fails when they do not come. */
  finds(isWanted: (span: CollectedSpan) => boolean, count?: number): Promise<CollectedSpan[]>;
  /** Variables with which a service sends its spans here, quickly. */
  readonly env: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

export async function startCollector(port = 0): Promise<Collector> {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { url: path = "", headers } = request;
      const sent = Buffer.concat(chunks);
      const body = headers["content-encoding"] === "gzip" ? gunzipSync(sent) : sent;
      if (collector.status < 300) received.push({ path, headers, body });
      response.writeHead(collector.status, { "Content-Type": "application/json" }).end("{}");
    });
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const spans = (): CollectedSpan[] =>
    received
      .filter(({ headers }) => headers["content-type"] === "application/json")
      .flatMap(({ body }) => spansIn(JSON.parse(body.toString())));
  const collector: Collector = {
    url,
    received,
    status: 200,
    spans,
    async finds(isWanted, count = 1) {
      await expect
        .poll(() => spans().filter(isWanted).length, { timeout: 15_000 })
        .toBeGreaterThanOrEqual(count);
      return spans().filter(isWanted);
    },
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: url,
      OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
      OTEL_BSP_SCHEDULE_DELAY: "20",
    },
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
  return collector;
}

interface Sent {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly SentAttribute[] };
    readonly scopeSpans: readonly { readonly spans: readonly SentSpan[] }[];
  }[];
}

interface SentAttribute {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}

type SentSpan = Omit<CollectedSpan, "attributes"> & {
  readonly attributes: readonly SentAttribute[];
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
};

const spansIn = ({ resourceSpans }: Sent): CollectedSpan[] =>
  resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) =>
      spans.map((span) => ({
        ...span,
        attributes: plain(span.attributes),
        service: String(plain(resource.attributes)["service.name"]),
        pid: Number(plain(resource.attributes)["process.pid"]),
        startMs: Number(span.startTimeUnixNano) / 1e6,
        endMs: Number(span.endTimeUnixNano) / 1e6,
      })),
    ),
  );

const plain = (attributes: readonly SentAttribute[]): Record<string, unknown> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));

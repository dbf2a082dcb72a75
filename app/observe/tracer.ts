/**
 * OpenTelemetry's tracer, set up without its global registry. Spans are sent in batches by a queue of limited length,
 * and an unreachable collector costs the service only a log line.
 */
import {
  type Sampler,
  type SpanExporter,
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ConsoleSpanExporter,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import type { Tracer } from "@opentelemetry/api";
import { ExportResultCode } from "@opentelemetry/core";
import { OTLPExporterBase } from "@opentelemetry/otlp-exporter-base";
import {
  createOtlpHttpExportDelegate,
  httpAgentFactoryFromOptions,
} from "@opentelemetry/otlp-exporter-base/node-http";
import {
  JsonTraceSerializer,
  ProtobufTraceSerializer,
  TraceExporterMetricsHelper,
} from "@opentelemetry/otlp-transformer";
import { defaultResource, resourceFromAttributes } from "@opentelemetry/resources";
import process from "node:process";
import { createReach } from "../../core/cache/reach.ts";
import type { Log } from "../../core/plans/log-port.ts";
import { limits } from "../../core/values/limits.ts";
import { withTimeout } from "../../core/values/with-timeout.ts";
import type { TraceSettings } from "./trace-settings.ts";

export interface OpenedTracer {
  readonly tracer: Tracer;
  /** Sends the spans that are left, until `untilMs` (clock of `performance.now()`). Never rejects. */
  close(untilMs: number): Promise<void>;
}

export function openTracer(settings: TraceSettings, log: Log): OpenedTracer {
  // A worker runs its jobs in a thread, which sends the spans of their statements itself.
  const own = { "process.pid": process.pid };
  const provider = new TracerProvider({
    resource: defaultResource().merge(resourceFromAttributes({ ...own, ...settings.resource })),
    sampler: samplerOf(settings),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: forgiving(exporterOf(settings), log),
        scheduledDelayMillis: settings.delayMs,
        exportTimeoutMillis: settings.timeoutMs + limits.traceGraceMs,
        maxQueueSize: limits.tracedSpansMax,
      }),
    ],
  });
  return {
    tracer: provider.getTracer("rowgate"),
    async close(untilMs) {
      const timeoutMs = Math.max(untilMs - performance.now(), 0);
      const closing = provider.shutdown().catch(() => undefined);
      await withTimeout(closing, { timeoutMs, onTimeout: () => undefined });
    },
  };
}

function exporterOf(settings: TraceSettings): SpanExporter {
  if (settings.exporter === "console") return new ConsoleSpanExporter();
  const isJson = settings.protocol === "http/json";
  const type = isJson ? "application/json" : "application/x-protobuf";
  const headers = { ...settings.headers, "Content-Type": type };
  return new OTLPExporterBase(
    createOtlpHttpExportDelegate(
      {
        url: settings.url,
        headers: async () => ({ ...headers }),
        compression: settings.compression,
        timeoutMillis: settings.timeoutMs,
        concurrencyLimit: limits.traceExportsAtOnceMax,
        agentFactory: httpAgentFactoryFromOptions({ keepAlive: true }),
      },
      isJson ? JsonTraceSerializer : ProtobufTraceSerializer,
      isJson ? "otlp_http_json_span_exporter" : "otlp_http_span_exporter",
      TraceExporterMetricsHelper,
      undefined,
    ),
  );
}

/** An exporter whose failures are logged once, and when they end. The spans of a failed batch are lost. */
function forgiving(exporter: SpanExporter, log: Log): SpanExporter {
  const reach = createReach({
    log,
    away: "The collector of traces does not take spans; they are dropped until it does",
    back: "The collector of traces takes spans again",
  });
  return {
    export(spans, done) {
      exporter.export(spans, ({ code, error }) => {
        if (code === ExportResultCode.SUCCESS) reach.succeeded();
        else reach.failed(error);
        done({ code: ExportResultCode.SUCCESS });
      });
    },
    shutdown: () => exporter.shutdown(),
  };
}

function samplerOf({ sampler, samplerRatio }: TraceSettings): Sampler {
  const name = sampler.replace("parentbased_", "");
  const root =
    name === "always_on"
      ? new AlwaysOnSampler()
      : name === "always_off"
        ? new AlwaysOffSampler()
        : new TraceIdRatioBasedSampler(samplerRatio);
  return sampler.startsWith("parentbased_") ? new ParentBasedSampler({ root }) : root;
}

/** The standard variables of OpenTelemetry that switch traces on, as `env.ts` reads them. */
import { z } from "zod";
import { limits } from "../../../core/values/limits.ts";
import type { TraceSettings } from "../../observe/trace-settings.ts";

const url = z
  .string()
  .refine((text) => /^https?:\/\/./.test(text) && URL.canParse(text), {
    error: "must be an address such as http://localhost:4318",
  });
const protocol = z.enum(["http/protobuf", "http/json"], {
  error: 'must be "http/protobuf" or "http/json"',
});
const timeout = z
  .string()
  .regex(/^[1-9]\d{0,6}$/, "must be a number of milliseconds, at least 1")
  .transform(Number);
const compression = z.enum(["gzip", "none"], { error: 'must be "gzip" or "none"' });

/** `name=value,name=value`, with percent signs as in a URL. */
const pairs = z.string().transform((text, context): Record<string, string> => {
  try {
    return Object.fromEntries(
      text
        .split(",")
        .filter((pair) => pair.trim() !== "")
        .map((pair) => {
          const [, name = "", value = ""] = /^\s*([^=\s]+)\s*=(.*)$/s.exec(pair)!;
          return [decodeURIComponent(name), decodeURIComponent(value.trim())];
        }),
    );
  } catch {
    context.addIssue({ code: "custom", message: "must be pairs such as name=value,other=value" });
    return z.NEVER;
  }
});

const samplers = [
  "always_on",
  "always_off",
  "traceidratio",
  "parentbased_always_on",
  "parentbased_always_off",
  "parentbased_traceidratio",
] as const;

/** To be read together with the other variables of the service. */
export const traceVariables = {
  OTEL_SDK_DISABLED: z.string().optional(),
  OTEL_TRACES_EXPORTER: z
    .enum(["otlp", "console", "none"], { error: 'must be "otlp", "console" or "none"' })
    .optional(),
  OTEL_EXPORTER_OTLP_ENDPOINT: url.optional(),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: url.optional(),
  OTEL_EXPORTER_OTLP_PROTOCOL: protocol.optional(),
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: protocol.optional(),
  OTEL_EXPORTER_OTLP_HEADERS: pairs.optional(),
  OTEL_EXPORTER_OTLP_TRACES_HEADERS: pairs.optional(),
  OTEL_EXPORTER_OTLP_TIMEOUT: timeout.optional(),
  OTEL_EXPORTER_OTLP_TRACES_TIMEOUT: timeout.optional(),
  OTEL_EXPORTER_OTLP_COMPRESSION: compression.optional(),
  OTEL_EXPORTER_OTLP_TRACES_COMPRESSION: compression.optional(),
  OTEL_BSP_SCHEDULE_DELAY: timeout.optional(),
  OTEL_SERVICE_NAME: z.string().optional(),
  OTEL_RESOURCE_ATTRIBUTES: pairs.optional(),
  OTEL_TRACES_SAMPLER: z
    .enum(samplers, { error: `must be one of ${samplers.join(", ")}` })
    .default("parentbased_always_on"),
  OTEL_TRACES_SAMPLER_ARG: z
    .string()
    .regex(/^(?:0?\.\d+|[01](?:\.0*)?)$/, "must be a number from 0 to 1")
    .transform(Number)
    .default(1),
};

const variables = z.object(traceVariables);

/** Variables whose values are not shown. */
export const traceSecrets: readonly string[] = [
  "OTEL_EXPORTER_OTLP_HEADERS",
  "OTEL_EXPORTER_OTLP_TRACES_HEADERS",
];

/** Null: traces are switched off. */
export function traceSettingsOf(env: z.output<typeof variables>): TraceSettings | null {
  const {
    OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: tracesEndpoint,
    OTEL_TRACES_EXPORTER: exporter = endpoint || tracesEndpoint ? "otlp" : "none",
  } = env;
  if (/^\s*true\s*$/i.test(env.OTEL_SDK_DISABLED ?? "") || exporter === "none") return null;
  const { "service.name": named, ...attributes } = env.OTEL_RESOURCE_ATTRIBUTES ?? {};
  return {
    exporter,
    url: tracesEndpoint ?? `${(endpoint ?? defaultEndpoint).replace(/\/+$/, "")}/v1/traces`,
    protocol:
      env.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL ?? env.OTEL_EXPORTER_OTLP_PROTOCOL ?? "http/protobuf",
    headers: { ...env.OTEL_EXPORTER_OTLP_HEADERS, ...env.OTEL_EXPORTER_OTLP_TRACES_HEADERS },
    timeoutMs:
      env.OTEL_EXPORTER_OTLP_TRACES_TIMEOUT ??
      env.OTEL_EXPORTER_OTLP_TIMEOUT ??
      limits.traceExportMs,
    compression:
      env.OTEL_EXPORTER_OTLP_TRACES_COMPRESSION ?? env.OTEL_EXPORTER_OTLP_COMPRESSION ?? "none",
    delayMs: env.OTEL_BSP_SCHEDULE_DELAY ?? limits.traceDelayMs,
    resource: { ...attributes, "service.name": env.OTEL_SERVICE_NAME ?? named ?? "rowgate" },
    sampler: env.OTEL_TRACES_SAMPLER,
    samplerRatio: env.OTEL_TRACES_SAMPLER_ARG,
  };
}

const defaultEndpoint = "http://localhost:4318";

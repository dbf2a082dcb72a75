/**
 * Parses the environment variables once. Every variable that the service reads is here, except those that project.json
 * names.
 */
import { z } from "zod";
import type { TraceSettings } from "../../observe/trace-settings.ts";
import { traceSecrets, traceSettingsOf, traceVariables } from "./trace-variables.ts";
import { limits } from "../../../core/values/limits.ts";
import { parseStorageUrl, regionShape, type Storage } from "../../../core/jobs/storage-url.ts";

const byteSize = z
  .string()
  .regex(
    /^\d+(?:\.\d+)?\s*(?:b|kb|kib|mb|mib)?$/i,
    "must be a number of bytes, or a size such as 2MB",
  )
  .transform((text) => {
    const [, amount = "0", unit = "b"] = /^([\d.]+)\s*([a-z]*)$/i.exec(text) ?? [];
    const factor =
      { b: 1, kb: 1000, kib: 1024, mb: 1000 ** 2, mib: 1024 ** 2 }[unit.toLowerCase() || "b"] ?? 1;
    return Math.floor(Number(amount) * factor);
  })
  .refine((bytes) => bytes >= 1, "must be at least 1 byte");

const portNumber = z
  .string()
  .regex(/^\d{1,5}$/, "must be a port number")
  .transform(Number)
  .refine((port) => port <= 65_535, "must be a port number up to 65535");

/** A secret that stands in a header. */
const token = z
  .string()
  .min(16, "must have at least 16 characters")
  .regex(/^[\x21-\x7e]*$/, "must consist of ASCII letters, digits and punctuation, without spaces");

const variables = z.object({
  PORT: portNumber.default(3000),
  HOST: z.string().min(1, "must not be empty").default("127.0.0.1"),
  CONFIG_DIR: z.string().min(1, "must not be empty").default("configs"),
  LOG_LEVEL: z
    .enum(["trace", "debug", "info", "warn", "error", "fatal", "silent"], {
      error: "must be trace, debug, info, warn, error, fatal or silent",
    })
    .default("info"),
  LOG_FORMAT: z.enum(["json", "pretty"], { error: 'must be "json" or "pretty"' }).optional(),
  BODY_LIMIT: byteSize.default(1_048_576),
  ALLOWED_HOSTS: z
    .string()
    .regex(
      /^[\w.-]+(?:\s*,\s*[\w.-]+)*$/,
      "must be names such as rowgate.test, with commas between them, without ports",
    )
    .transform((text) => text.split(",").map((name) => name.trim().toLowerCase()))
    .default([]),
  TRUST_PROXY: z
    .string()
    .regex(/^\d{1,2}$/, "must be the number of proxies before the service")
    .transform(Number)
    .default(0),
  MAX_CONNECTIONS: z
    .string()
    .regex(/^[1-9]\d{0,6}$/, "must be a number of connections, at least 1")
    .transform(Number)
    .default(limits.connectionsMax),
  METRICS_TOKEN: token.optional(),
  DOCS: z.enum(["on", "off"], "must be on or off").default("on"),
  COMPRESSION: z.enum(["on", "off"], "must be on or off").default("on"),
  CONSOLE: z.enum(["on", "off"], "must be on or off").default("on"),
  METRICS_PORT: portNumber.optional(),
  REDIS_URL: z
    .string()
    .regex(/^rediss?:\/\/[^/]/, "must be an address such as redis://localhost:6379")
    .optional(),
  JOBS_DATABASE_URL: z
    .string()
    .refine(
      (url) => /^postgres(?:ql)?:\/\//.test(url) && URL.canParse(url),
      "must be an address such as postgres://user:password@localhost:5432/jobs",
    )
    .optional(),
  DATABASE_URL: z.string().optional(),
  STORAGE_URL: z
    .string()
    .default("file:./data/files")
    .superRefine((text, context) => {
      const place = parseStorageUrl(text);
      if (typeof place === "string") context.addIssue({ code: "custom", message: place });
    }),
  AWS_ACCESS_KEY_ID: z.string().optional(),
  AWS_SECRET_ACCESS_KEY: z.string().optional(),
  AWS_SESSION_TOKEN: z.string().optional(),
  AWS_REGION: z.string().regex(regionShape, "must be a region such as eu-central-1").optional(),
  JOBS_QUEUE: z
    .string()
    .regex(/^[\w.-]{1,64}$/, "must be a name of letters, digits, ., - and _")
    .default("rowgate"),
  JOBS_BOARD_TOKEN: token.optional(),
  ...traceVariables,
});

export type LogFormat = "json" | "pretty";

export interface Settings {
  readonly port: number;
  readonly host: string;
  readonly configDir: string;
  readonly logLevel: string;
  /** `pretty`: lines for people. Null: depends on whether standard output is a terminal. */
  readonly logFormat: LogFormat | null;
  readonly bodyLimitBytes: number;
  /** Further host names that the service answers to, in lower case. */
  readonly allowedHosts: readonly string[];
  /** Number of proxies in front of the service. */
  readonly trustProxy: number;
  /** Connections of clients that are open at the same time. */
  readonly maxConnections: number;
  /** Token that shows what only operators can see. Null: there is none. */
  readonly metricsToken: string | null;
  /** Whether long answers of actions are compressed. */
  readonly compression: boolean;
  /** Whether there is the page `/docs`. */
  readonly docs: boolean;
  /** Whether there is the page `/console`. */
  readonly console: boolean;
  /** Where a worker serves its metrics. Null: nowhere. */
  readonly metricsPort: number | null;
  /** The database for which `serve --init` writes a configuration. Null: none. */
  readonly databaseUrl: string | null;
  /** Null: locks and cache stay in the process. */
  readonly redisUrl: string | null;
  /** Null: jobs are kept in Redis or, without Redis, by the service itself. Never set together with `redisUrl`. */
  readonly jobsDatabaseUrl: string | null;
  /** Where exports and uploads are kept. */
  readonly storage: Storage;
  /**
   * Services and workers with the same name share jobs; services with the same name also share non-blocking hook calls.
   */
  readonly queueName: string;
  /** Token for the jobs board. Null: there is no board. */
  readonly jobsBoardToken: string | null;
  /** Where traces are sent. Null: nowhere. */
  readonly traces: TraceSettings | null;
}

/** Not shown in messages, because an address can contain a password. */
const secrets: ReadonlySet<string> = new Set([
  "DATABASE_URL",
  "REDIS_URL",
  "JOBS_DATABASE_URL",
  "JOBS_BOARD_TOKEN",
  "METRICS_TOKEN",
  ...traceSecrets,
]);

/** `s3://key:secret@bucket` is refused, and must not be shown either. */
const isSecret = (name: string, value: string): boolean => secrets.has(name) || value.includes("@");

/** Throws an Error whose message lists every variable with an invalid value. An empty variable counts as absent. */
export function parseEnv(env: Readonly<Record<string, string | undefined>>): Settings {
  const present = Object.fromEntries(
    Object.entries(env).filter(([, value]) => value !== undefined && value !== ""),
  );
  const parsed = variables.safeParse(present);
  if (!parsed.success) {
    const faults = parsed.error.issues.map((issue) => {
      const name = String(issue.path[0]);
      const value = env[name] ?? "";
      const shown = isSecret(name, value) ? "…" : value;
      return `  ${name}=${shown}: ${issue.message}`;
    });
    throw new Error(`These environment variables have invalid values:\n${faults.join("\n")}`);
  }
  const { PORT, HOST, CONFIG_DIR, LOG_LEVEL, BODY_LIMIT, REDIS_URL } = parsed.data;
  const { JOBS_DATABASE_URL, JOBS_QUEUE, JOBS_BOARD_TOKEN, METRICS_TOKEN } = parsed.data;
  if (REDIS_URL !== undefined && JOBS_DATABASE_URL !== undefined)
    throw new Error(
      "REDIS_URL and JOBS_DATABASE_URL are both set, but jobs can only be kept in one place; " +
        "unset JOBS_DATABASE_URL to keep them in Redis",
    );
  return {
    port: PORT,
    host: HOST,
    configDir: CONFIG_DIR,
    logLevel: LOG_LEVEL,
    logFormat: parsed.data.LOG_FORMAT ?? null,
    bodyLimitBytes: BODY_LIMIT,
    allowedHosts: parsed.data.ALLOWED_HOSTS,
    trustProxy: parsed.data.TRUST_PROXY,
    maxConnections: parsed.data.MAX_CONNECTIONS,
    metricsToken: METRICS_TOKEN ?? null,
    docs: parsed.data.DOCS === "on",
    compression: parsed.data.COMPRESSION === "on",
    console: parsed.data.CONSOLE === "on",
    metricsPort: parsed.data.METRICS_PORT ?? null,
    databaseUrl: parsed.data.DATABASE_URL ?? null,
    redisUrl: REDIS_URL ?? null,
    jobsDatabaseUrl: JOBS_DATABASE_URL ?? null,
    storage: storageOf(parsed.data),
    queueName: JOBS_QUEUE,
    jobsBoardToken: JOBS_BOARD_TOKEN ?? null,
    traces: traceSettingsOf(parsed.data),
  };
}

/** The names of variables that all S3 tools use. */
function storageOf({
  STORAGE_URL: url,
  AWS_ACCESS_KEY_ID: accessKeyId,
  AWS_SECRET_ACCESS_KEY: secretAccessKey,
  AWS_SESSION_TOKEN: sessionToken,
  AWS_REGION: region,
}: z.infer<typeof variables>): Storage {
  const place = parseStorageUrl(url, region);
  if (typeof place === "string") throw new Error(`STORAGE_URL ${place}`);
  if (place.kind === "folder") return place;
  if (accessKeyId === undefined || secretAccessKey === undefined)
    throw new Error(
      "STORAGE_URL is a bucket, so AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY must be set",
    );
  return { ...place, keys: { accessKeyId, secretAccessKey, sessionToken } };
}

/** The name of the queue of hook calls. Names of job queues contain no slash, so the two cannot collide. */
export const hookQueueName = ({ queueName }: Pick<Settings, "queueName">): string =>
  `${queueName}/hooks`;

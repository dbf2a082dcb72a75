/** The environment, parsed once. Every variable that the service reads is here, but for those that project.json names. */
import { z } from "zod";

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

const variables = z.object({
  PORT: z
    .string()
    .regex(/^\d{1,5}$/, "must be a port number")
    .transform(Number)
    .refine((port) => port <= 65_535, "must be a port number up to 65535")
    .default(3000),
  HOST: z.string().min(1, "must not be empty").default("127.0.0.1"),
  CONFIG_DIR: z.string().min(1, "must not be empty").default("configs"),
  LOG_LEVEL: z.enum(["trace", "debug", "info", "warn", "error", "fatal", "silent"]).default("info"),
  BODY_LIMIT: byteSize.default(1_048_576),
  REDIS_URL: z
    .string()
    .regex(/^rediss?:\/\/[^/]/, "must be an address such as redis://localhost:6379")
    .optional(),
  STORAGE_URL: z
    .string()
    .regex(/^file:./, "must be a folder such as file:./data/files")
    .default("file:./data/files"),
  JOBS_QUEUE: z
    .string()
    .regex(/^[\w.-]{1,64}$/, "must be a name of letters, digits, ., - and _")
    .default("rowgate"),
});

export interface Settings {
  readonly port: number;
  readonly host: string;
  readonly configDir: string;
  readonly logLevel: string;
  readonly bodyLimitBytes: number;
  /** Null: what instances could share stays in the process. */
  readonly redisUrl: string | null;
  /** Where exports and uploads are kept. */
  readonly storageUrl: string;
  /** Service and workers with the same name share their jobs in Redis. */
  readonly queueName: string;
}

/** Throws an Error whose message lists every variable with a bad value. An empty variable counts as absent. */
export function parseEnv(env: Readonly<Record<string, string | undefined>>): Settings {
  const present = Object.fromEntries(
    Object.entries(env).filter(([, value]) => value !== undefined && value !== ""),
  );
  const parsed = variables.safeParse(present);
  if (!parsed.success) {
    const faults = parsed.error.issues.map((issue) => {
      const name = String(issue.path[0]);
      // An address may hold a password.
      const shown = name === "REDIS_URL" ? "…" : (env[name] ?? "");
      return `  ${name}=${shown}: ${issue.message}`;
    });
    throw new Error(`These environment variables have bad values:\n${faults.join("\n")}`);
  }
  const { PORT, HOST, CONFIG_DIR, LOG_LEVEL, BODY_LIMIT, REDIS_URL } = parsed.data;
  const { STORAGE_URL, JOBS_QUEUE } = parsed.data;
  return {
    port: PORT,
    host: HOST,
    configDir: CONFIG_DIR,
    logLevel: LOG_LEVEL,
    bodyLimitBytes: BODY_LIMIT,
    redisUrl: REDIS_URL ?? null,
    storageUrl: STORAGE_URL,
    queueName: JOBS_QUEUE,
  };
}

/**
 * What the URL of a PostgreSQL database and the project's settings ask for: hosts, TLS, options of the driver, and
 * settings of the session. Behind a pooler, which would forget or refuse these, they go with each transaction.
 */
import postgres from "postgres";
import type { EngineOptions } from "../engine.ts";
import { unreadableUrl } from "../database-address.ts";
import { withoutRole } from "./client.ts";
import { readTls, type Tls, tlsOptionNames } from "../tls.ts";

export interface Target {
  /** With only the options that the driver knows. */
  readonly url: string;
  readonly hosts: readonly string[];
  readonly ports: readonly number[];
  /** Path of a Unix socket; hosts and ports are then ignored. */
  readonly path: string | null;
  /** What the server has to be. */
  readonly role: Role;
  readonly user: string;
  readonly database: string;
  readonly tls: Tls;
  /** A pooler gives each transaction another session. */
  readonly isPooled: boolean;
  /** The settings of a new session. */
  readonly startSettings: Readonly<Record<string, string>>;
  /** The settings of each transaction. */
  readonly localSettings: Readonly<Record<string, string>>;
}

export type TargetOptions = Pick<
  EngineOptions,
  "statementTimeoutMs" | "claimsSetting" | "preparedStatements" | "tls" | "readFile"
>;

/** Throws an Error that names what is wrong, without the URL. */
export function readTarget(url: string, options: TargetOptions): Target {
  const [base = "", query = ""] = splitAt(url, url.indexOf("?"));
  const asked = new URLSearchParams(query);
  refuseBinding(asked);
  const tls = readTls(asked, options);
  const isPooled =
    options.preparedStatements === false ||
    asked.get("pgbouncer") === "true" ||
    asked.get("prepare") === "false";
  const driverOptions = new URLSearchParams();
  const settings: Record<string, string> = defaultSettings(options);
  for (const [name, value] of asked) {
    if (name === "ssl" || name === "prepare" || ignored.has(name) || tlsOptionNames.has(name)) {
      continue;
    }
    if (ofDriver.has(name)) driverOptions.set(name, value);
    else settings[name] = value;
  }
  const driverUrl = driverOptions.size === 0 ? base : `${base}?${driverOptions.toString()}`;
  const { host, port, path, user, database } = parse(driverUrl);
  const { target_session_attrs: role = "any", ...ofSession } = settings;
  if (!isRole(role))
    throw new Error(
      `The database URL has an unknown target_session_attrs "${role}"; known: ${roles.join(", ")}`,
    );
  const { application_name = "rowgate", options: flags, ...others } = ofSession;
  const start = { application_name, ...(flags !== undefined && { options: flags }) };
  return {
    url: driverUrl,
    hosts: host,
    ports: port,
    path: path || null,
    role,
    user,
    database,
    tls,
    isPooled,
    startSettings: isPooled ? start : { ...start, ...others, ...withoutCaller(options) },
    localSettings: isPooled ? others : {},
  };
}

/** The words of PostgreSQL's own programs for `target_session_attrs`. */
const roles = ["any", "read-write", "read-only", "primary", "standby", "prefer-standby"] as const;
export type Role = (typeof roles)[number];
const isRole = (word: string): word is Role => (roles as readonly string[]).includes(word);

/** Claims for the service's own statements. Without these, policies would read a non-JSON text after a caller's. */
const withoutCaller = ({ claimsSetting }: TargetOptions): Record<string, string> =>
  claimsSetting === undefined ? {} : { [claimsSetting]: nobodysClaims };

export const nobodysClaims = '{"sub":null,"roles":[]}';

/** The URL overrides these. */
const defaultSettings = ({ statementTimeoutMs }: TargetOptions): Record<string, string> => ({
  TimeZone: "UTC",
  DateStyle: "ISO, YMD",
  IntervalStyle: "postgres",
  bytea_output: "hex",
  // As texts: the driver drops a zero, and the server's own limit would apply.
  statement_timeout: String(statementTimeoutMs),
  idle_in_transaction_session_timeout: "60000",
  // Streams read to the end: plan for all rows, not for the first ones.
  cursor_tuple_fraction: "1",
});

/** Options of the driver; all others are settings of the session. */
const ofDriver: ReadonlySet<string> = new Set([
  "sslnegotiation",
  "max_pipeline",
  "backoff",
  "keep_alive",
]);

/** Options for other programs. Ignored here: the service has its own limits of connections and times. */
const ignored: ReadonlySet<string> = new Set([
  "pgbouncer",
  "channel_binding",
  "connect_timeout",
  "connection_limit",
  "pool_timeout",
  "idle_timeout",
  "max_lifetime",
  "max",
  "fetch_types",
  "debug",
  "publications",
]);

/** The driver cannot bind a password to the TLS connection, and ignoring the option would be weaker than requested. */
function refuseBinding(asked: URLSearchParams): void {
  if (asked.get("channel_binding") !== "require") return;
  throw new Error(
    "The database URL asks for channel_binding=require, which is not available; remove it, and write sslmode=verify-full, which checks the server by its certificate",
  );
}

/** The driver's reading of the URL; it connects only when a statement is sent. */
function parse(url: string) {
  try {
    return postgres(url, { max: 1, ...withoutRole }).options;
  } catch {
    throw unreadableUrl("PostgreSQL");
  }
}

const splitAt = (text: string, at: number): [string, string?] =>
  at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];

/**
 * TLS to a database server, in the terms of libpq's `sslmode`, for every engine. Options of the URL and of project.json
 * become options of Node's TLS. MySQL's own terms are accepted too.
 */

export type TlsMode = "disable" | "prefer" | "require" | "verify-ca" | "verify-full";

/** PEM texts. */
export interface TlsCertificates {
  /** Of the authorities that may sign the server's certificate. */
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
}

export interface Tls extends TlsCertificates {
  readonly mode: TlsMode;
}

/** The options of a URL that concern TLS; all other options belong to the engine. */
export const tlsOptionNames: ReadonlySet<string> = new Set([
  "sslmode",
  "ssl-mode",
  "sslaccept",
  "sslrootcert",
  "ssl-ca",
  "sslcert",
  "ssl-cert",
  "sslkey",
  "ssl-key",
]);

/** By the terms of libpq, of MySQL's programs and of Prisma. */
const modes: ReadonlyMap<string, TlsMode> = new Map<string, TlsMode>([
  ["disable", "disable"],
  ["disabled", "disable"],
  ["false", "disable"],
  ["allow", "prefer"],
  ["prefer", "prefer"],
  ["preferred", "prefer"],
  ["require", "require"],
  ["required", "require"],
  ["no-verify", "require"],
  ["accept_invalid_certs", "require"],
  ["verify-ca", "verify-ca"],
  ["verify-full", "verify-full"],
  ["verify-identity", "verify-full"],
  ["strict", "verify-full"],
  ["true", "verify-full"],
]);

export interface TlsSources {
  /** Certificates of project.json, which override files that the URL names. */
  readonly tls?: TlsCertificates | undefined;
  /** Absent: there are no files. */
  readonly readFile?: ((path: string) => string) | undefined;
}

/**
 * What the options of a URL and project.json ask for. A mode that only encrypts becomes `verify-ca` if there is an
 * authority, as in libpq. Throws an Error for an unknown mode and for a file that cannot be read.
 */
export function readTls(
  options: URLSearchParams,
  { tls: given = {}, readFile = noFiles }: TlsSources,
): Tls {
  const fileOf = (...names: readonly string[]): string | undefined => {
    const name = names.find((one) => options.has(one));
    const path = name === undefined ? "system" : options.get(name)!;
    return path === "system" ? undefined : readNamed(name!, path, readFile);
  };
  const ca = given.ca ?? fileOf("sslrootcert", "ssl-ca");
  const cert = given.cert ?? fileOf("sslcert", "ssl-cert");
  const key = given.key ?? fileOf("sslkey", "ssl-key");
  if ((cert === undefined) !== (key === undefined))
    throw new Error(
      "The database's TLS has a client certificate without its key, or a key without its certificate; give both (sslcert and sslkey)",
    );
  const named = modeOf(options);
  const mode = named ?? (ca !== undefined || cert !== undefined ? "verify-full" : "disable");
  return { mode: mode === "require" && ca !== undefined ? "verify-ca" : mode, ca, cert, key };
}

/** The options for Node's TLS; null: no TLS. */
export function connectOptions({ mode, ca, cert, key }: Tls): TlsOptions | null {
  if (mode === "disable") return null;
  return {
    rejectUnauthorized: mode === "verify-ca" || mode === "verify-full",
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && key !== undefined && { cert, key }),
  };
}

interface TlsOptions {
  readonly rejectUnauthorized: boolean;
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

function modeOf(options: URLSearchParams): TlsMode | null {
  for (const name of ["sslmode", "ssl-mode", "sslaccept", "ssl"]) {
    const value = options.get(name);
    // The engine reads the driver's own options as JSON.
    if (value === null || value.startsWith("{")) continue;
    const mode = modes.get(value.toLowerCase().replaceAll("_", "-")) ?? modes.get(value);
    if (mode !== undefined) return mode;
    throw new Error(
      `The database URL's ${name} is "${value}"; it may be disable, prefer, require, verify-ca or verify-full`,
    );
  }
  return options.get("sslrootcert") === "system" ? "verify-full" : null;
}

const noFiles = (): never => {
  throw new Error("there are no files");
};

function readNamed(name: string, path: string, readFile: (path: string) => string): string {
  try {
    return readFile(path);
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    throw new Error(
      `The file of ${name} in the database URL cannot be read: ${path} (${code ?? message})`,
      { cause: error },
    );
  }
}

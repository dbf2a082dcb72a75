/**
 * What the URL of a database contains, as far as it can be read without the driver. Each engine's folder has one of
 * these besides the engine itself, which is loaded only when needed.
 */
import { type TlsCertificates, tlsOptionNames } from "./tls.ts";

export interface EngineAddress {
  /** The schemes of its URLs, in lower case; the first is the usual one. */
  readonly schemes: readonly string[];
  /** The name for people. */
  readonly title: string;
  /** The server's default port; null = its databases are files. */
  readonly port: number | null;
  /** The npm package that speaks to its databases. */
  readonly driver: string;
  /** Equal for URLs of the same database, for every user and with any options. */
  databaseOf(url: string): string;
  /** Settings that the engine does not support, and visible faults of the URL. */
  faults(url: string, settings: AddressSettings): readonly SettingFault[];
  /** Absent: the engine has no server. */
  serverOf?(url: string): DatabaseServer;
  /** Whether the data live in this process, where no other connection finds them; absent: never. */
  isInMemory?(url: string): boolean;
  /**
   * Why the database cannot be used on a runtime without files; null = it can. `isPooled`: the address belongs to a
   * pooler that gives each transaction another session. Absent: every URL can be used there.
   */
  edgeFault?(url: string, options: { isPooled: boolean }): AddressFault | null;
}

export interface DatabaseServer {
  /** Names and addresses, those of IPv6 without brackets. Empty: a socket of this machine. */
  readonly hosts: readonly string[];
  /** Whether the URL says whether to use TLS. */
  readonly saysTls: boolean;
}

/** Settings of project.json besides the URL that not every engine supports. */
export interface AddressSettings {
  readonly claimsSetting?: string | undefined;
  readonly preparedStatements: boolean;
  readonly tls?: TlsCertificates | undefined;
  readonly replicas?: readonly string[] | undefined;
}

/** A fault of one of the settings, or of the URL itself. */
export interface SettingFault extends AddressFault {
  readonly setting: keyof AddressSettings | "url";
}

/** Neither text holds the URL, which may hold a password. */
export interface AddressFault {
  readonly found: string;
  readonly expected: string;
}

/** Null for a text that is not a URL. */
export const schemeOf = (url: string): string | null =>
  /^([a-z][a-z0-9+.-]*):/i.exec(url)?.[1]?.toLowerCase() ?? null;

interface Server {
  readonly schemes: readonly string[];
  readonly title: string;
  readonly driver: string;
  /** Default port of its server. */
  readonly port: number;
  /** Why it cannot be used behind a pooler that gives each transaction another session; null = it can. */
  readonly pooledFault: AddressFault | null;
  /** Whether its row policies can read the caller, and it works behind poolers that change sessions per transaction. */
  readonly hasPolicies: boolean;
}

/** The faults for every engine that lacks what the settings ask for. */
export function unknownSettings({
  claimsSetting,
  preparedStatements,
}: AddressSettings): SettingFault[] {
  const claims: SettingFault = {
    setting: "claimsSetting",
    found: "claims for rules of the database, which has no such rules",
    expected: "PostgreSQL; rowScope in the endpoint files narrows rows on every database",
  };
  const prepared: SettingFault = {
    setting: "preparedStatements",
    found: "false, for a database that is only reached with them",
    expected: "PostgreSQL, or no such setting",
  };
  return [
    ...(claimsSetting === undefined ? [] : [claims]),
    ...(preparedStatements ? [] : [prepared]),
  ];
}

/** The address of a database on a server: `scheme://user:password@host:port/name?options`. */
export const serverAddress = ({
  schemes,
  title,
  driver,
  port,
  pooledFault,
  hasPolicies,
}: Server): EngineAddress => ({
  schemes,
  title,
  port,
  driver,
  faults(url, settings) {
    const sign = unencodedSign(url);
    const unencoded: SettingFault = {
      setting: "url",
      found: `an address whose password has ${sign} as it is`,
      expected: `a percent-encoded password (${encodings})`,
    };
    return [
      ...(sign === null ? portFaults(url) : [unencoded]),
      ...(hasPolicies ? [] : unknownSettings(settings)),
    ];
  },
  databaseOf(url) {
    const [, path = ""] = /^[^:]*:(?:\/\/(?:[^@/]*@)?)?([^?]*)/.exec(url) ?? [];
    const [server = "", ...name] = path.split("/");
    const usual = /:\d+$/.test(server) ? "" : `:${port}`;
    // The name's case is kept: two databases may differ only in case, and must not share answers.
    return `${schemes[0]}:${server.toLowerCase()}${usual}/${name.join("/")}`;
  },
  serverOf(url) {
    const [, authority = "", query = ""] = /^[^:]*:\/\/([^/?]*)[^?]*\??(.*)$/.exec(url) ?? [];
    const hosts = authority.slice(authority.lastIndexOf("@") + 1).split(",");
    const options = new URLSearchParams(query);
    return {
      hosts: hosts.map(withoutPort).filter((host) => host !== ""),
      saysTls: ["ssl", ...tlsOptionNames].some((name) => options.has(name)),
    };
  },
  edgeFault: (url, { isPooled }) => (isPooled ? pooledFault : tlsFault(url)),
});

/** A reader of URLs would refuse the whole address, and could not say why without showing it. */
function portFaults(url: string): SettingFault[] {
  const [, authority = ""] = /^[^:]*:\/\/([^/?]*)/.exec(url) ?? [];
  const hosts = authority.slice(authority.lastIndexOf("@") + 1).split(",");
  const ports = hosts.map((host) => /:([^:\]]*)$/.exec(host)?.[1] ?? "");
  const isGood = ports.every((port) => /^\d*$/.test(port) && Number(port) <= 65_535);
  const expected = "a port from 1 to 65535, or none";
  return isGood ? [] : [{ setting: "url", found: "an address with another port", expected }];
}

const withoutPort = (host: string): string =>
  host.startsWith("[") ? host.slice(1, host.indexOf("]")) : host.replace(/:\d*$/, "");

const encodings = "@ is %40, # is %23, / is %2F, ? is %3F, : is %3A and % is %25";

/** A character that ends the password too early, or a `%` without hex digits; null = none. `@` and `:` are harmless. */
function unencodedSign(url: string): string | null {
  const rest = url.replace(/^[^:]*:\/\//, "");
  const [authority = ""] = /^[^/?#]*/.exec(rest) ?? [];
  const [path = ""] = /^[^?#]*/.exec(rest.slice(authority.length)) ?? [];
  const next = rest.slice(authority.length + path.length);
  // No database address has anything after a #.
  if (/#/.test(next)) return "#";
  const isCutShort = !/^[^:]*(?::\d{1,5})?$/.test(authority) && !authority.includes("@");
  if (path.includes("@") && (isCutShort || /\/.*\//.test(path))) return "/";
  if (isCutShort && path === "" && next.includes("@")) return "?";
  const [credentials = ""] = /^.*(?=@)/.exec(authority) ?? [];
  return /%(?![0-9a-f]{2})/i.test(credentials) ? "%" : null;
}

/** The runtime decides which certificates are valid: those of public authorities, for the server's own name. */
function tlsFault(url: string): AddressFault | null {
  const options = new URLSearchParams(/\?(.*)$/.exec(url)?.[1] ?? "");
  const hasOwn = ["sslrootcert", "ssl-ca", "sslcert", "ssl-cert", "sslkey", "ssl-key"].some(
    (name) => options.has(name),
  );
  if (!hasOwn && !options.get("ssl")?.startsWith("{")) return null;
  return {
    found: "TLS with certificates of your own, which this runtime cannot be given",
    expected:
      "a server whose certificate is of a public authority, or PostgreSQL behind Hyperdrive",
  };
}

/** An engine's error for an unreadable URL. It has no cause: the parser's error contains the URL with the password. */
export const unreadableUrl = (database: string): Error =>
  new Error(
    `The URL of the ${database} database cannot be read; in user and password, write all but letters and digits percent-encoded: @ is %40, # is %23`,
  );

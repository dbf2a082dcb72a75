/**
 * What the URL of a database says, as far as it can be told without the driver. Each engine's folder has one of these, beside
 * the engine itself, which is loaded only when it is wanted.
 */
import { type TlsCertificates, tlsOptionNames } from "./tls.ts";

export interface EngineAddress {
  /** The schemes of its URLs, in lower case; the first is the usual one. */
  readonly schemes: readonly string[];
  /** The name that people know. */
  readonly title: string;
  /** Where its server listens if the URL does not say; null = its databases are files. */
  readonly port: number | null;
  /** The npm package that speaks to its databases. */
  readonly driver: string;
  /** Equal for URLs of the same database, whoever the user is and whatever the options are. */
  databaseOf(url: string): string;
  /** What the engine cannot do of the settings, and what can be seen to be wrong in the URL. */
  faults(url: string, settings: AddressSettings): readonly SettingFault[];
  /** Absent: on no server. */
  serverOf?(url: string): DatabaseServer;
  /** Whether the data live in this process, where no other connection finds them; absent: they never do. */
  isInMemory?(url: string): boolean;
  /**
   * Why the database cannot be used on a runtime without files; null = it can. `isPooled`: the address is that of a pooler which gives
   * each transaction another session. Absent: it can be used there whatever the URL says.
   */
  edgeFault?(url: string, options: { isPooled: boolean }): AddressFault | null;
}

export interface DatabaseServer {
  /** Names and addresses, those of IPv6 without brackets. Empty: a socket of this machine. */
  readonly hosts: readonly string[];
  /** Whether the URL says whether to use TLS. */
  readonly saysTls: boolean;
}

/** What project.json says beside the URL, as far as it is not good for every engine. */
export interface AddressSettings {
  readonly claimsSetting?: string | undefined;
  readonly preparedStatements: boolean;
  readonly tls?: TlsCertificates | undefined;
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

/** Null for a text that is no URL. */
export const schemeOf = (url: string): string | null =>
  /^([a-z][a-z0-9+.-]*):/i.exec(url)?.[1]?.toLowerCase() ?? null;

interface Server {
  readonly schemes: readonly string[];
  readonly title: string;
  readonly driver: string;
  /** Where its server listens if the URL does not say. */
  readonly port: number;
  /** Why it cannot be used behind a pooler that gives each transaction another session; null = it can. */
  readonly pooledFault: AddressFault | null;
  /** Whether it has rules for rows that can ask for the caller, and works behind poolers that give each transaction another session. */
  readonly hasPolicies: boolean;
}

/** Of every engine that lacks what the settings ask for. */
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
      ...(sign === null ? [] : [unencoded]),
      ...(hasPolicies ? [] : unknownSettings(settings)),
    ];
  },
  databaseOf(url) {
    const [, path = ""] = /^[^:]*:(?:\/\/(?:[^@/]*@)?)?([^?]*)/.exec(url) ?? [];
    const [server = "", ...name] = path.split("/");
    const usual = /:\d+$/.test(server) ? "" : `:${port}`;
    // The name as it is: two databases may differ in case alone, and must not share answers.
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

const withoutPort = (host: string): string =>
  host.startsWith("[") ? host.slice(1, host.indexOf("]")) : host.replace(/:\d*$/, "");

const encodings = "@ is %40, # is %23, / is %2F, ? is %3F, : is %3A and % is %25";

/** A sign that ends the password too early, or that begins no encoded one; null = there is none. An @ and a colon do no harm. */
function unencodedSign(url: string): string | null {
  const rest = url.replace(/^[^:]*:\/\//, "");
  const [authority = ""] = /^[^/?#]*/.exec(rest) ?? [];
  const [path = ""] = /^[^?#]*/.exec(rest.slice(authority.length)) ?? [];
  const next = rest.slice(authority.length + path.length);
  // No address of a database has anything behind a #.
  if (/#/.test(next)) return "#";
  const isCutShort = !/^[^:]*(?::\d{1,5})?$/.test(authority) && !authority.includes("@");
  if (path.includes("@") && (isCutShort || /\/.*\//.test(path))) return "/";
  if (isCutShort && path === "" && next.includes("@")) return "?";
  const [credentials = ""] = /^.*(?=@)/.exec(authority) ?? [];
  return /%(?![0-9a-f]{2})/i.test(credentials) ? "%" : null;
}

/** Which certificates are good is the runtime's matter: those of public authorities, for the server's own name. */
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

/** What an engine says of a URL that it cannot read. Without a cause: the parser's error holds the URL, and that the password. */
export const unreadableUrl = (database: string): Error =>
  new Error(
    `The URL of the ${database} database cannot be read; in user and password, write all but letters and digits percent-encoded: @ is %40, # is %23`,
  );

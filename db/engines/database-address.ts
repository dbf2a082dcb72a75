/**
 * What the URL of a database says, as far as it can be told without the driver. Each engine's folder has one of these, beside
 * the engine itself, which is loaded only when it is wanted.
 */

export interface EngineAddress {
  /** The schemes of its URLs, in lower case; the first is the usual one. */
  readonly schemes: readonly string[];
  /** Equal for URLs of the same database, whoever the user is and whatever the options are. */
  databaseOf(url: string): string;
  /** Whether the data live in this process, where no other connection finds them; absent: they never do. */
  isInMemory?(url: string): boolean;
  /**
   * Why the database cannot be used on a runtime without files; null = it can. `isPooled`: the address is that of a pooler which gives
   * each transaction another session. Absent: it can be used there whatever the URL says.
   */
  edgeFault?(url: string, options: { isPooled: boolean }): AddressFault | null;
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
  /** Where its server listens if the URL does not say. */
  readonly port: number;
  /** Why it cannot be used behind a pooler that gives each transaction another session; null = it can. */
  readonly pooledFault: AddressFault | null;
}

/** The address of a database on a server: `scheme://user:password@host:port/name?options`. */
export const serverAddress = ({ schemes, port, pooledFault }: Server): EngineAddress => ({
  schemes,
  databaseOf(url) {
    const [, path = ""] = /^[^:]*:(?:\/\/(?:[^@/]*@)?)?([^?]*)/.exec(url) ?? [];
    const [server = "", ...name] = path.split("/");
    const usual = /:\d+$/.test(server) ? "" : `:${port}`;
    // The name as it is: two databases may differ in case alone, and must not share answers.
    return `${schemes[0]}:${server.toLowerCase()}${usual}/${name.join("/")}`;
  },
  edgeFault: (url, { isPooled }) => (isPooled ? pooledFault : tlsFault(url)),
});

/** Which certificates are good is the runtime's matter: those of public authorities, for the server's own name. */
function tlsFault(url: string): AddressFault | null {
  const options = new URLSearchParams(/\?(.*)$/.exec(url)?.[1] ?? "");
  const hasOwn = ["sslrootcert", "sslcert", "sslkey"].some((name) => options.has(name));
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

/** Why a database server could not be reached: by the codes of Node's network and TLS errors, for every engine. */
import type { DatabaseFault } from "../../core/plans/db-port.ts";

/** The server that was tried. */
export interface ServerPlace {
  readonly host: string;
  readonly port: number;
  /** As the URL says them. */
  readonly user: string;
  readonly database: string;
}

/** For messages: `db.example:5432`. */
export const shownServer = ({ host, port }: ServerPlace): string =>
  `${host.includes(":") ? `[${host}]` : host}:${port}`;

/** Null if the error is not from the network or TLS. */
export function networkFault(error: unknown, place: ServerPlace): DatabaseFault | null {
  const code = codeOf(error);
  const server = shownServer(place);
  if (code === "ENOTFOUND" || code === "EAI_AGAIN")
    return fault(`the host "${place.host}" cannot be found`, "correct the host in database.url");
  if (code === "ECONNREFUSED")
    return fault(
      `no server listens at ${server}`,
      "correct host and port in database.url, or start the server",
    );
  if (isSilent.test(code))
    return fault(
      `the server at ${server} does not answer`,
      "correct host and port in database.url, or check for a firewall in between",
    );
  if (isCertificate.test(code))
    return fault(
      `the certificate of the server at ${server} is not trusted (${code})`,
      "name the file of its authority as sslrootcert in database.url, or correct the host there",
    );
  if (isTls.test(code)) return noTlsAt(server);
  if (isCut.test(code))
    return fault(
      `the server at ${server} closes the connection`,
      "check that host and port in database.url belong to the database",
    );
  return null;
}

/** The URL requires TLS, and the server has none. */
export const noTlsAt = (server: string): DatabaseFault =>
  fault(
    `the server at ${server} offers no TLS, but database.url requires it`,
    "enable TLS on the server, or remove it from database.url",
  );

/** An error without a specific text, in the driver's words. */
export const unknownFault = (server: string, error: unknown): DatabaseFault =>
  fault(
    `the database at ${server} cannot be used (${error instanceof Error ? error.message : String(error)})`,
    "check the log of the server",
  );

/** A fault that may pass while the service runs. */
export const fault = (reason: string, remedy: string): DatabaseFault => ({
  reason,
  remedy,
  isLasting: false,
});

/** The `code` of an error of Node or of a driver; empty where it has none. */
export const codeOf = (error: unknown): string =>
  typeof error === "object" && error !== null && "code" in error && typeof error.code === "string"
    ? error.code
    : "";

const isSilent = /^(ETIMEDOUT|CONNECT_TIMEOUT|EHOSTUNREACH|ENETUNREACH|EHOSTDOWN)$/;
const isCertificate = /CERT|^UNABLE_TO_/;
const isTls = /^(HANDSHAKE_NO_SSL_SUPPORT|HANDSHAKE_SSL_ERROR|ERR_TLS_REFUSED|ERR_SSL_\w+|EPROTO)$/;
const isCut = /^(ECONNRESET|EPIPE|ECONNABORTED|CONNECTION_\w+|PROTOCOL_\w+)$/;

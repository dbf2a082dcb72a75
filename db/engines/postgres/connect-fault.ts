/** Tells the operator why a PostgreSQL database cannot be used: by SQLSTATE, else by the network's error. */
import type { DatabaseFault } from "../../../core/plans/db-port.ts";
import {
  codeOf,
  fault,
  networkFault,
  type ServerPlace,
  shownServer,
  unknownFault,
} from "../network-fault.ts";

export function connectFault(error: unknown, place: ServerPlace): DatabaseFault {
  const server = shownServer(place);
  const code = codeOf(error);
  if (code === "28P01")
    return fault(
      `the server at ${server} refuses the password of the user "${place.user}"`,
      "correct user and password in database.url",
    );
  if (code.startsWith("28"))
    return fault(
      `the server at ${server} does not accept the user "${place.user}"`,
      "correct the user in database.url, or allow it in pg_hba.conf, with or without TLS",
    );
  if (code.startsWith("SASL_"))
    return fault(
      `the server at ${server} uses a password method that is not supported`,
      "correct user and password in database.url",
    );
  if (code === "3D000")
    return fault(
      `the server at ${server} has no database "${place.database}"`,
      "correct its name in database.url, or create it",
    );
  if (code === "42501")
    return fault(
      `the user "${place.user}" may not connect to the database "${place.database}"`,
      "grant it CONNECT, or correct the user in database.url",
    );
  if (code === "53300")
    return fault(
      `the server at ${server} has no free connection`,
      "raise max_connections on the server, or lower database.pool",
    );
  if (code.startsWith("57P"))
    return fault(`the server at ${server} is starting or stopping`, "wait until it is up");
  return networkFault(error, place) ?? unknownFault(server, error);
}

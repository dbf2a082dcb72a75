/** Tells the operator why a MySQL or MariaDB database is unusable: by the server's error number, else the network's. */
import type { DatabaseFault } from "../../../core/plans/db-port.ts";
import {
  fault,
  networkFault,
  type ServerPlace,
  shownServer,
  unknownFault,
} from "../network-fault.ts";

export function connectFault(error: unknown, place: ServerPlace): DatabaseFault {
  const { user, database } = place;
  const server = shownServer(place);
  switch ((error as { errno?: unknown } | null)?.errno) {
    case 1045:
    case 1698:
      return fault(
        `the server at ${server} refuses the user "${user}" or the password`,
        "correct user and password in database.url",
      );
    case 1044:
      return fault(
        `the user "${user}" may not use the database "${database}"`,
        "grant it the right, or correct user and database in database.url",
      );
    case 1049:
      return fault(
        `the server at ${server} has no database "${database}"`,
        "correct its name in database.url, or create it",
      );
    case 1130:
      return fault(
        `the server at ${server} does not accept connections from this machine`,
        "create a database user for this client address",
      );
    case 1040:
    case 1203:
      return fault(
        `the server at ${server} has no free connection`,
        "raise max_connections on the server, or lower database.pool",
      );
    case 3159:
      return fault(
        `the server at ${server} requires TLS`,
        "add ?ssl-mode=verify_identity to database.url",
      );
    default:
      return networkFault(error, place) ?? unknownFault(server, error);
  }
}

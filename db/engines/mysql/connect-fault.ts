/** Why a MySQL or MariaDB database cannot be used, in words for its operator: by the server's number, else by what the network says. */
import type { DatabaseFault } from "../../../core/plans/ports.ts";
import { fault, networkFault, shownServer, unknownFault } from "../network-fault.ts";
import type { ServerPlace } from "../network-fault.ts";

/** What the URL says of the database. */
export interface MysqlPlace extends ServerPlace {
  readonly user: string;
  readonly database: string;
}

export function connectFault(error: unknown, place: MysqlPlace): DatabaseFault {
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

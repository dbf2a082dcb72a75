/** URLs of MySQL and MariaDB databases. */
import { serverAddress } from "../database-address.ts";

export const address = serverAddress({
  schemes: ["mysql", "mariadb"],
  title: "MySQL or MariaDB",
  driver: "mysql2",
  port: 3306,
  pooledFault: {
    found: "MySQL or MariaDB behind Hyperdrive, which passes on no prepared statements",
    expected: "the address of the database itself, in a variable or a secret",
  },
  hasPolicies: false,
});

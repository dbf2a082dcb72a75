/** URLs of PostgreSQL databases. */
import { serverAddress } from "../database-address.ts";

export const address = serverAddress({
  schemes: ["postgres", "postgresql"],
  title: "PostgreSQL",
  driver: "postgres",
  port: 5432,
  pooledFault: null,
  hasPolicies: true,
});

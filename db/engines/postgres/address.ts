/** What the URL of a PostgreSQL database says. */
import { serverAddress } from "../database-address.ts";

export const address = serverAddress({
  schemes: ["postgres", "postgresql"],
  title: "PostgreSQL",
  driver: "postgres",
  port: 5432,
  pooledFault: null,
  hasPolicies: true,
});

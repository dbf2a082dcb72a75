/** How often a request waits for MariaDB, which cannot return what it changed, and whose COMMIT must not come too early. */
import { testRoundTrips } from "./round-trips.ts";

testRoundTrips({
  first: { items: 1, kept: 1 },
  create: { items: 1, kept: 3 },
  update: { items: 2, kept: 4 },
  adjust: { items: 2, kept: 4 },
});

/**
 * How often a request waits for MariaDB, which cannot return what it changed: an UPDATE goes with the SELECT of its row.
 * A COMMIT waits for the statements before it, if one that fails has to undo others.
 */
import { testRoundTrips } from "./round-trips.ts";

testRoundTrips({
  first: { items: 1, kept: 1, marked: 1 },
  create: { items: 1, kept: 2, marked: 2 },
  update: { items: 1, kept: 3, marked: 3 },
  adjust: { items: 1, kept: 3, marked: 3 },
});

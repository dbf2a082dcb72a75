/** The tests of create, update and delete, with each record sent alone through the bulk actions. */
import { vi } from "vitest";

vi.mock("./shop.ts", async (load) => {
  const original = await load<typeof import("./shop.ts")>();
  const { throughBulk } = await import("./through-bulk.ts");
  return { ...original, openShop: throughBulk(original.openShop, 0) };
});

// Under names of their own: this process may have loaded the files already, and would then add no tests.
for (const action of ["create", "update", "delete"]) await import(`./${action}.test.ts?bulk-one`);

/** The tests of create, update and delete, with each record sent among fifty others through the bulk actions. */
import { vi } from "vitest";

vi.mock("./shop.ts", async (load) => {
  const original = await load<typeof import("./shop.ts")>();
  const { throughBulk } = await import("./through-bulk.ts");
  return { ...original, openShop: throughBulk(original.openShop, 50) };
});

await import("./create.test.ts");
await import("./update.test.ts");
await import("./delete.test.ts");

/** The tests of create and update, with each record sent among fifty others through bulk-create and bulk-update. */
import { vi } from "vitest";

vi.mock("./shop.ts", async (load) => {
  const original = await load<typeof import("./shop.ts")>();
  const { throughBulk } = await import("./through-bulk.ts");
  return { ...original, openShop: throughBulk(original.openShop, 50) };
});

await import("./create.test.ts");
await import("./update.test.ts");

/** Files of writes that exceed the request's time limit: they go as soon as the write is undone. */
import { afterAll, expect, test, vi } from "vitest";
import { check } from "./cases.ts";
import { ledgerRow, stored, uploaded } from "./files.ts";
import { openFixture, openForTests } from "./harness.ts";

/** Of the next requests. */
const deadline = vi.hoisted(() => ({ ms: 20_000 }));
vi.mock("../../core/values/limits.ts", async (original) => {
  const { limits } = await original<typeof import("../../core/values/limits.ts")>();
  const requestDeadlineMs = { get: () => deadline.ms, enumerable: true };
  return { limits: Object.defineProperties({ ...limits }, { requestDeadlineMs }) };
});
// Test files share their modules: the service of this one reads the limits anew, and so does that of the next.
vi.resetModules();
afterAll(() => void vi.resetModules());

let isWritten = false;
const fixture = openForTests(openFixture, {
  tables: [{ name: "papers", columns: { paper_id: "key", scan: "json" } }],
  endpoints: {
    papers: {
      tableName: "papers",
      action: { create: true },
      files: { scan: {} },
      components: { onAfterInsert: ["components/probe.ts#hang"] },
    },
  },
  components: {
    "components/probe.ts": {
      hang() {
        isWritten = true;
        return new Promise(() => undefined);
      },
    },
  },
});

test("a file is removed with the write that took too long", async () => {
  const { id } = await uploaded(fixture, "papers");
  const scan = { id };
  // A busy machine may not get as far in the time.
  for (deadline.ms = 500; !isWritten; deadline.ms *= 2)
    check(await fixture.post("papers/create", { scan }), {
      status: 503,
      error: "Service unavailable",
    });
  deadline.ms = 20_000;
  // The answer does not wait for it.
  await expect.poll(() => ledgerRow(fixture, id)).toBeNull();
  expect(await stored(fixture)).not.toContain(id);
});

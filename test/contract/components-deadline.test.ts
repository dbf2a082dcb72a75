/** Handlers that exceed the request's time limit: an error for the client, a rollback, and a free connection. */
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, expect, test, vi } from "vitest";
import { check } from "./cases.ts";
import { openWorkshop } from "./workshop.ts";

vi.mock("../../core/values/limits.ts", async (original) => {
  const { limits } = await original<typeof import("../../core/values/limits.ts")>();
  return { limits: { ...limits, requestDeadlineMs: 400 } };
});
// Test files share their modules: the service of this one reads the limits anew, and so does that of the next.
vi.resetModules();
afterAll(() => void vi.resetModules());

const { workshop, on, logged } = openWorkshop();
const { post } = workshop;
const overdue = {
  status: 503,
  error: "Service unavailable",
  message: "The request took too long to process",
};
const part = (id: string) => ({ part_id: id, code: id, name: "slow" });
const idsOf = async () =>
  (await workshop.fixture.sql("select part_id from parts")).map((row) => row["part_id"]);

test.each(["onBeforeInsert", "onAfterInsert"] as const)(
  "a handler of %s that never settles ends with the request",
  async (event) => {
    on[event] = () => new Promise(() => undefined);
    check(await post("parts", "create", part(`never-${event}`)), overdue);
    await pause(50);
    const line = logged.find((one) =>
      JSON.stringify(one).includes("exceeded the time limit of its request"),
    );
    expect(line).toMatchObject({ handler: "test/components/probe.ts#run" });
    delete on[event];
    // SQLite has one writer: were it still held, this would wait in vain.
    check(await post("parts", "create", part(`next-${event}`)), { status: 201 });
    expect(await idsOf()).not.toContain(`never-${event}`);
  },
);

test("a handler that asks the database for ever ends with the request, and lets others go on", async () => {
  on.onBeforeInsert = async ({ query }) => {
    for (;;) await query("select count(*) from journal");
  };
  const asked = post("parts", "create", part("asking"));
  let isEnded = false;
  void asked.then(() => (isEnded = true));
  await pause(50);
  expect(isEnded).toBe(false);
  const { status, error } = overdue;
  check(await asked, { status, error });
  delete on.onBeforeInsert;
  check(await post("parts", "create", part("after-asking")), { status: 201 });
});

test("more hanging requests than connections leave the service working", async () => {
  on.onBeforeInsert = () => new Promise(() => undefined);
  const asked = Array.from({ length: 12 }, (_, at) => post("parts", "create", part(`many-${at}`)));
  for (const { status } of await Promise.all(asked)) expect(status).toBe(503);
  delete on.onBeforeInsert;
  check(await post("parts", "create", part("after-many")), { status: 201 });
});

test("a handler that goes on after its request can neither write nor bring the process down", async () => {
  const late = Promise.withResolvers<unknown>();
  on.onBeforeInsert = async ({ query }) => {
    await pause(600);
    void query("insert into journal (note) values ('unheard')");
    await query("insert into journal (note) values ('late')").catch(late.resolve);
    throw new Error("nobody listens");
  };
  check(await post("parts", "create", part("late")), overdue);
  expect(String(await late.promise)).toContain("ended");
  await pause(50);
  expect(await workshop.fixture.sql("select * from journal")).toEqual([]);
});

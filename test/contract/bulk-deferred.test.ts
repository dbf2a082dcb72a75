/** Writes over constraints that the database checks only when the transaction ends. */
import { beforeEach, describe, expect, inject, test } from "vitest";
import { check } from "./cases.ts";
import { type Answer, openFixture, openForTests } from "./harness.ts";

const bulk = { "bulk-create": true, "bulk-update": true, "bulk-delete": true, upsert: true };

// MySQL checks every constraint with its statement.
describe.skipIf(inject("engine") === "mysql")("a deferred reference", () => {
  const fixture = openForTests(openFixture, {
    tables: [],
    setUp: () => [
      `create table members (member_id varchar(36) primary key, label varchar(20),
           chief_id varchar(36) references members (member_id) deferrable initially deferred)`,
      `create table kept (member_id varchar(36) primary key, label varchar(20),
           chief_id varchar(36) references kept (member_id) deferrable initially deferred)`,
    ],
    endpoints: {
      members: {
        tableName: "members",
        action: { ...bulk, read: true, create: true, delete: true },
      },
      // Its last statement is one that no client knows of.
      kept: {
        tableName: "kept",
        history: true,
        action: { create: true, update: true, delete: true, history: true },
      },
    },
    project: { batch: { enabled: true } },
  });
  beforeEach(() => fixture.sql("delete from members"));

  const post = (path: string, body: unknown): Promise<Answer> => fixture.post(path, body);
  const member = (member_id: string, chief_id: string | null = null) => ({ member_id, chief_id });
  const stored = async (): Promise<unknown[]> =>
    (await fixture.sql("select member_id from members order by member_id")).map(
      ({ member_id }) => member_id,
    );
  const faulty = [member("a"), member("b", "a"), member("c", "nobody"), member("d", "a")];
  const refusal = { status: 400, error: "Foreign key constraint" };
  const inUse = { status: 409, error: "Foreign key constraint" };

  test.each(["bulk-create", "upsert"])(
    "to no record is refused by %s with its index",
    async (name) => {
      const all = await post(`members/${name}`, { data: faulty });
      check(all, refusal);
      expect(Object.keys(all.body.errors)[0]).toMatch(/^\[2\]/);
      expect(await stored()).toEqual([]);
      const each = await post(`members/${name}`, { data: faulty, mode: "each" });
      expect(each.status, JSON.stringify(each.body)).toBe(207);
      expect(each.body.results.map((one: { success: boolean }) => one.success)).toEqual([
        true,
        true,
        false,
        true,
      ]);
      expect(await stored()).toEqual(["a", "b", "d"]);
    },
  );

  test("is refused by bulk-update with its index", async () => {
    check(await post("members/bulk-create", { data: ["a", "b", "c"].map((id) => member(id)) }), {
      status: 201,
    });
    const data = [member("a", "b"), member("b", "nobody"), member("c", "a")];
    const all = await post("members/bulk-update", { data });
    check(all, refusal);
    expect(Object.keys(all.body.errors)[0]).toMatch(/^\[1\]/);
    const each = await post("members/bulk-update", { data, mode: "each", dry_run: true });
    expect(each.body.summary).toEqual({ succeeded: 2, failed: 1 });
  });

  test("of a record that others point at is refused by bulk-delete with its index", async () => {
    check(
      await post("members/bulk-create", { data: [member("a"), member("b", "a"), member("c")] }),
      { status: 201 },
    );
    const all = await post("members/bulk-delete", { keys: ["c", "a"] });
    check(all, inUse);
    expect(Object.keys(all.body.errors)[0]).toMatch(/^\[1\]/);
    expect(await stored()).toEqual(["a", "b", "c"]);
    const each = await post("members/bulk-delete", { keys: ["c", "a"], mode: "each" });
    expect(each.status).toBe(207);
    expect(each.body.results[1]).toMatchObject({ error: inUse.error });
    expect(await stored()).toEqual(["a", "b"]);
    // Together they leave nothing that points at nobody.
    check(await post("members/bulk-delete", { keys: ["a", "b"] }), { status: 200 });
  });

  test("is refused by a trial and by a step of a batch as by the action itself", async () => {
    const data = ["a", "b"].map((id) => member(id, id === "b" ? "a" : null));
    check(await post("members/bulk-create", { data }), { status: 201 });
    const body = { where: [{ key: "member_id", value: "a" }] };
    const trial = { "Content-Type": "application/json", Prefer: "tx=rollback" };
    const attempt = (action: string, sent: object) =>
      fixture.request(`/api/test/members/${action}`, {
        method: "POST",
        headers: trial,
        body: JSON.stringify(sent),
      });
    check(await post("members/delete", body), inUse);
    check(await attempt("delete", body), inUse);
    check(
      await post("_batch", { steps: [{ endpoint: "members", action: "delete", body }] }),
      inUse,
    );
    const lost = member("c", "nobody");
    const { body: refused } = await post("members/create", lost);
    const tried = await attempt("create", lost);
    check(tried, refusal);
    expect(tried.body.errors).toEqual(refused.errors);
  });

  test("to a later record of the request is possible", async () => {
    const data = [member("a", "c"), member("b", "a"), member("c", "b")];
    for (const mode of ["all", "each"]) {
      const answer = await post("members/bulk-create", { data, mode });
      expect(answer.status, JSON.stringify(answer.body)).toBe(mode === "all" ? 201 : 200);
      expect(await stored()).toEqual(["a", "b", "c"]);
      await fixture.sql("delete from members");
    }
  });

  test("to a record of a later step of a batch is possible", async () => {
    const step = (data: object[]) => ({
      endpoint: "members",
      action: "bulk-create",
      body: { data },
    });
    const first = step([member("a", "late")]);
    check(await post("_batch", { steps: [first, step([member("late")])] }), { status: 200 });
    await fixture.sql("delete from members");
    check(await post("_batch", { steps: [first, step([member("other")])] }), refusal);
    expect(await stored()).toEqual([]);
  });

  test.each(["before", "after"])("to no record is not told as a delete %s it", async (place) => {
    check(await post("members/create", member("a")), { status: 201 });
    const remove = { where: [{ key: "member_id", value: "a" }] };
    const steps = [
      { endpoint: "members", action: "delete", body: remove },
      { endpoint: "members", action: "create", body: member("b", "nobody") },
    ];
    const { status, body } = await post("_batch", {
      steps: place === "before" ? steps : steps.toReversed(),
    });
    expect([status, body.error, await stored()]).toEqual([400, refusal.error, ["a"]]);
  });

  test("is refused as without history where changes are recorded", async () => {
    const { body: refused } = await post("members/create", member("a", "nobody"));
    const kept = await post("kept/create", member("a", "nobody"));
    check(kept, refusal);
    expect(kept.body.errors).toEqual(refused.errors);
    check(await post("kept/create", member("a")), { status: 201 });
    check(await post("kept/update", member("a", "nobody")), refusal);
    check(await post("kept/create", member("b", "a")), { status: 201 });
    check(await post("kept/delete", { where: [{ key: "member_id", value: "a" }] }), inUse);
    const history = await post("kept/history", {});
    expect(history.body.data.map(({ action }: { action: string }) => action)).toEqual([
      "create",
      "create",
    ]);
    expect(await fixture.sql("select label, chief_id from kept order by member_id")).toEqual([
      { label: null, chief_id: null },
      { label: null, chief_id: "a" },
    ]);
  });
});

/** Keys in `readOnlyFields`: the service or the database makes those of new records, whatever a body says. */
import { beforeEach, describe, expect, test } from "vitest";
import { apiKey, by } from "./api-keys.ts";
import { check, record, uuid } from "./cases.ts";
import { type Answer, openFixture, openForTests } from "./harness.ts";

const write = { create: true, update: true, read: true, delete: true };
const bulk = { "bulk-create": true, upsert: true };
const fixture = openForTests(async () => {
  const owners = {
    tableName: "owners",
    primaryKey: "owner_id",
    access: { owner: "*", clerk: "*" },
  };
  const crud = { ...owners, action: { ...write, ...bulk } };
  return openFixture({
    tables: [
      { name: "owners", columns: { owner_id: "key", title: { type: "text(20)", unique: true } } },
      {
        name: "pets",
        columns: {
          pet_id: "identity",
          owner_id: { type: "text(36)", references: { table: "owners", column: "owner_id" } },
          name: "text(20)",
        },
      },
      { name: "words", columns: { word: "text(20)", number: "integer" }, primaryKey: ["word"] },
    ],
    project: { auth: { apiKeys: [apiKey("owner"), apiKey("clerk")] } },
    endpoints: {
      owners: { ...crud, readOnlyFields: ["owner_id"] },
      some: { ...crud, readOnlyFields: { clerk: ["owner_id"] } },
      kept: {
        ...crud,
        action: { ...crud.action, history: true, revert: true },
        history: true,
        readOnlyFields: { clerk: ["owner_id"] },
      },
      pets: {
        tableName: "pets",
        primaryKey: "pet_id",
        access: { owner: "*" },
        action: { ...write, ...bulk },
        readOnlyFields: ["pet_id"],
      },
      words: {
        tableName: "words",
        primaryKey: "word",
        access: { owner: "*" },
        action: write,
        readOnlyFields: ["word"],
      },
      documents: {
        tableName: "owners",
        primaryKey: "owner_id",
        access: { owner: "*" },
        action: { "create-composite": true, "update-composite": true, "read-composite": true },
        masterDetail: { detailTable: "pets", foreignKey: "owner_id" },
        readOnlyFields: ["owner_id", "pet_id"],
      },
    },
  });
});
beforeEach(async () => {
  for (const table of ["pets", "owners", "words"]) await fixture.sql(`delete from ${table}`);
  await fixture.sql("insert into owners (owner_id, title) values ('o1', 'one')");
});

const as = (role: string, place: string, body: object): Promise<Answer> =>
  fixture.post(place, body, by(role));
const ids = async (): Promise<unknown[]> =>
  ((await fixture.sql("select owner_id from owners order by title")) as { owner_id: string }[]).map(
    ({ owner_id }) => owner_id,
  );

describe("a read-only key", () => {
  test("is made by the service in create", async () => {
    const made = record(await as("owner", "owners/create", { owner_id: "mine", title: "two" }));
    expect(made["owner_id"]).toMatch(uuid);
    expect(await ids()).toEqual(["o1", made["owner_id"]]);
  });

  test("is made by the database in create", async () => {
    const made = record(await as("owner", "pets/create", { pet_id: 700, name: "a" }));
    expect(made).toMatchObject({ pet_id: expect.any(Number), name: "a" });
    expect(made["pet_id"]).not.toBe(700);
  });

  test("is made in bulk-create", async () => {
    const answer = await as("owner", "owners/bulk-create", {
      data: [
        { owner_id: "mine", title: "two" },
        { owner_id: "mine", title: "three" },
      ],
    });
    expect(answer.status).toBe(201);
    expect(await ids()).not.toContain("mine");
    expect(await ids()).toHaveLength(3);
  });

  test("is made in a document and its lines", async () => {
    const header = { owner_id: "mine", title: "two", pets: [{ pet_id: 700, name: "a" }] };
    const answer = await as("owner", "documents/create-composite", { owners: header });
    expect(answer.status).toBe(201);
    expect(await ids()).not.toContain("mine");
    expect(await fixture.sql("select name from pets where pet_id = 700")).toEqual([]);
    expect(await fixture.sql("select name from pets")).toEqual([{ name: "a" }]);
  });

  test("still names the records of update and delete", async () => {
    const changed = await as("owner", "owners/update", { owner_id: "o1", title: "uno" });
    expect(record(changed)).toMatchObject({ owner_id: "o1", title: "uno" });
    const gone = await as("owner", "owners/delete", { where: [{ key: "owner_id", value: "o1" }] });
    expect(gone.status).toBe(200);
  });

  test("still names the lines of a document", async () => {
    await fixture.sql("insert into pets (owner_id, name) values ('o1', 'a')");
    const [line] = (await fixture.sql("select pet_id from pets")) as { pet_id: number }[];
    const answer = await as("owner", "documents/update-composite", {
      owners: { owner_id: "o1", pets: { update: [{ pet_id: Number(line!.pet_id), name: "b" }] } },
    });
    expect(answer.status).toBe(200);
    expect(await fixture.sql("select name from pets")).toEqual([{ name: "b" }]);
  });

  test("that nothing makes is required, and not taken", async () => {
    const answer = await as("owner", "words/create", { word: "mine", number: 1 });
    check(answer, { status: 400, error: "Validation failed", errors: { word: ["is required"] } });
    expect(await fixture.sql("select word from words")).toEqual([]);
  });

  test("does not find records for upsert", async () => {
    const body = { by: ["owner_id"], data: [{ owner_id: "o1", title: "uno" }] };
    check(await as("owner", "owners/upsert", body), { status: 400, error: "Invalid parameter" });
    const unnamed = { data: [{ owner_id: "o1", title: "uno" }] };
    check(await as("owner", "owners/upsert", unnamed), { status: 400, error: "Invalid parameter" });
    expect(await fixture.sql("select title from owners")).toEqual([{ title: "one" }]);
  });

  test("is made where upsert finds no record by another column", async () => {
    const body = { by: ["title"], data: [{ owner_id: "mine", title: "two" }] };
    expect((await as("owner", "owners/upsert", body)).status).toBe(200);
    expect(await ids()).toEqual(["o1", expect.stringMatching(uuid)]);
  });
});

describe("a key that is read-only for one role", () => {
  test.each([
    ["that role", "clerk", expect.stringMatching(uuid)],
    ["others", "owner", "mine"],
  ])("of %s", async (_, role, key) => {
    const made = record(await as(role, "some/create", { owner_id: "mine", title: "two" }));
    expect(made["owner_id"]).toEqual(key);
  });

  test("finds records for upsert of others alone", async () => {
    const body = { by: ["owner_id"], data: [{ owner_id: "o1", title: "uno" }] };
    check(await as("clerk", "some/upsert", body), { status: 400, error: "Invalid parameter" });
    expect((await as("owner", "some/upsert", body)).status).toBe(200);
  });
});

test("a deleted record comes back under its key, or not at all", async () => {
  await as("owner", "kept/delete", { where: [{ key: "owner_id", value: "o1" }] });
  const [entry] = (await as("owner", "kept/history", { owner_id: "o1" })).body.data;
  const revert = (role: string) => as(role, "kept/revert", { change_id: entry.change_id });
  check(await revert("clerk"), {
    status: 409,
    error: "Constraint violation",
    message:
      "The record cannot be created again, because you may not set all of its values: those of owner_id are missing",
  });
  expect(await ids()).toEqual([]);
  expect(record(await revert("owner"))).toMatchObject({ owner_id: "o1", title: "one" });
});

test("OpenAPI says that no body of create sets it", async () => {
  const { body } = await fixture.request("/api/test/openapi.json", { headers: by("owner") });
  const { OwnersCreate, SomeCreate } = body.components.schemas;
  expect(OwnersCreate.properties.owner_id).toEqual({ readOnly: true });
  expect(SomeCreate.properties.owner_id).not.toEqual({ readOnly: true });
});

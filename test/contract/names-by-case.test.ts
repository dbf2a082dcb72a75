/**
 * Two tables whose names differ only in case are two tables: rights, marks, history and references of one are not those
 * of the other. Names of SQLite ignore case. So do those of MySQL and MariaDB on some systems, but not on Linux.
 */
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { apiKey, by } from "./api-keys.ts";
import { type Fixture, openFixture } from "./harness.ts";

const engine = inject("engine");
const quoted = (name: string): string => (engine === "mysql" ? `\`${name}\`` : `"${name}"`);
const large = quoted("Rooms");

describe.skipIf(engine === "sqlite")("two tables whose names differ only in case", () => {
  let fixture: Fixture;
  beforeAll(async () => {
    const all = { "*": "*" };
    const read = { read: true, first: true, create: true, update: true, aggregate: true };
    fixture = await openFixture({
      project: { auth: { apiKeys: [apiKey("a", ["a"])] } },
      tables: [],
      setUp: () => [
        "create table rooms (id integer primary key, name varchar(20), is_deleted boolean)",
        `create table ${large} (id integer primary key, name varchar(20), is_deleted boolean, room_id integer references rooms(id), foreign key (room_id) references rooms(id))`,
        "insert into rooms values (1, 'cellar', false), (2, 'attic', true), (3, 'loft', false)",
        `insert into ${large} values (1, 'hall', true, 1), (2, 'stage', false, 3)`,
      ],
      endpoints: {
        large: {
          tableName: "Rooms",
          action: read,
          access: all,
          relations: { room: { endpoint: "small", column: "room_id" } },
          aggregateConfig: {
            joins: {
              room: {
                tableName: "rooms",
                sourceField: "room_id",
                targetField: "id",
                fields: ["name"],
              },
            },
          },
        },
        small: {
          tableName: "rooms",
          action: { ...read, delete: true, restore: true },
          access: all,
          rowScope: { "*": { name: { operator: "!=", value: "cellar" } } },
          softDelete: true,
          history: true,
        },
      },
    });
  });
  afterAll(() => fixture?.close());

  test("have each their own row scope, also where one is joined to the other", async () => {
    const { status, body } = await fixture.post(
      "large/read",
      { select: ["name", "room.name"], sort_columns: [{ column: "id" }] },
      by("a"),
    );
    expect([status, body.data]).toEqual([
      200,
      [
        { name: "hall", room: null },
        { name: "stage", room: { name: "loft" } },
      ],
    ]);
    const groups = await fixture.post(
      "large/aggregate",
      { joins: ["room"], group_by: ["room.name"] },
      by("a"),
    );
    const names = groups.body.data.map((one: Record<string, unknown>) => one["room.name"]);
    expect(names.toSorted()).toEqual(["loft", null]);
  });

  test("have each their own marks of deleted records", async () => {
    const namesOf = async (endpoint: string) =>
      (await fixture.post(`${endpoint}/read`, { limit: 9 }, by("a"))).body.data.map(
        ({ name }: { name: string }) => name,
      );
    expect((await namesOf("large")).toSorted()).toEqual(["hall", "stage"]);
    expect(await namesOf("small")).toEqual(["loft"]);
  });

  test("have each their own history", async () => {
    await fixture.post("large/update", { id: 3, name: "foyer" }, by("a"));
    await fixture.post("large/update", { id: 2, name: "scene" }, by("a"));
    await fixture.post("small/update", { id: 3, name: "roof" }, by("a"));
    const rows = await fixture.sql("select table_name from rowgate_changes");
    expect(rows.map((row) => String(row["table_name"]).split(".")[1])).toEqual(["rooms"]);
  });
});

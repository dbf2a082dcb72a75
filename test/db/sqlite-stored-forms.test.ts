/** Dates and times that other programs stored in their own forms: requests find, sort and write them by value. */
import { describe, expect, test } from "vitest";
import { openFixture, openForTests } from "../contract/harness.ts";

/** The instants of the rows, by key. */
const instants: Readonly<Record<string, string>> = {
  a: "2026-01-01T00:00:00.000Z",
  b: "2026-01-01T08:15:00.000Z",
  c: "2026-01-01T08:15:00.500Z",
  d: "2026-01-02T00:00:00.000Z",
  e: "2026-01-02T08:15:01.000Z",
};

const spaced = (iso: string, digits: number): string =>
  `${iso.slice(0, 10)} ${iso.slice(11, 19)}${digits === 0 ? "" : `.${iso.slice(20, 23).padEnd(digits, "0")}`}`;
const usual = (iso: string): string => spaced(iso, iso.endsWith(".000Z") ? 0 : 3);
const shifted = (iso: string): string =>
  new Date(Date.parse(iso) + 7_200_000).toISOString().replace("Z", "+02:00");
const text = (form: (iso: string) => string) => (iso: string) => `'${form(iso)}'`;

interface Form {
  readonly name: string;
  /** SQL of a stored value. */
  readonly stored: (iso: string, key: string) => string;
  readonly keys?: string;
  /** What is stored for 2026-01-03T10:00:00Z. */
  readonly written: string | number;
}

const milliseconds = (iso: string): string => String(Date.parse(iso));
const forms: readonly Form[] = [
  { name: "usual texts", stored: text(usual), written: "2026-01-03 10:00:00" },
  { name: "ISO 8601 in UTC", stored: text((iso) => iso), written: "2026-01-03T10:00:00.000Z" },
  {
    name: "ISO 8601 in UTC without fractions",
    stored: text((iso) => `${iso.slice(0, 19)}Z`),
    keys: "abde",
    written: "2026-01-03T10:00:00Z",
  },
  {
    name: "six digits of a fraction",
    stored: text((iso) => spaced(iso, 6)),
    written: "2026-01-03 10:00:00.000000",
  },
  {
    name: "a blank before the zone",
    stored: text((iso) => `${spaced(iso, 3)} +00:00`),
    written: "2026-01-03 10:00:00.000 +00:00",
  },
  { name: "whole milliseconds", stored: milliseconds, written: 1_767_434_400_000 },
  {
    name: "whole seconds",
    stored: (iso) => String(Date.parse(iso) / 1_000),
    keys: "abde",
    written: 1_767_434_400,
  },
  {
    name: "bare dates",
    stored: text((iso) => iso.slice(0, 10)),
    keys: "ad",
    written: "2026-01-03 10:00:00",
  },
  { name: "an offset", stored: text(shifted), written: "2026-01-03 10:00:00" },
  {
    name: "Julian days",
    stored: (iso) => String(Date.parse(iso) / 86_400_000 + 2_440_587.5),
    written: "2026-01-03 10:00:00",
  },
  {
    name: "all of these in one column",
    stored(iso, key) {
      if (key === "a") return `'${iso.slice(0, 10)}'`;
      if (key === "b") return `'${iso}'`;
      if (key === "c") return milliseconds(iso);
      return key === "d" ? `'${shifted(iso)}'` : `'${usual(iso)}'`;
    },
    written: "2026-01-03 10:00:00",
  },
];

describe.each(forms)("timestamps stored as $name", ({ stored, written, keys = "abcde" }) => {
  const rows = [...keys].map((id) => ({ id, at: instants[id]! }));
  const fixture = openForTests(openFixture, {
    engine: "sqlite",
    tables: [],
    setUp: () => [
      "CREATE TABLE events (id TEXT PRIMARY KEY, at DATETIME, updated_at DATETIME)",
      "CREATE INDEX events_at ON events (at)",
      "CREATE VIEW event_list AS SELECT id, at FROM events",
      "CREATE VIEW twice AS SELECT id, at FROM events UNION SELECT id, at FROM events",
      ...rows.map(
        ({ id, at }) => `INSERT INTO events VALUES ('${id}', ${stored(at, id)}, ${stored(at, id)})`,
      ),
      "INSERT INTO events VALUES ('z', NULL, NULL)",
    ],
    endpoints: Object.fromEntries(
      ["events", "event_list", "twice"].map((name) => [
        name,
        {
          tableName: name,
          primaryKey: "id",
          action: {
            read: true,
            first: true,
            aggregate: true,
            datatables: true,
            ...(name === "events" && { create: true, update: true, delete: true }),
          },
        },
      ]),
    ),
  });

  const found = async (endpoint: string, body: object): Promise<string[]> => {
    const answer = await fixture.post(`${endpoint}/read`, { limit: 100, ...body });
    expect(answer.status).toBe(200);
    return answer.body.data.map(({ id }: { id: string }) => id);
  };
  const where = (operator: string, value: unknown) => ({
    where: { conditions: [{ key: "at", operator, value }] },
  });
  const keysOf = (holds: (at: string) => boolean): string[] =>
    rows.filter(({ at }) => holds(at)).map(({ id }) => id);

  describe.each(["events", "event_list", "twice"])("read from %s", (endpoint) => {
    test("show the instant", async () => {
      const { body } = await fixture.post(`${endpoint}/read`, { limit: 100 });
      const byKey = (one: { id: string }, other: { id: string }) => (one.id < other.id ? -1 : 1);
      const shown = body.data.map(({ id, at }: { id: string; at: string }) => ({ id, at }));
      expect(shown.toSorted(byKey)).toEqual([...rows, { id: "z", at: null }]);
    });

    test.each(Object.values(instants))("compare with %s by value", async (at) => {
      for (const [operator, value, holds] of [
        ["=", at, (one: string) => one === at],
        ["!=", at, (one: string) => one !== at],
        ["<", at, (one: string) => one < at],
        ["<=", at, (one: string) => one <= at],
        [">", at, (one: string) => one > at],
        [">=", at, (one: string) => one >= at],
        ["IN", [at, instants["a"]], (one: string) => one === at || one === instants["a"]],
        ["BETWEEN", [instants["b"], at], (one: string) => one >= instants["b"]! && one <= at],
        ["LIKE", `${at.slice(0, 16)}%`, (one: string) => one.startsWith(at.slice(0, 16))],
      ] as const) {
        const answer = (await found(endpoint, where(operator, value))).toSorted();
        expect({ operator, value, answer }).toEqual({ operator, value, answer: keysOf(holds) });
      }
    });

    test("sort by value, in pages of a cursor too", async () => {
      const sort = (direction: string) => ({ sort_columns: [{ column: "at", direction }] });
      expect(await found(endpoint, sort("ASC"))).toEqual(["z", ...keys]);
      expect(await found(endpoint, sort("DESC"))).toEqual([...keys].toReversed().concat("z"));
      const walked: string[] = [];
      let cursor: unknown = true;
      while (cursor !== null) {
        const { body } = await fixture.post(`${endpoint}/read`, {
          per_page: 2,
          cursor,
          ...sort("ASC"),
        });
        walked.push(...body.data.map(({ id }: { id: string }) => id));
        cursor = body.pagination.next_cursor ?? null;
      }
      expect(walked).toEqual(["z", ...keys]);
    });

    test("aggregate by value", async () => {
      const { body } = await fixture.post(`${endpoint}/aggregate`, {
        operations: [
          { function: "min", field: "at", alias: "first" },
          { function: "max", field: "at", alias: "last" },
        ],
      });
      expect(body.data).toEqual({ first: rows[0]!.at, last: rows.at(-1)!.at });
      const grouped = await fixture.post(`${endpoint}/aggregate`, {
        group_by: ["at"],
        having: { conditions: [{ key: "at", operator: ">=", value: rows[1]!.at }] },
        sort_columns: [{ column: "at", direction: "ASC" }],
      });
      expect(grouped.body.data.map(({ at }: { at: string }) => at)).toEqual(
        rows.slice(1).map(({ at }) => at),
      );
    });

    test("are found by the grid's search", async () => {
      const { body } = await fixture.post(`${endpoint}/datatables`, {
        draw: 1,
        columns: [{ data: "at", search: { value: "2026-01-02T00:00:00" } }],
      });
      expect(body.data.map(({ id }: { id: string }) => id)).toEqual(
        keysOf((at) => at.startsWith("2026-01-02T00:00:00")),
      );
    });
  });

  test("are written in that form, and found again", async () => {
    const at = "2026-01-03T10:00:00.000Z";
    const created = await fixture.post("events/create", { id: "n", at });
    expect(created.body.data.at).toBe(at);
    expect(await found("events", where("=", at))).toEqual(["n"]);
    expect(await fixture.sql("SELECT at FROM events WHERE id = 'n'")).toEqual([{ at: written }]);
    const deleted = await fixture.post("events/delete", { where: [{ key: "at", value: at }] });
    expect(deleted.body.data.deleted_count).toBe(1);
  });

  test("an update is stamped in that form, later each time", async () => {
    const first = await fixture.post("events/update", { id: "a", at: instants["a"] });
    const second = await fixture.post("events/update", { id: "a", at: instants["a"] });
    expect(second.body.data.updated_at >= first.body.data.updated_at).toBe(true);
    const read = await fixture.post("events/read", {
      where: {
        conditions: [{ key: "updated_at", operator: "=", value: second.body.data.updated_at }],
      },
    });
    expect(read.body.data.map(({ id }: { id: string }) => id)).toEqual(["a"]);
    const types = await fixture.sql(
      "SELECT count(DISTINCT typeof(updated_at)) AS types FROM events WHERE id IN ('a', 'd')",
    );
    if (typeof written === "number") expect(types).toEqual([{ types: 1 }]);
  });
});

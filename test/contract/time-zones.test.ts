/**
 * Buckets and parts in time zones, compared with what `Intl` shows at each instant: around every change of clocks in
 * twenty years, and at random instants. In every form in which the database can store a time.
 */
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import type { EngineName } from "../servers/session.ts";
import { type Fixture, openFixture } from "./harness.ts";
import { randomFrom } from "./known-schemas.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Random instants of each time zone, beside those around all changes of clocks; absent: a few of both. */
    zoneInstants?: number;
  }
}

const zones = [
  "Europe/Vienna",
  "America/New_York",
  "Asia/Kolkata",
  "Asia/Kathmandu",
  "Australia/Lord_Howe",
  "America/Sao_Paulo",
  "Africa/Casablanca",
  "Pacific/Apia",
  "Asia/Tehran",
  "America/St_Johns",
] as const;
const engine = inject("engine");
const randomInstants = inject("zoneInstants");
/** The same instants in every run, unless `ZONES_SEED` is set. */
const random = randomFrom(Number(process.env["ZONES_SEED"] ?? 30));

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;
const first = Date.UTC(2005, 0, 1);
const end = Date.UTC(2025, 0, 1);

const clocks = new Map(
  zones.map((zone) => [
    zone as string,
    new Intl.DateTimeFormat("sv-SE", { timeZone: zone, dateStyle: "short", timeStyle: "medium" }),
  ]),
);
const known = new Map<string, number>();

/** The time of the wall at an instant of whole seconds, as if it were UTC. */
function wallAt(zone: string, instant: number): number {
  const key = `${zone} ${instant}`;
  let wall = known.get(key);
  if (wall === undefined) {
    wall = Date.parse(`${clocks.get(zone)!.format(instant).replace(" ", "T")}Z`);
    known.set(key, wall);
  }
  return wall;
}

const offsetAt = (zone: string, instant: number): number => wallAt(zone, instant) - instant;

/** The first instants of other offsets. */
function changesOf(zone: string): number[] {
  const changes: number[] = [];
  for (let at = first; at < end; at += day) {
    if (offsetAt(zone, at) === offsetAt(zone, at + day)) continue;
    let [low, high] = [at, at + day];
    while (high - low > second) {
      const middle = low + Math.floor((high - low) / 2 / second) * second;
      if (offsetAt(zone, middle) === offsetAt(zone, at)) low = middle;
      else high = middle;
    }
    changes.push(high);
  }
  return changes;
}

/** Goes back step by step, to a full hour of the wall or to a change of clocks that makes another hour. */
function hourBefore(zone: string, instant: number): number {
  // Before, clocks had offsets of odd seconds.
  const step = instant < Date.UTC(1975, 0) ? second : minute;
  for (let at = Math.floor(instant / step) * step; ; at -= step) {
    const [wall, before] = [wallAt(zone, at), wallAt(zone, at - step)];
    const isOtherHour = Math.floor(wall / hour) !== Math.floor(before / hour);
    if (wall % hour === 0 || wall < before || isOtherHour) return at;
  }
}

const dayText = (wall: number | Date): string => new Date(wall).toISOString().slice(0, 10);
const hourText = (zone: string, instant: number): string =>
  new Date(hourBefore(zone, instant)).toISOString();

const nameOfDay: Readonly<Record<string, (wall: Date) => string>> = {
  year: (wall) => `${wall.getUTCFullYear()}-01-01`,
  quarter: (wall) =>
    dayText(Date.UTC(wall.getUTCFullYear(), wall.getUTCMonth() - (wall.getUTCMonth() % 3))),
  month: (wall) => `${dayText(wall).slice(0, 7)}-01`,
  week: (wall) => dayText(+wall - ((wall.getUTCDay() + 6) % 7) * day),
  day: dayText,
};

/** Every bucket and part of an instant. */
function expectedAt(zone: string, instant: number): object {
  const wall = new Date(wallAt(zone, Math.floor(instant / second) * second));
  const spans = Object.entries(nameOfDay).map(([unit, name]) => [unit, name(wall)]);
  return {
    ...Object.fromEntries(spans),
    hour: hourText(zone, instant),
    p_month: wall.getUTCMonth() + 1,
    p_weekday: ((wall.getUTCDay() + 6) % 7) + 1,
    p_day: wall.getUTCDate(),
    p_hour: wall.getUTCHours(),
  };
}

const distances = [
  -2 * hour,
  -hour,
  -30 * minute,
  -minute,
  -second,
  -1,
  0,
  1,
  minute - 1,
  minute,
  30 * minute - 1,
  30 * minute,
  hour - 1,
  hour,
  90 * minute,
  2 * hour,
  day,
];
const anyInstant = (): number => first + random.below(end - first);
/** Of the years that `Intl` writes with four digits, and more of those in which clocks changed. */
const farInstants = Array.from({ length: (randomInstants ?? 200) / 10 }, (_, at) => {
  const [from, to] = at % 2 === 0 ? [1000, 9999] : [1880, 2100];
  return from * 365.2425 * day - 1970 * 365.2425 * day + random.below((to - from) * 365.2425 * day);
}).map((at) => Math.round(at));
function instantsOf(zone: string): number[] {
  const changes = changesOf(zone);
  const some =
    randomInstants === undefined && changes.length > 0
      ? Array.from({ length: 6 }, () => random.pick(changes))
      : changes;
  const around = some.flatMap((change) => distances.map((by) => change + by));
  const anywhere = Array.from({ length: randomInstants ?? 60 }, anyInstant);
  return [...new Set([...around, ...anywhere])];
}

interface StoredForm {
  readonly type: string;
  /** Digits after the second. */
  readonly digits?: 0 | 3;
  readonly stored: (iso: string, at: number) => string;
}

const plain = (iso: string): string => `'${iso.slice(0, -1).replace("T", " ")}'`;
const forms: Readonly<Record<EngineName, Readonly<Record<string, StoredForm>>>> = {
  postgres: {
    timestamptz: { type: "timestamptz", stored: (iso) => `'${iso}'` },
    timestamp: { type: "timestamp(3)", stored: plain },
  },
  mysql: {
    datetime: { type: "datetime(3)", stored: plain },
    timestamp: { type: "timestamp(3) null", stored: plain },
  },
  sqlite: {
    spaced: { type: "datetime", stored: (iso) => plain(iso.replace(".000", "")) },
    iso: { type: "datetime", stored: (iso) => `'${iso}'` },
    milliseconds: { type: "datetime", stored: (iso) => String(Date.parse(iso)) },
    seconds: { type: "datetime", digits: 0, stored: (iso) => String(Date.parse(iso) / second) },
    julian: {
      type: "datetime",
      digits: 0,
      stored: (iso) => String(Date.parse(iso) / day + 2_440_587.5),
    },
    shifted: {
      type: "datetime",
      stored: (iso) =>
        `'${new Date(Date.parse(iso) + 2 * hour).toISOString().replace("Z", "+02:00")}'`,
    },
    mixed: {
      type: "datetime",
      stored: (iso, at) => [plain(iso), `'${iso}'`, String(Date.parse(iso))][at % 3]!,
    },
  },
};

const [[usualName, usualForm] = ["", { type: "", stored: plain }]] = Object.entries(forms[engine]);
const instants = new Map<string, readonly number[]>([
  ...zones.map((zone) => [zone, instantsOf(zone)] as const),
  ["any year", farInstants],
]);
const seenIn = ({ digits = 3 }: StoredForm, instant: number): number =>
  digits === 0 ? Math.floor(instant / second) * second : instant;

let fixture: Fixture;
beforeAll(async () => {
  fixture = await openFixture({
    tables: [],
    setUp: () => Object.entries(forms[engine]).flatMap(([name, form]) => tableOf(name, form)),
    endpoints: Object.fromEntries(
      Object.keys(forms[engine]).map((name) => [
        name,
        { tableName: `at_${name}`, primaryKey: "id", action: { aggregate: true } },
      ]),
    ),
  });
}, 120_000);
afterAll(() => fixture?.close());

function tableOf(name: string, form: StoredForm): string[] {
  // MySQL's own timestamps end in 2038, and numbers of SQLite are seconds or milliseconds by their size.
  const rows = [...zones, ...(name === usualName ? ["any year"] : [])].flatMap((zone) =>
    instants.get(zone)!.map((instant, at) => {
      const iso = new Date(seenIn(form, instant)).toISOString();
      return `('${zone}', ${at}, ${form.stored(iso, at)})`;
    }),
  );
  const inserts: string[] = [];
  for (let at = 0; at < rows.length; at += 1_000)
    inserts.push(`insert into at_${name} values ${rows.slice(at, at + 1_000).join(", ")}`);
  return [
    `create table at_${name} (zone varchar(40), id integer, happened ${form.type}, primary key (zone, id))`,
    ...inserts,
  ];
}

const units = ["year", "quarter", "month", "week", "day", "hour"];
const parts = ["month", "weekday", "day", "hour"];
const groups = [
  ...units.map((by) => ({ field: "happened", by, alias: by })),
  ...parts.map((part) => ({ field: "happened", part, alias: `p_${part}` })),
];

interface Asked {
  readonly name: string;
  readonly zone: string;
  /** Which instants; absent: those of the zone. */
  readonly of?: string;
  readonly conditions?: readonly object[];
}

async function aggregate(
  { name, zone, of = zone, conditions = [] }: Asked,
  body: object,
): Promise<any[]> {
  const where = { conditions: [{ key: "zone", operator: "=", value: of }, ...conditions] };
  const answer = await fixture.post(`${name}/aggregate`, { where, time_zone: zone, ...body });
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return answer.body.data;
}

/** Asks for all buckets and parts of each instant, some thousands at once. */
async function compare(form: StoredForm, { name, zone, of = zone }: Asked): Promise<void> {
  const found = instants.get(of)!;
  for (let from = 0; from < found.length; from += 5_000) {
    const some = found.slice(from, from + 5_000);
    const between = { key: "id", operator: "BETWEEN", value: [from, from + some.length - 1] };
    const data = await aggregate(
      { name, zone, of, conditions: [between] },
      {
        group_by: ["id", ...groups],
        operations: [{ function: "min", field: "happened", alias: "at" }],
      },
    );
    const expected = some.map((instant, at) => ({
      id: from + at,
      ...expectedAt(zone, seenIn(form, instant)),
      at: new Date(seenIn(form, instant)).toISOString(),
    }));
    expect(data).toEqual(expected);
  }
}

describe.each(Object.entries(forms[engine]))("times stored as %s", (name, form) => {
  test.each(zones)("are in the buckets and parts of %s", (zone) => compare(form, { name, zone }));
});

test.each(zones)("times of any year are in the buckets and parts of %s", (zone) =>
  compare(usualForm, { name: usualName, zone, of: "any year" }),
);

test.each([
  ["Europe/Vienna", "23:00"],
  ["Asia/Kathmandu", "23:00"],
  ["America/St_Johns", "23:30"],
])("the last second of all is in its hour of %s", async (zone, start) => {
  await fixture.sql(`insert into at_${usualName} values ('last', 1, '9999-12-31 23:59:59')`);
  const hours = { group_by: [{ field: "happened", by: "hour", alias: "b" }] };
  const data = await aggregate({ name: usualName, zone, of: "last" }, hours);
  await fixture.sql(`delete from at_${usualName} where zone = 'last'`);
  expect(data).toEqual([{ b: `9999-12-31T${start}:00.000Z`, "count_*": 1 }]);
});

test.each(zones)("empty hours and days of %s are filled", async (zone) => {
  const middles = [1, 2, 3].map(() => random.pick(instants.get(zone)!));
  for (const middle of middles) {
    const [from, to] = [middle - 3 * day, middle + 3 * day];
    const conditions = [
      {
        key: "happened",
        operator: "BETWEEN",
        value: [from, to].map((at) => new Date(at).toISOString()),
      },
    ];
    const found = instants
      .get(zone)!
      .filter((at) => at >= from && at <= to)
      .toSorted((a, b) => a - b);
    for (const [unit, nameAt] of [
      ["hour", (at: number) => hourText(zone, at)],
      ["day", (at: number) => dayText(wallAt(zone, Math.floor(at / second) * second))],
    ] as const) {
      const counts = new Map<string, number>();
      const [begin, last] = [found[0]!, found.at(-1)!];
      // A day that the clocks leave out stands there as an empty one.
      if (unit === "day")
        for (let at = Date.parse(nameAt(begin)); at <= Date.parse(nameAt(last)); at += day)
          counts.set(dayText(at), 0);
      else for (let at = begin; at <= last; at += minute) counts.set(nameAt(at), 0);
      for (const at of found) counts.set(nameAt(at), (counts.get(nameAt(at)) ?? 0) + 1);
      const data = await aggregate(
        { name: usualName, zone, conditions },
        {
          group_by: [{ field: "happened", by: unit, alias: "b" }],
          operations: [{ function: "count", field: "*", alias: "n" }],
          fill: true,
        },
      );
      expect(data, new Date(middle).toISOString()).toEqual(
        [...counts]
          .toSorted(([one], [other]) => (one < other ? -1 : 1))
          .map(([b, n]) => ({ b, n })),
      );
    }
  }
});

/** `rowgate init` proposes `numbers` for columns whose names and values look like document numbers. */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { checkConfig } from "../../app/start/commands/check-config.ts";
import { runInit } from "../../app/start/commands/init.ts";
import { createLog } from "../../app/start/observing/log.ts";
import { openService, type Service } from "../../app/start/servers/wire.ts";
import { readConfigFiles } from "../../app/start/settings/config-files.ts";
import { freshDatabase, type FreshDatabase } from "../servers/database.ts";
import { openSession } from "../servers/session.ts";

const engine = inject("engine");

interface Case {
  /** Of the column. */
  readonly name?: string;
  /** After `varchar`. */
  readonly type?: string;
  /** In the order of the rows; with a day, of the column `day`. */
  readonly values: readonly (string | null | readonly [number: string, day: string])[];
  /** The definition of a column `day`. */
  readonly day?: string;
  /** Written into the file. */
  readonly numbers?: object;
  /** In the summary. */
  readonly doubt?: string;
}

const unique = "(20) not null unique";
const counted = (count: number, textOf: (seq: number) => string) =>
  Array.from({ length: count }, (_, at) => textOf(at + 1));
const padded = (seq: number, digits = 4) => String(seq).padStart(digits, "0");

/** By the name of the table. */
const cases: Readonly<Record<string, Case>> = {
  month: {
    values: ["SR/202611/0041", "SR/202611/0042", "SR/202612/0001"],
    numbers: { format: "SR/{yyyy}{MM}/{seq:4}" },
  },
  month_of_day: {
    day: "date not null",
    values: [
      ["R-2026-11-01", "2026-11-30"],
      ["R-2026-12-01", "2026-12-01"],
      ["R-2026-12-02", "2026-12-31"],
    ],
    numbers: { format: "R-{yyyy}-{MM}-{seq:2}", date: "day" },
  },
  day_elsewhere: {
    day: "date not null",
    values: [
      ["R-2026-11-01", "2026-12-30"],
      ["R-2026-12-01", "2026-12-01"],
      ["R-2026-12-02", "2026-12-31"],
    ],
    numbers: { format: "R-{yyyy}-{MM}-{seq:2}" },
  },
  day_may_lack: {
    day: "date",
    values: [
      ["R-202611-01", "2026-11-30"],
      ["R-202612-01", "2026-12-01"],
      ["R-202612-02", "2026-12-31"],
    ],
    numbers: { format: "R-{yyyy}{MM}-{seq:2}" },
  },
  short_year: {
    day: "date not null",
    values: [
      ["26/1", "2026-11-30"],
      ["26/2", "2026-12-01"],
      ["25/1", "2025-12-31"],
    ],
    numbers: { format: "{yy}/{seq}", date: "day" },
  },
  digits_alone: {
    values: counted(4, (seq) => `202611${padded(seq)}`),
    numbers: { format: "{yyyy}{MM}{seq:4}" },
  },
  goes_on: {
    values: counted(12, (seq) => `INV-${seq + 990}`),
    numbers: { format: "INV-{seq}", start: 1003 },
  },
  years_from_1001: {
    name: "orderNo",
    values: ["2025/1001", "2025/1002", "2026/1001"],
    numbers: { format: "{yyyy}/{seq}", start: 1001 },
  },
  with_end: {
    name: "Invoice No",
    values: counted(3, (seq) => `${padded(seq)}/A`),
    numbers: { format: "{seq:4}/A", start: 4 },
  },
  key_of_text: {
    name: "slip_nr",
    type: "(20) not null primary key",
    day: "date",
    values: counted(3, (seq) => `S${padded(seq)}`).map((text) => [text, "2026-01-01"] as const),
    numbers: { format: "S{seq:4}", start: 4 },
  },
  empty_table: { values: [], doubt: "it has too few values to tell their pattern" },
  too_few: { values: ["A-0001", "A-0002"], doubt: "it has too few values to tell their pattern" },
  not_unique: {
    type: "(20) not null",
    values: ["A-0001", "A-0002", "A-0003"],
    doubt: "its values look like A-{seq:4}, but no unique index covers it alone",
  },
  some_lack_it: {
    type: "(20) unique",
    values: ["A-0001", null, "A-0002", "A-0003"],
    doubt: "its values look like A-{seq:4}, but some records have none",
  },
  scattered: {
    values: ["A-0001", "A-4711", "A-9000"],
    doubt: "its values look like A-{seq:4}, but leave out most numbers",
  },
  // Nothing of these is a number that a service could give.
  without_pattern: { values: ["first", "second", "third"] },
  different_starts: { values: ["A-0001", "B-0002", "C-0003"] },
  different_lengths: { values: ["A-0001", "A-002", "A-3"] },
  scattered_digits: { values: ["11", "4711", "900000"] },
  perhaps_a_year: { values: ["26-001", "26-002", "26-003"] },
  not_unique_empty: { type: "(20)", values: [] },
  too_long_digits: { values: counted(3, (seq) => `A${padded(seq, 16)}`) },
  phone_number: { name: "phone_number", values: counted(3, (seq) => `555-${padded(seq)}`) },
  supplier_no: { name: "supplier_no", values: counted(3, (seq) => `S-${padded(seq)}`) },
  other_name: { name: "label", values: counted(3, (seq) => `S-${padded(seq)}`) },
  with_default: {
    type: "(20) default 'x' not null unique",
    values: counted(3, (seq) => `S-${padded(seq)}`),
  },
  with_braces: { values: counted(3, (seq) => `{S}-${padded(seq)}`) },
};

const columnOf = ({ name = "doc_number" }: Case): string => name;
const quoted = (name: string): string => (engine === "mysql" ? `\`${name}\`` : `"${name}"`);
const literal = (value: string | null): string => (value === null ? "null" : `'${value}'`);

function statementsOf(table: string, one: Case): string[] {
  const { type = unique, day, values } = one;
  const columns = [
    ...(type.includes("primary key") ? [] : ["id integer not null primary key"]),
    `${quoted(columnOf(one))} varchar${type}`,
    ...(day === undefined ? [] : [`day ${day}`]),
  ];
  const rows = values.map((value, at) => {
    const cells = [value].flat().map(literal);
    return `(${[...(columns[0]!.startsWith("id ") ? [at + 1] : []), ...cells].join(", ")})`;
  });
  return [
    `create table ${table} (${columns.join(", ")})`,
    ...(rows.length > 0 ? [`insert into ${table} values ${rows.join(", ")}`] : []),
  ];
}

let database: FreshDatabase;
let service: Service;
let configDir: string;
let summary = "";

beforeAll(async () => {
  database = await freshDatabase(engine);
  const session = await openSession(engine, database.url);
  for (const [table, one] of Object.entries(cases))
    for (const text of statementsOf(table, one)) await session.run(text);
  await session.close();
  configDir = await mkdtemp(join(tmpdir(), "rowgate-numbers-"));
  await runInit({
    args: ["--database", database.url, "--project", "shop"],
    env: { CONFIG_DIR: configDir },
    out: (text) => (summary += text),
  });
  const files = await readConfigFiles(configDir);
  service = await openService({ files, env: environment(), log: createLog("silent") });
  await service.ready;
});
afterAll(async () => {
  await service?.close();
  await database?.drop();
  if (configDir) await rm(configDir, { recursive: true, force: true });
});

const environment = () => ({
  SHOP_DATABASE_URL: database.url,
  STORAGE_URL: `file:${join(configDir, "storage")}`,
});

const fileOf = async (table: string): Promise<any> =>
  JSON.parse(await readFile(join(configDir, "shop", `${table}.json`), "utf8"));

test.each(Object.entries(cases))("of %s, the file has what the values show", async (table, one) => {
  const column = columnOf(one);
  const { numbers, action, fieldValidation } = await fileOf(table);
  expect(numbers).toEqual(one.numbers && { [column]: one.numbers });
  expect(action["next-number"]).toBe(one.numbers ? true : undefined);
  const lines = summary.split("\n").filter((line) => line.includes(`shop/${table}.json`));
  const told = lines.find((line) => line.includes(column) && line.includes("document number"));
  if (one.doubt !== undefined) expect(told).toContain(one.doubt);
  else if (one.numbers) expect(told).toContain("so a record without one gets");
  else expect(told).toBeUndefined();
  const rule = fieldValidation?.find(({ name }: { name: string }) => name === column);
  const isNeeded = !one.numbers && /not null/.test(one.type ?? unique) && table !== "with_default";
  expect(rule?.constraints?.required).toBe(isNeeded ? true : undefined);
});

test("a doubt names the line of the column", async () => {
  const [, line] = /shop\/empty_table\.json:(\d+) {2}doc_number may be/.exec(summary)!;
  const text = await readFile(join(configDir, "shop", "empty_table.json"), "utf8");
  expect(text.split("\n")[Number(line) - 1]).toContain('"doc_number"');
});

test("check has no fault", async () => {
  const files = await readConfigFiles(configDir);
  const { faults, drift } = await checkConfig({ files, env: environment() });
  expect({ faults, drift }).toEqual({ faults: [], drift: [] });
});

describe("the service goes on with the numbers", () => {
  const post = async (path: string, body: object): Promise<any> => {
    const response = await service.app.request(`/api/shop/${path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    return response.json();
  };
  test.each([
    ["month_of_day", { id: 9, day: "2026-11-07" }, "doc_number", "R-2026-11-02"],
    ["short_year", { id: 9, day: "2026-11-07" }, "doc_number", "26/3"],
    ["goes_on", { id: 99 }, "doc_number", "INV-1003"],
    ["with_end", { id: 9 }, "Invoice No", "0004/A"],
    ["key_of_text", { day: "2026-11-07" }, "slip_nr", "S0004"],
  ])("of %s", async (table, body, column, number) => {
    const shown = await post(`${table}/next-number`, body);
    expect(shown).toMatchObject({ success: true, data: { [column]: number } });
    const made = await post(`${table}/create`, body);
    expect(made).toMatchObject({ success: true, data: { [column]: number } });
  });
});

/**
 * A column's type changes while clients read it, without a cache: each answer shows the values from before or after the
 * change, or an error. The files beside this one run it on the engines that can change columns.
 */
import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import type { Json } from "../../core/values/json.ts";
import { freshDatabase } from "../servers/database.ts";
import { type EngineName, openSession } from "../servers/session.ts";
import { type ServiceProcess, startService } from "./service-process.ts";
import { openForTests } from "../contract/harness.ts";

/** One of the two forms of the column `v`. */
export interface Form {
  /** SQL that changes it to this form, values included. */
  readonly change: string;
  /** Its value in every row, as answers show it. */
  readonly shown: Json;
}

/** The type that the column begins with, its value as SQL, and its two forms. */
export type Case = readonly [type: string, value: string, as: Form, then: Form];

const clients = 16;
const rounds = 2;
const rows = 20;
/** After a change: how long clients continue reading, and how long the service can answer with errors. */
const [readMs, settleMs] = [400, 20_000];

const page = { page: 1, per_page: rows, sort_columns: [{ column: "id" }] };
const requests: readonly (readonly [path: string, body: object])[] = [
  ["things/read", page],
  ["things/read", { sort_columns: [{ column: "id" }], limit: rows }],
  ["things/datatables", { draw: 1, start: 0, length: rows }],
  ["things/first", { where: [{ key: "id", value: 1 }] }],
  ["things/aggregate", { group_by: ["v"] }],
];

interface Seen {
  readonly askedMs: number;
  readonly answeredMs: number;
  readonly path: string;
  /** Of the column in each row, as JSON; each once. */
  readonly values: readonly string[];
}

export function testChangedKinds(engine: EngineName, cases: readonly Case[]): void {
  const database = openForTests(freshDatabase, engine);
  const session = openForTests(() => openSession(engine, database.url));

  test.each(cases)(
    "no answer shows a wrong value while a column of %s becomes another",
    { timeout: 120_000 },
    async (type, value, ...forms) => {
      await session.run("DROP TABLE IF EXISTS things");
      await session.run(`CREATE TABLE things (id INTEGER PRIMARY KEY, v ${type})`);
      for (let id = 1; id <= rows; id++)
        await session.run(`INSERT INTO things VALUES (${id}, ${value})`);
      const service = await startService({
        "project.json": { database: { url: database.url, pool: 8 }, cache: { enabled: false } },
        "things.json": {
          tableName: "things",
          action: { read: true, first: true, datatables: true, aggregate: true },
        },
      });
      try {
        await changeUnderLoad(service, forms, (text) => session.run(text));
      } finally {
        await service.stop();
      }
    },
  );
}

async function changeUnderLoad(
  { post }: ServiceProcess,
  forms: readonly Form[],
  run: (text: string) => Promise<unknown>,
): Promise<void> {
  const seen: Seen[] = [];
  const faults: unknown[] = [];
  let isOver = false;
  const client = async (at: number): Promise<void> => {
    for (let round = at; !isOver; round++) {
      const [path, body] = requests[round % requests.length]!;
      const askedMs = performance.now();
      const answer = await post(path, body);
      const answeredMs = performance.now();
      if (answer.status === 200)
        seen.push({ askedMs, answeredMs, path, values: valuesOf(answer.body) });
      else if (answer.status !== 503) faults.push({ path, ...answer });
    }
  };
  /** When each request was answered with success after this moment. */
  const settled = (sinceMs: number): Promise<void> =>
    expect
      .poll(
        () => new Set(seen.filter(({ askedMs }) => askedMs > sinceMs).map(({ path }) => path)).size,
        { timeout: settleMs },
      )
      .toBe(new Set(requests.map(([path]) => path)).size);

  const all = Promise.all(Array.from({ length: clients }, (_, at) => client(at)));
  try {
    let before = forms[0]!;
    for (let change = 1; change <= rounds * 2; change++) {
      await settled(performance.now());
      const after = forms[change % 2]!;
      const beganMs = performance.now();
      await run(after.change);
      const endedMs = performance.now();
      await pause(readMs);
      await settled(endedMs);
      for (const { askedMs, answeredMs, path, values } of seen.splice(0)) {
        const possible = [
          ...(askedMs < endedMs ? [before] : []),
          ...(answeredMs > beganMs ? [after] : []),
        ].map(({ shown }) => JSON.stringify(shown));
        if (values.length !== 1 || !possible.includes(values[0]!))
          faults.push({ change, path, values, possible });
      }
      expect(faults).toEqual([]);
      before = after;
    }
  } finally {
    isOver = true;
    await all;
  }
}

/** The values of the column in an answer of any of the requests. */
const valuesOf = ({ data }: Record<string, unknown>): string[] => {
  const rows = [data].flat() as { v: Json }[];
  return [...new Set(rows.map(({ v }) => JSON.stringify(v)))];
};

/**
 * Tables changed while the service runs: a statement that fails because of the change is not a server error, and the
 * project is compiled again with the current tables.
 */
import { setImmediate as turn, setTimeout as pause } from "node:timers/promises";
import { beforeEach, describe, expect, inject, test } from "vitest";
import { openReloading } from "./reloading.ts";
import { openForTests } from "./harness.ts";

const engine = inject("engine");
const action = { read: true, create: true, update: true };
const page = { page: 1, per_page: 5, sort_columns: [{ column: "id", direction: "asc" }] };

const on = openForTests(openReloading, {
  tables: [
    { name: "steady", columns: { id: "key", name: "text(40)" } },
    { name: "things", columns: { id: "key", name: "text(40)", stock: "integer" } },
  ],
  projects: { shop: { endpoints: {} } },
});
beforeEach(async () => {
  await on.sql("drop table if exists things");
  await on.sql(
    "create table things (id varchar(36) primary key, name varchar(40), stock integer, note varchar(40))",
  );
  await on.sql("insert into things values ('a', 'Anvil', 7, 'heavy')");
  await on.reload({
    shop: {
      project: { cache: { enabled: false } },
      endpoints: {
        // Everything that the table has.
        whole: { tableName: "things", action },
        named: { tableName: "things", fieldName: ["id", "name", "note"], action },
        steady: { tableName: "steady", action },
      },
    },
  });
  on.forget();
});

const read = async (endpoint: string) => {
  const { status, body, headers } = await on.post(`shop/${endpoint}/read`, page);
  return { status, row: body.data?.[0] as unknown, message: body.message as string, headers };
};

/** Sends reads until one answers as expected; the statuses of all that did not. */
async function readUntil(
  endpoint: string,
  isExpected: (answer: Awaited<ReturnType<typeof read>>) => boolean,
): Promise<Set<number>> {
  const before = new Set<number>();
  const untilMs = performance.now() + 20_000;
  for (;;) {
    const answer = await read(endpoint);
    if (isExpected(answer)) return before;
    before.add(answer.status);
    if (answer.status === 503) expect(answer.headers.get("Retry-After")).toBe("2");
    if (performance.now() > untilMs) throw new Error(`still ${JSON.stringify(answer)}`);
    await pause(20);
  }
}

const leftOut = "The configuration of this endpoint has a fault; try again later";
const isLeftOut = ({ status, message }: { status: number; message: string }) =>
  status === 503 && message === leftOut;
const skipped = async () =>
  (await on.get("/health/ready")).body.projects.shop.skipped_endpoints as unknown;

/** No answer of the service but these. */
const onlyBusy = (statuses: Set<number>) =>
  expect([...statuses].filter((one) => one !== 503)).toEqual([]);

test("a column that no file names may go: the endpoint goes on without it", async () => {
  await read("whole");
  await on.sql("alter table things drop column stock");
  onlyBusy(await readUntil("whole", ({ status }) => status === 200));
  expect((await read("whole")).row).toEqual({ id: "a", name: "Anvil", note: "heavy" });
  expect(await skipped()).toBeUndefined();
  expect(on.lines("warn")).toContain(
    "The tables of the database have changed; the project was compiled again",
  );
});

describe("a column that a file names", () => {
  const back: [string, string, string][] = [
    [
      "dropped, and added again",
      "alter table things drop column note",
      "alter table things add column note varchar(40)",
    ],
    [
      "renamed, and renamed back",
      "alter table things rename column note to remark",
      "alter table things rename column remark to note",
    ],
  ];
  test.each(back)("and that is %s: its endpoint is left out until then", async (_, away, again) => {
    await read("named");
    await on.sql(away);
    onlyBusy(await readUntil("named", isLeftOut));
    expect((await read("whole")).status).toBe(200);
    expect((await read("steady")).status).toBe(200);
    expect(await skipped()).toEqual(["named"]);
    expect(on.lines("error").filter((line) => line.includes("left out"))).toEqual([
      expect.stringMatching(
        /^An endpoint is left out and answers 503: shop\/named\.json\S* +fieldName/,
      ),
    ]);
    await on.sql(again);
    onlyBusy(await readUntil("named", ({ status }) => status === 200));
    expect(await skipped()).toBeUndefined();
  });
});

test("a change that comes while an endpoint is left out is no error of the others", async () => {
  expect((await read("whole")).status).toBe(200);
  await on.sql("alter table things drop column note");
  await readUntil("named", isLeftOut);
  // Each of these has the tables looked at, and they are what they were a moment ago.
  const untilMs = performance.now() + 2_500;
  while (performance.now() < untilMs) {
    await read("named");
    await pause(50);
  }
  await on.sql("alter table things drop column stock");
  onlyBusy(await readUntil("whole", ({ status }) => status === 200));
});

test("a table that is dropped and made again: its endpoints are left out until then, others go on", async () => {
  await read("whole");
  await on.sql("drop table things");
  onlyBusy(await readUntil("whole", isLeftOut));
  expect((await read("steady")).status).toBe(200);
  expect(await skipped()).toEqual(["named", "whole"]);
  await on.sql(
    "create table things (id varchar(36) primary key, name varchar(40), note varchar(40))",
  );
  onlyBusy(await readUntil("whole", ({ status }) => status === 200));
  onlyBusy(await readUntil("named", ({ status }) => status === 200));
});

test("writes to a table that became a view answer 503 at first, and then what the view takes", async () => {
  const create = () => on.post("shop/whole/create", { name: "Cog" });
  expect((await create()).status).toBe(201);
  await on.sql("drop table things");
  await on.sql(
    "create view things as select max(id) as id, max(name) as name, 7 as stock, 'x' as note from steady",
  );
  const before = new Set<number>();
  const untilMs = performance.now() + 20_000;
  let last = await create();
  while (last.status === 503 && last.body.message !== leftOut && performance.now() < untilMs) {
    before.add(last.status);
    await pause(20);
    last = await create();
  }
  await on.sql("drop view things");
  expect([...before, last.status]).not.toContain(500);
  expect([404, 503]).toContain(last.status);
  if (last.status === 503) expect(last.body.message).toBe(leftOut);
});

test("a new column that must not be null is asked for, once a write has failed of it", async () => {
  const create = async () => (await on.post("shop/whole/create", { name: "Cog" })).body;
  expect((await create()).success).toBe(true);
  await on.sql("drop table things");
  await on.sql(
    "create table things (id varchar(36) primary key, name varchar(40), note varchar(40), must integer not null)",
  );
  await expect
    .poll(create, { timeout: 20_000 })
    .toMatchObject({ success: false, errors: { must: expect.any(Array) } });
  expect((await on.post("shop/whole/create", { name: "Cog", must: 1 })).status).toBe(201);
});

test("writes answer 503 at first, and then go on with the table as it is", async () => {
  const create = async () => (await on.post("shop/whole/create", { name: "Cog" })).status;
  expect(await create()).toBe(201);
  await on.sql("alter table things drop column stock");
  const statuses: number[] = [];
  while (statuses.at(-1) !== 201 && statuses.length < 500) {
    statuses.push(await create());
    await turn();
  }
  expect(new Set(statuses)).toEqual(new Set([503, 201]));
});

test.each(["", ...(engine === "mysql" ? ["?pipelining=false"] : [])])(
  "a write that answers 503 is not stored%s",
  async (options) => {
    const adjustConfig = { fields: { stock: { type: "integer" } } };
    const whole = { tableName: "things", action: { adjust: true }, adjustConfig };
    const project = { cache: { enabled: false } };
    await on.reload({
      shop: { project, database: { url: on.url + options }, endpoints: { whole } },
    });
    const adjust = async () => {
      const adjustments = [{ field: "stock", value: 1 }];
      return (await on.post("shop/whole/adjust", { id: "a", adjustments })).status;
    };
    const seen = new Set<number>();
    let stock = 7;
    const adjustUntil = async (isEnough: () => boolean) => {
      for (let time = 0; time < 500 && !isEnough(); time++) {
        const status = await adjust();
        seen.add(status);
        if (status === 200) stock++;
        await turn();
      }
    };
    await adjustUntil(() => stock === 20);
    await on.sql("alter table things drop column note");
    await adjustUntil(() => stock === 40);
    expect(seen).toEqual(new Set([200, 503]));
    expect(await on.sql("select stock from things")).toEqual([{ stock }]);
  },
);

test("readers and writers under way see no other error while columns come and go", async () => {
  let isOver = false;
  const seen = new Set<number>();
  const client = async (endpoint: string) => {
    while (!isOver) {
      seen.add((await read(endpoint)).status);
      seen.add((await on.post(`shop/${endpoint}/create`, { name: "Cog" })).status);
      // Where nothing waits for a server, timers would never run.
      await turn();
    }
  };
  const clients = Promise.all(["whole", "named", "whole", "named"].map(client));
  for (let round = 0; round < 5; round++) {
    await on.sql("alter table things drop column note");
    await pause(150);
    await on.sql("alter table things add column note varchar(40)");
    await pause(150);
  }
  isOver = true;
  await clients;
  expect([...seen].filter((status) => ![200, 201, 503].includes(status))).toEqual([]);
  await readUntil("named", ({ status }) => status === 200);
});

/** The column as it was, with the value of its row, and as it is then. */
const kinds: [was: string, value: string, is: string, other: string, shown: unknown][] = [
  ["boolean", "true", "integer", "5", 5],
  ["integer", "1", "boolean", "true", true],
  ["decimal(9,2)", "7.50", "varchar(20)", "'no. 7'", "no. 7"],
  ["varchar(20)", "'7'", "decimal(9,2)", "7.50", 7.5],
  ["date", "'2026-01-31'", "varchar(20)", "'soon'", "soon"],
  ["integer", "7", "date", "'2026-01-31'", "2026-01-31"],
  ["varchar(20)", "'7'", "integer", "7", 7],
];

describe.each(kinds)(
  "a column of %s (%s) that is one of %s (%s) now",
  (was, value, is, other, shown) => {
    const replace = async (type: string, initial: string) => {
      const add = `add column stock ${type} default ${initial}`;
      if (engine !== "sqlite") return on.sql(`alter table things drop column stock, ${add}`);
      await on.sql("alter table things drop column stock");
      await on.sql(`alter table things ${add}`);
    };
    const where = { logic: "AND", conditions: [{ key: "stock", operator: "=", value: shown }] };
    const answers = {
      list: async () => (await on.post("shop/whole/read", page)).body.data?.[0],
      found: async () => (await on.post("shop/whole/read", { ...page, where })).body.data?.[0],
      grid: async () => (await on.post("shop/whole/datatables", { draw: 1 })).body.data?.[0],
      record: async () =>
        (await on.post("shop/whole/first", { where: { key: "id", value: "a" } })).body.data,
      written: async () => (await on.post("shop/whole/update", { id: "a", note: "x" })).body.data,
    };

    test.each([
      ["before", 3],
      ["never", 0],
    ])("is never shown as another value, read %s", async (_, times) => {
      await replace(was, value);
      const project = { cache: { enabled: false } };
      const action = { read: true, first: true, update: true, datatables: true };
      await on.reload({ shop: { project, endpoints: { whole: { tableName: "things", action } } } });
      // As often as a statement needs to be kept prepared.
      for (let time = 0; time < times; time++)
        for (const [name, ask] of Object.entries(answers)) if (name !== "found") await ask();
      await replace(is, other);
      for (const [name, ask] of Object.entries(answers)) {
        const untilMs = performance.now() + 20_000;
        let row = await ask();
        // SQLite's results carry no types: for a moment values are read as before.
        const isWaiting = () => !row || (engine === "sqlite" && row.stock !== shown);
        while (isWaiting() && performance.now() < untilMs) {
          await pause(20);
          // A filter by a value that the column did not accept sends no statement.
          await answers.list();
          row = await ask();
        }
        expect({ [name]: row?.stock }).toEqual({ [name]: shown });
      }
    });
  },
);

// SQLite's results carry no types.
test.skipIf(engine === "sqlite")(
  "a column of another kind is shown alike by lists that are read at once",
  async () => {
    await on.sql("alter table things drop column stock, add column stock boolean default true");
    const project = { cache: { enabled: false }, database: { pool: 8 } };
    await on.reload({ shop: { project, endpoints: { whole: { tableName: "things", action } } } });
    const readAtOnce = () => Promise.all(Array.from({ length: 24 }, () => read("whole")));
    for (let time = 0; time < 5; time++) await readAtOnce();
    await on.sql("alter table things drop column stock, add column stock integer default 5");
    const answers = [...(await readAtOnce()), ...(await readAtOnce())];
    const shown = answers.map(({ status, row }) => (status === 200 ? row : { stock: status }));
    expect(shown.map((row) => (row as { stock: unknown }).stock)).toEqual(
      shown.map(() => expect.toBeOneOf([5, 503])),
    );
  },
);

test("a statement that fails for another reason is an error of the service, not tried for ever", async () => {
  const trigger = {
    sqlite: [
      "create trigger broken before insert on steady begin insert into nowhere values (1); end",
    ],
    postgres: [
      "create function broken() returns trigger language plpgsql as $$ begin insert into nowhere values (1); return new; end $$",
      "create trigger broken before insert on steady for each row execute function broken()",
    ],
    mysql: [
      "create trigger broken before insert on steady for each row insert into nowhere values (1)",
    ],
  };
  for (const text of trigger[engine]) await on.sql(text);
  const create = async () => (await on.post("shop/steady/create", { name: "Cog" })).status;
  const statuses = [await create()];
  await expect.poll(create, { timeout: 20_000 }).toBe(500);
  expect([500, 503]).toContain(statuses[0]);
  expect((await read("steady")).status).toBe(200);
  await on.sql(engine === "postgres" ? "drop trigger broken on steady" : "drop trigger broken");
});

test("a job that meets a changed table runs again with the table as it is", async () => {
  await on.reload({
    shop: { endpoints: { whole: { tableName: "things", action: { read: true, export: true } } } },
  });
  const csv = async () => {
    const { job_id } = (await on.post("shop/whole/export", { format: "csv" })).body;
    await expect
      .poll(
        async () => (await on.get(`/api/shop/whole/export-status?job_id=${job_id}`)).body.status,
        { timeout: 20_000 },
      )
      .toBe("completed");
    return (await on.get(`/api/shop/whole/export-download?job_id=${job_id}`)).body as string;
  };
  expect(await csv()).toMatch(/^\ufeff?id,name,stock,note\r?\n/);
  await on.sql("alter table things drop column stock");
  expect(await csv()).toMatch(/^\ufeff?id,name,note\r?\n/);
});

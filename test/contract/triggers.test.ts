/**
 * Effects of database triggers in answers: their messages, the columns that they fill, and rows that they reject.
 * Nothing of a refused request is stored.
 */
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import type { EngineName } from "../servers/session.ts";
import { check, record } from "./cases.ts";
import { type Fixture, type FixtureOptions, openFixture } from "./harness.ts";

const engine = inject("engine");

/** A trigger that runs for each row: `when` is `before insert`, `body` the engine's own SQL. */
function trigger(
  name: string,
  { when, table, body }: { when: string; table: string; body: Record<EngineName, string> },
): string[] {
  const head = `create trigger ${name} ${when} on ${table} for each row`;
  if (engine === "sqlite") return [`${head} begin ${body.sqlite}; end`];
  if (engine === "mysql") return [`${head} begin ${body.mysql}; end`];
  return [
    `create function ${name}_f() returns trigger language plpgsql as $$ begin ${body.postgres} end $$`,
    `${head} execute function ${name}_f()`,
  ];
}

const refusal = (message: string, condition: string): Record<EngineName, string> => ({
  postgres: `if ${condition} then raise exception '${message}'; end if; return coalesce(new, old);`,
  mysql: `if ${condition} then signal sqlstate '45000' set message_text = '${message}'; end if`,
  sqlite: `select raise(abort, '${message}') where ${condition}`,
});

/** Codes with which triggers may refuse: their own, and those that a server uses for what is wrong with itself. */
const ownCodes = {
  postgres: ["P0002", "AB123", "PT402", "02000", "28P01", "57014", "53100", "42P01", "55000"],
  mysql: ["45123", "AB123", "02000", "28000"],
  sqlite: [],
}[engine];

const refusalWithCode = {
  postgres: `if new.note like 'code %' then raise exception 'Not now' using errcode = substr(new.note, 6); end if; return new;`,
  mysql: `${ownCodes.map((code) => `if new.note = 'code ${code}' then signal sqlstate '${code}' set message_text = 'Not now'; end if;`).join(" ")} set new.note = new.note`,
  sqlite: "select 1",
};

const options: FixtureOptions = {
  tables: [
    { name: "orders", columns: { id: "key", qty: "integer", note: "text(40)" } },
    {
      name: "order_lines",
      columns: {
        id: "identity",
        order_id: { type: "text(36)", references: "orders" },
        qty: "integer",
      },
    },
  ],
  setUp: () => [
    ...trigger("closed_on_monday", {
      when: "before insert",
      table: "orders",
      body: refusal("The shop is closed on Mondays", "new.qty = 13"),
    }),
    ...trigger("no_way_back", {
      when: "before update",
      table: "orders",
      body: refusal("An order cannot shrink", "new.qty < old.qty"),
    }),
    ...trigger("kept_for_ever", {
      when: "before delete",
      table: "orders",
      body: refusal("Paid orders stay", "old.qty = 7"),
    }),
    ...trigger("with_code", { when: "before insert", table: "orders", body: refusalWithCode }),
    ...trigger("line_limit", {
      when: "before insert",
      table: "order_lines",
      body: refusal("No more than 99 of one article", "new.qty > 99"),
    }),
    ...(engine === "postgres"
      ? [
          "create function column_named_f() returns trigger language plpgsql as $$ begin if new.note = 'secret' then raise exception 'Not this word' using column = 'note'; end if; return new; end $$",
          "create trigger zz_column_named before insert on orders for each row execute function column_named_f()",
        ]
      : []),
  ],
  endpoints: {
    orders: {
      tableName: "orders",
      primaryKey: "id",
      action: { create: true, update: true, delete: true, adjust: true, "create-composite": true },
      adjustConfig: { fields: { qty: {} } },
      masterDetail: { detailTable: "order_lines", foreignKey: "order_id" },
    },
  },
};

const rejected = (message: string) => ({ status: 422, error: "Rejected by database", message });

describe("a trigger that refuses", () => {
  let service: Fixture;
  beforeAll(async () => {
    service = await openFixture(options);
  });
  afterAll(() => service.close());

  const stored = async (id: string) => service.sql(`select qty from orders where id = '${id}'`);

  test("create answers 422 with the trigger's message, and stores nothing", async () => {
    check(
      await service.post("orders/create", { id: "a1", qty: 13 }),
      rejected("The shop is closed on Mondays"),
    );
    expect(await stored("a1")).toEqual([]);
  });

  test("update and adjust answer it, and change nothing", async () => {
    await service.post("orders/create", { id: "a2", qty: 20 });
    const expected = rejected("An order cannot shrink");
    check(await service.post("orders/update", { id: "a2", qty: 19 }), expected);
    const adjustments = [{ field: "qty", value: -1 }];
    check(await service.post("orders/adjust", { id: "a2", adjustments }), expected);
    expect(await stored("a2")).toMatchObject([{ qty: 20 }]);
  });

  test("delete answers it, and deletes none of several", async () => {
    await service.post("orders/create", { id: "a3", qty: 7, note: "both" });
    await service.post("orders/create", { id: "a4", qty: 8, note: "both" });
    check(
      await service.post("orders/delete", { where: [{ key: "note", value: "both" }] }),
      rejected("Paid orders stay"),
    );
    expect(await stored("a4")).toMatchObject([{ qty: 8 }]);
  });

  test("create-composite says which line it was, and stores nothing of the document", async () => {
    const order_lines = [{ qty: 1 }, { qty: 100 }];
    const answer = await service.post("orders/create-composite", {
      orders: { id: "a5", qty: 1, order_lines },
    });
    check(answer, rejected("No more than 99 of one article"));
    expect(answer.body.errors).toEqual({ "order_lines[1]": ["is refused by the database"] });
    expect(await stored("a5")).toEqual([]);
  });

  test.each(ownCodes)("its message is shown if its code is %s", async (code) => {
    check(await service.post("orders/create", { note: `code ${code}` }), rejected("Not now"));
  });

  test.runIf(engine === "postgres").each([
    ["23505", 409, "Duplicate entry"],
    ["23503", 400, "Foreign key constraint"],
    ["23514", 400, "Validation failed"],
    ["22023", 400, "Validation failed"],
    ["42501", 403, "Forbidden"],
  ])(
    "the code %s of a fault of values or rights has its own answer",
    async (code, status, error) => {
      check(await service.post("orders/create", { note: `code ${code}` }), { status, error });
    },
  );

  // The others have no way to name a column.
  test.runIf(engine === "postgres")(
    "a column that the trigger names gets the message",
    async () => {
      check(await service.post("orders/create", { qty: 1, note: "secret" }), {
        ...rejected("Not this word"),
        errors: { note: ["Not this word"] },
      });
    },
  );
});

describe("with triggerMessages: false", () => {
  let service: Fixture;
  beforeAll(async () => {
    service = await openFixture({ ...options, project: { database: { triggerMessages: false } } });
  });
  afterAll(() => service.close());

  test("create answers 422 with a sentence of the service", async () => {
    check(
      await service.post("orders/create", { id: "b1", qty: 13 }),
      rejected("The database rejected the change"),
    );
  });
});

// SQLite's triggers cannot change a row before it is stored, when NOT NULL is checked.
describe.runIf(engine !== "sqlite")("a trigger that fills columns", () => {
  let service: Fixture;
  beforeAll(async () => {
    const fill = {
      sqlite: "",
      postgres: "if new.kind <> 'bare' then new.code := upper(new.kind); end if; return new;",
      mysql: "if new.kind <> 'bare' then set new.code = upper(new.kind); end if",
    };
    const number = {
      sqlite: "",
      postgres: "new.id := 1 + (select coalesce(max(id), 0) from numbered); return new;",
      mysql: "set new.id = 1 + (select coalesce(max(id), 0) from numbered)",
    };
    service = await openFixture({
      tables: [
        {
          name: "coded",
          columns: { id: "key", kind: "text(20)", code: { type: "text(20)", notNull: true } },
        },
        {
          name: "numbered",
          columns: { id: { type: "integer", notNull: true, unique: true }, name: "text(20)" },
        },
      ],
      setUp: () => [
        ...trigger("fill_code", { when: "before insert", table: "coded", body: fill }),
        ...trigger("fill_number", { when: "before insert", table: "numbered", body: number }),
      ],
      endpoints: {
        coded: { tableName: "coded", action: { create: true, update: true } },
        numbered: { tableName: "numbered", primaryKey: "id", action: { create: true } },
      },
    });
  });
  afterAll(() => service.close());

  test.each([
    ["leaves out", { kind: "cup" }],
    ["sends as null", { kind: "cup", code: null }],
  ])("create stores a required column that the client %s", async (_, body) => {
    const answer = await service.post("coded/create", body);
    expect(answer.status, JSON.stringify(answer.body)).toBe(201);
    expect(record(answer)["code"]).toBe("CUP");
  });

  test("create names the column where the trigger leaves it empty", async () => {
    check(await service.post("coded/create", { kind: "bare" }), {
      status: 400,
      error: "Validation failed",
      errors: { code: ["must not be null"] },
    });
  });

  test("update still refuses null for it", async () => {
    const { id } = record(await service.post("coded/create", { kind: "pot" }));
    check(await service.post("coded/update", { id, code: null }), {
      status: 400,
      error: "Validation failed",
      errors: { code: ["must not be null"] },
    });
  });

  test("create answers the key that the trigger makes", async () => {
    const answer = await service.post("numbered/create", { name: "first" });
    expect(answer.status, JSON.stringify(answer.body)).toBe(201);
    expect(record(answer)).toEqual({ id: 1, name: "first" });
    const other = await service.post("numbered/create", { id: 77, name: "second" });
    expect(record(other)).toEqual({ id: 2, name: "second" });
  });
});

// MySQL has no trigger that passes over a row.
describe.runIf(engine !== "mysql")("a trigger that passes over a row", () => {
  let service: Fixture;
  const passOver = (condition: string): Record<EngineName, string> => ({
    postgres: `if ${condition} then return null; end if; return coalesce(new, old);`,
    sqlite: `select raise(ignore) where ${condition}`,
    mysql: "",
  });
  beforeAll(async () => {
    service = await openFixture({
      ...options,
      setUp: () => [
        ...trigger("drop_new", {
          when: "before insert",
          table: "orders",
          body: passOver("new.qty = 13"),
        }),
        ...trigger("drop_change", {
          when: "before update",
          table: "orders",
          body: passOver("new.qty = 13"),
        }),
        ...trigger("keep", {
          when: "before delete",
          table: "orders",
          body: passOver("old.qty = 7"),
        }),
        ...trigger("drop_line", {
          when: "before insert",
          table: "order_lines",
          body: passOver("new.qty > 99"),
        }),
      ],
    });
  });
  afterAll(() => service.close());

  const silent = rejected("The database skipped the record without an error");

  test("create answers 422", async () => {
    check(await service.post("orders/create", { id: "c1", qty: 13 }), silent);
  });

  test("update answers 422, and 404 for a record that is not there", async () => {
    await service.post("orders/create", { id: "c2", qty: 1 });
    check(await service.post("orders/update", { id: "c2", qty: 13 }), silent);
    check(await service.post("orders/update", { id: "nowhere", qty: 13 }), {
      status: 404,
      error: "Not found",
    });
  });

  test("delete answers 422, and deletes none of several", async () => {
    await service.post("orders/create", { id: "c3", qty: 7, note: "two" });
    await service.post("orders/create", { id: "c4", qty: 8, note: "two" });
    check(await service.post("orders/delete", { where: [{ key: "note", value: "two" }] }), silent);
    expect(await service.sql("select id from orders where note = 'two' order by id")).toEqual([
      { id: "c3" },
      { id: "c4" },
    ]);
    check(await service.post("orders/delete", { where: [{ key: "note", value: "none" }] }), {
      status: 404,
      error: "Not found",
    });
  });

  test("create-composite stores no document that lacks a line", async () => {
    const order_lines = [{ qty: 1 }, { qty: 100 }];
    const answer = await service.post("orders/create-composite", {
      orders: { id: "c5", qty: 1, order_lines },
    });
    check(answer, silent);
    expect(await service.sql("select id from orders where id = 'c5'")).toEqual([]);
  });
});

describe("a trigger that changes what was sent", () => {
  let service: Fixture;
  const upperCase = (name: string, event: string, table: string): string[] =>
    trigger(name, {
      // In MySQL, only a trigger that runs before can change the row; in SQLite, only one that runs afterwards.
      when: `${engine === "mysql" ? "before" : "after"} ${event}`,
      table,
      body: {
        postgres: `update ${table} set note = upper(note) where id = new.id and note <> upper(note); return null;`,
        mysql: "set new.note = upper(new.note)",
        sqlite: `update ${table} set note = upper(note) where id = new.id`,
      },
    });
  beforeAll(async () => {
    const note = "text(40)";
    service = await openFixture({
      tables: [
        { name: "orders", columns: { id: "key", qty: "integer", note } },
        { name: "order_lines", columns: { id: "identity", order_id: "text(36)", note } },
      ],
      setUp: () => [
        ...upperCase("upper_new", "insert", "orders"),
        ...upperCase("upper_change", "update", "orders"),
        ...upperCase("upper_line", "insert", "order_lines"),
        ...trigger("drop_new", {
          when: "before insert",
          table: "orders",
          body: {
            postgres: "if new.qty = 13 then return null; end if; return new;",
            mysql: "set new.qty = new.qty",
            sqlite: "select raise(ignore) where new.qty = 13",
          },
        }),
      ],
      endpoints: {
        orders: {
          tableName: "orders",
          action: {
            create: true,
            update: true,
            adjust: true,
            "bulk-create": true,
            "bulk-update": true,
            "create-composite": true,
          },
          adjustConfig: { fields: { qty: { type: "integer" } } },
          history: true,
          masterDetail: { detailTable: "order_lines", foreignKey: "order_id" },
        },
        lines: { tableName: "order_lines", action: { "bulk-create": true } },
      },
    });
  });
  afterAll(() => service.close());

  test("is seen in every answer, and in the history", async () => {
    const posted = (path: string, body: object) => service.post(`orders/${path}`, body);
    check(await posted("create", { id: "a", qty: 1, note: "x" }), {
      status: 201,
      data: { note: "X" },
    });
    check(await posted("update", { id: "a", note: "y" }), { status: 200, data: { note: "Y" } });
    const adjusted = await posted("adjust", { id: "a", adjustments: [{ field: "qty", value: 1 }] });
    check(adjusted, { status: 200, data: { note: "Y", qty: 2 } });
    const made = await posted("bulk-create", { data: ["b", "c"].map((id) => ({ id, note: id })) });
    expect(made.body.data.map(column)).toEqual(["B", "C"]);
    const changed = await posted("bulk-update", { data: [{ id: "b", note: "z" }] });
    expect(changed.body.data.map(column)).toEqual(["Z"]);
    const order_lines = [{ note: "one" }, { note: "two" }];
    const document = await posted("create-composite", {
      orders: { id: "d", note: "d", order_lines },
    });
    check(document, { status: 201, data: { note: "D" } });
    expect(record(document)["order_lines"]).toMatchObject([{ note: "ONE" }, { note: "TWO" }]);
    const lines = await service.post("lines/bulk-create", { data: order_lines });
    expect(lines.body.data.map(column)).toEqual(["ONE", "TWO"]);
    if (engine !== "mysql")
      check(
        await posted("bulk-create", { data: [{ id: "e" }, { id: "f", qty: 13 }] }),
        rejected("[1]: The database skipped the record without an error"),
      );
    const history = await posted("history", { id: "b" });
    expect(history.body.data[0].changes).toEqual({ note: { from: "B", to: "Z" } });
  });
});

const column = ({ note }: { note: string }): string => note;

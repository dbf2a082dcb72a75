/** A database error is logged once, with its full cause and without values of the request. */
import { expect, test } from "vitest";
import { createLog } from "../../app/start/observing/log.ts";
import type { HookContext } from "../../core/plans/hook.ts";
import { openFixture, openForTests } from "./harness.ts";

const secret = "A value of nobody else";

const lines: string[] = [];
const place = openForTests(openFixture, {
  tables: [{ name: "goods", columns: { id: "key", mark: "text(60)", size: "integer" } }],
  setUp: () => ["insert into goods values ('a', 'A', 1)"],
  endpoints: {
    goods: {
      tableName: "goods",
      action: { update: true },
      components: { onBeforeUpdate: ["components/code.ts#run"] },
    },
  },
  components: {
    "components/code.ts": {
      async run({ data, query }: HookContext) {
        if (data["size"] === 1) await query(`select id frm goods where mark = '${secret}'`);
        if (data["size"] === 2) await query("select colour from goods where mark = ?", [secret]);
        if (data["size"] === 3) throw new TypeError("odd", { cause: new RangeError("below it") });
        if (data["size"] === 4) {
          await query("insert into goods (id, mark) values (?, ?)", ["a", secret]);
        }
      },
    },
  },
  log: createLog("debug", { write: (line) => void lines.push(line) }),
});

async function errorsOf(size: number): Promise<any[]> {
  lines.length = 0;
  const { status } = await place.post("goods/update", { id: "a", mark: secret, size });
  expect(status).toBe(500);
  expect(lines.join("")).not.toContain(secret);
  return lines.map((line) => JSON.parse(line)).filter(({ level }) => level >= 40);
}

test("SQL that the database cannot read is logged without its literals", async () => {
  const errors = await errorsOf(1);
  expect(errors).toHaveLength(1);
  expect(errors[0].err.message).toMatch(/^The database refused a query|syntax/);
  expect(errors[0].err.stack).toBeUndefined();
});

test("SQL that names an unknown column is logged with the name and the code", async () => {
  const [error, ...others] = await errorsOf(2);
  expect(others).toEqual([]);
  expect(error.err.message).toMatch(/colour/);
  expect(error.err.code).toMatch(/^(42703|ER_BAD_FIELD_ERROR|SQLITE_ERROR)$/);
});

test("an error of a handler is logged with its causes in one line, and its stacks", async () => {
  const [error, ...others] = await errorsOf(3);
  expect(others).toEqual([]);
  expect(error).toMatchObject({
    msg: "The handler test/components/code.ts#run failed",
    err: { type: "TypeError", message: "odd: below it" },
  });
  expect(error.err.stack).toMatch(/values-in-logs.*caused by: RangeError: below it/s);
});

test("a row that the database refuses is logged without its values", async () => {
  const [error, ...others] = await errorsOf(4);
  expect(others).toEqual([]);
  expect(error.err.code).toMatch(/^(23505|ER_DUP_ENTRY|SQLITE_CONSTRAINT_PRIMARYKEY)$/);
});

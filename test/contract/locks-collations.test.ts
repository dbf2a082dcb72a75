/**
 * Keys that locks treat as one record: exactly those that the database finds equal by the column's type and collation.
 * Each pair is compared with the database's answer.
 */
import { beforeAll, describe, expect, inject, test } from "vitest";
import type { EngineName } from "../servers/session.ts";
import { openFixture, openForTests } from "./harness.ts";
import { keyOf, openTenants, tokenOf } from "./tenants.ts";

const engine = inject("engine");

/** Types of the key, by the names of their tables. */
const types: Readonly<Record<EngineName, Readonly<Record<string, string>>>> = {
  sqlite: {
    plain: "text",
    no_case: "text collate nocase",
    no_blanks: "text collate rtrim",
    fixed: "char(20)",
  },
  postgres: {
    plain: "text",
    fixed: "char(20)",
    ci: "citext",
    level1: "varchar(20) collate level1",
    level2: "text collate level2",
    composed: "text collate composed",
    tree: "ltree",
  },
  mysql: {
    general: "varchar(20) collate utf8mb4_general_ci",
    unicode: "varchar(20) collate utf8mb4_unicode_ci",
    padded: "varchar(20) collate utf8mb4_bin",
    unpadded: "varchar(20) collate utf8mb4_nopad_bin",
    no_pad: "varchar(20) collate utf8mb4_general_nopad_ci",
    latin: "varchar(20) character set latin1 collate latin1_swedish_ci",
    lithuanian: "varchar(20) collate utf8mb4_lithuanian_ci",
    fixed: "char(20) collate utf8mb4_general_ci",
  },
};
const collation = (name: string, locale: string): string =>
  `create collation ${name} (provider = icu, locale = '${locale}', deterministic = false)`;
const before: Readonly<Record<EngineName, readonly string[]>> = {
  sqlite: [],
  mysql: [],
  postgres: [
    "create extension citext",
    "create extension ltree",
    collation("level1", "und-u-ks-level1"),
    collation("level2", "und-u-ks-level2"),
    collation("composed", "und"),
  ],
};
const tables = Object.keys(types[engine]);

const pairs: readonly (readonly [string, string])[] = [
  ["abc", "abc"],
  ["abc", "ABC"],
  ["cafe", "caf\u00e9"],
  ["caf\u00e9", "CAFE\u0301"],
  ["caf\u00e9", "cafe\u0301"],
  ["a", "a "],
  ["a", "a\t"],
  ["\u00c4rger", "\u00e4rger"],
  ["Stra\u00dfe", "strasse"],
  ["Stra\u00dfe", "strase"],
  ["\ufb01n", "fin"],
  ["y", "i"],
  ["\u0130", "i"],
  ["1", "\u0661"],
];

const fixture = openForTests(openFixture, {
  tables: [],
  setUp: () => [
    ...before[engine],
    ...tables.map((name) => `create table ${name} (id ${types[engine][name]} primary key)`),
  ],
  endpoints: Object.fromEntries(
    tables.map((name) => [name, { tableName: name, action: { lock: true } }]),
  ),
});

describe.each(tables)("keys of the table %s", (table) => {
  const lock = (value: string) => ({ lock_keys: [{ key: "id", value }], ttl: 60 });

  test("are one record to locks where the database calls them equal, and only there", async () => {
    const said: unknown[] = [];
    const expected: unknown[] = [];
    for (const [left, right] of pairs) {
      const isKey = await fixture.sql(`insert into ${table} (id) values ('${left}')`).then(
        () => true,
        () => false,
      );
      // The type does not accept such a text.
      if (!isKey) continue;
      const found = await fixture
        .sql(`select count(*) as n from ${table} where id = '${right}'`)
        .catch(() => [{ n: 0 }]);
      expected.push([left, right, Number(found[0]!["n"]) > 0 ? 409 : 200, 1, 0]);
      const first = await fixture.post(`${table}/lock/acquire`, lock(left));
      const second = await fixture.post(`${table}/lock/acquire`, lock(right));
      const given = async (answer: typeof first): Promise<number | undefined> =>
        (
          await fixture.post(`${table}/lock/release`, {
            ...lock(left),
            lock_token: answer.body.data.lock_token ?? "none",
          })
        ).body.data?.released_keys;
      said.push([left, right, second.status, await given(first), await given(second)]);
      const { lock_token } = second.body.data;
      if (second.status === 200)
        await fixture.post(`${table}/lock/release`, { ...lock(right), lock_token });
      await fixture.sql(`delete from ${table}`);
    }
    expect(said).toEqual(expected);
  });
});

describe("a caller with a scope", () => {
  const tenants = openForTests(openTenants, { byHeader: false });
  beforeAll(async () => {
    const plain = `('k1', 'a', 'x', 'same', 5, 'open'), ('k2', 'b', 'y', 'same', 5, 'open')`;
    // MariaDB's usual collation treats these two as equal.
    const cased = `, ('abc', 'a', 'abc', 't', 5, 'open'), ('ABC', 'b', 'ABC', 't', 5, 'open')`;
    await tenants.sql(
      `insert into orders (order_id, tenant, code, title, qty, status) values ${plain}${engine === "mysql" ? "" : cased}`,
    );
  });

  const by = (id: string) => ({ "x-api-key": keyOf(id) });
  const keys = (value: string, key = "order_id") => ({ lock_keys: [{ key, value }], ttl: 60 });

  test.skipIf(engine === "mysql")(
    "neither meets the lock of a foreign record with its key in other case, nor learns of it",
    async () => {
      const theirs = { ...keys("ABC"), owner: "somebody of b" };
      expect((await tenants.post("plain/lock/acquire", theirs, by("key-b"))).status).toBe(200);
      const state = await tenants.post("plain/lock/status", keys("abc"), by("key-a"));
      expect(state.body.data.keys[0]).toMatchObject({ locked: false, owner: null });
      const update = { order_id: "abc", title: "mine" };
      expect((await tenants.post("plain/update", update, by("key-a"))).status).toBe(200);
      expect((await tenants.post("plain/lock/acquire", keys("abc"), by("key-a"))).status).toBe(200);
      expect((await tenants.post("plain/lock/acquire", keys("Abc"), by("key-a"))).status).toBe(404);
      for (const [code, holder] of [
        ["abc", "key-a"],
        ["ABC", "key-b"],
      ] as const)
        expect(
          (await tenants.post("plain/lock/acquire", keys(code, "code"), by(holder))).status,
        ).toBe(200);
    },
  );

  test("meets no record by a number that no row can hold", async () => {
    const far = keys("9223372036854775808", "qty");
    expect((await tenants.post("plain/lock/acquire", far, by("key-a"))).status).toBe(404);
    const state = await tenants.post("plain/lock/status", far, by("key-a"));
    expect(state.body.data.keys).toMatchObject([{ locked: false }]);
  });

  test("gives its lock back by keys and token, whatever became of the record and of the scope", async () => {
    const claims = (tenant: string) => tokenOf(`"roles": ["clerk"], "tenant": "${tenant}"`);
    for (const key of [keys("k1"), keys("same", "title")]) {
      const asked = await tenants.post("plain/lock/acquire", key, await claims("a"));
      const { lock_token } = asked.body.data;
      const state = async () =>
        (await tenants.post("plain/lock/status", key, await claims("a"))).body.data.keys[0].locked;
      expect([asked.status, await state()]).toEqual([200, true]);
      const foreign = await tenants.post("plain/lock/acquire", key, await claims("b"));
      expect(foreign.status).toBe(key.lock_keys[0]!.key === "title" ? 200 : 404);
      await tenants.sql("update orders set tenant = 'c' where order_id = 'k1'");
      const wrong = { ...key, lock_token: `${lock_token}x` };
      expect(
        (await tenants.post("plain/lock/release", wrong, await claims("a"))).body.data
          .released_keys,
      ).toBe(0);
      const given = await tenants.post(
        "plain/lock/release",
        { ...key, lock_token },
        await claims("d"),
      );
      await tenants.sql("update orders set tenant = 'a' where order_id = 'k1'");
      expect([given.body.data.released_keys, await state()]).toEqual([1, false]);
    }
  });

  test("gives back the lock of a record that was deleted", async () => {
    await tenants.post("plain/create", { order_id: "gone", title: "t" }, by("key-a"));
    const asked = await tenants.post("plain/lock/acquire", keys("gone"), by("key-a"));
    await tenants.sql("delete from orders where order_id = 'gone'");
    const release = { ...keys("gone"), lock_token: asked.body.data.lock_token };
    const given = await tenants.post("plain/lock/release", release, by("key-a"));
    expect(given.body.data.released_keys).toBe(1);
  });
});

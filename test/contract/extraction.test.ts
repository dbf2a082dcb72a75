/**
 * What a caller could learn from crafted requests: the same long list goes to two services whose databases differ only
 * in what the caller must not learn. Nothing leaks if all answers are equal, byte for byte.
 * `extraction-generated.test.ts` generates further requests.
 */
import { beforeAll, describe, expect, test, vi } from "vitest";
import type { Json } from "../../core/values/json.ts";
import { writingMarked } from "./extraction-marked.ts";
import { ids, lists, namesFor, reading, where, writing } from "./extraction-requests.ts";
import { type Answer, type Fixture, openForTests } from "./harness.ts";
import { importerOf, sheetsOf, workbookOf } from "./imports.ts";
import { tokenOf } from "./tenants.ts";
import { clerk, foreignIds, keyOf, mine, openTwins, post, theirs, type Twins } from "./twins.ts";

const twins = openForTests(openTwins);

const expectSame: Twins["expectSame"] = (ask, about) => twins.expectSame(ask, about);
const get =
  (path: string, headers: Record<string, string> = {}) =>
  (fixture: Fixture): Promise<Answer> =>
    fixture.request(`/api/test/${path}`, { headers: { ...clerk, ...headers } });

describe("nothing is told by", () => {
  test.each(Object.entries(reading))("%s", async (_, requests) => {
    for (const [path, body, headers] of requests)
      await expectSame(post(path, body, headers), [path, body]);
  });

  test.each(lists)("the pages of %s by cursor", async (list) => {
    for (const column of [undefined, ...namesFor(list)])
      await expectSame(async (fixture) => {
        const pages: Answer[] = [];
        let cursor: unknown = true;
        while (typeof cursor === "string" || cursor === true) {
          const sort = column === undefined ? {} : { sort_columns: [{ column, order: "desc" }] };
          const page = await post(`${list}/read`, { ...sort, cursor, per_page: 2 })(fixture);
          pages.push(page);
          cursor = page.body.pagination?.next_cursor;
        }
        return pages;
      }, column);
  });

  test.each(lists)("a lookup of %s by GET", async (list) => {
    const some = [theirs, "b", "open", "9", "2026-01-02", ""];
    const words = [...some, "acc", "bin", "secret", "gone", "gamma", "e"];
    const conditions = namesFor(list).flatMap((name) =>
      some.map((value) => `where[${name}]=${value}`),
    );
    const queries = [
      ...words.flatMap((word) => ["search", "q", "term"].map((name) => `${name}=${word}`)),
      ...words.map((word) => `_type=query&page=1&limit=2&q=${word}`),
      ...conditions,
      ...conditions.map((condition) => `search=a&${condition}&page=1&limit=1`),
      `ids=${ids.join()}`,
      ...namesFor(list).map((name) => `where=${JSON.stringify(where(name, ">", 5).where)}`),
    ];
    for (const query of queries)
      await expectSame(get(`${list}/lookup?${query}`, { "x-request-mode": "dynamic" }), query);
  });

  test.each(["orders", "viewed", "tickets", "bins", "trash"])("an export of %s", async (list) => {
    await expectSame((fixture) => exported(fixture, list, { format: "csv" }));
    await expectSame((fixture) =>
      exported(fixture, list, { format: "csv", ...where("cost", ">", 20) }),
    );
  });

  test("the OpenAPI document, which names no column that is hidden in every endpoint", async () => {
    const { status, body } = await get("openapi.json")(twins.left);
    expect(status).toBe(200);
    const names = ["ticket_id", "cost", "seal", "credit", "weight", "deleted_by"];
    const text = JSON.stringify(body);
    expect(names.filter((name) => new RegExp(`\\b${name}\\b`).test(text))).toEqual([]);
  });

  test("a template of an import", async () => {
    for (const list of ["orders", "tickets", "bins"])
      await expectSame(async (fixture) => {
        const response = await fixture.fetch(`/api/test/${list}/import-template`, {
          headers: clerk,
        });
        // The key of tickets, by which an import would find them, is hidden from clerks.
        expect(response.status).toBe(list === "tickets" ? 403 : 200);
        const body = response.ok
          ? await sheetTexts(new Uint8Array(await response.arrayBuffer()))
          : ((await response.json()) as { message: unknown }).message;
        return { status: response.status, headers: new Headers(), body };
      });
  });
});

describe("nothing is told by what writes:", () => {
  beforeAll(async () => {
    // Foreign records of one world are locked, by their key and by a value that they share with own ones.
    const lock = (key: string, value: string): Promise<Answer> =>
      twins.left.post(
        "plain/lock/acquire",
        { lock_keys: [{ key, value }], ttl: 300, owner: "other" },
        keyOf("other"),
      );
    for (const id of foreignIds.slice(0, 4)) await lock("order_id", id);
    // The keys of own records in other case, which MariaDB's usual collation treats as equal.
    if (twins.left.engine !== "mysql") {
      await twins.left.sql(
        `insert into orders (order_id, tenant, code, title, status) values ('A0', '${theirs}', 'C-A0', 'upper', 'open'), ('A1', '${theirs}', 'C-A1', 'upper', 'open')`,
      );
      for (const id of ["A0", "A1"]) expect((await lock("order_id", id)).status).toBe(200);
    }
    for (const title of ["two", "secret left"]) await lock("title", title);
    await twins.left.post(
      "plain/create",
      { title: "theirs" },
      { ...keyOf("other"), "idempotency-key": "k1" },
    );
  });

  test("one request after the other", async () => {
    for (const [path, body, headers] of writing)
      await expectSame(post(path, body, headers), [path, body]);
  }, 120_000);

  test("deletes and restores, one after the other", async () => {
    for (const [path, body, headers] of writingMarked)
      await expectSame(post(path, body, headers), [path, body]);
  }, 120_000);

  test("a key that a foreign record has, which names the field alone", async () => {
    const code = { code: "c-b7", title: "mine" };
    const { status, body } = await post("plain/create", code)(twins.right);
    expect([status, body.error, Object.keys(body.errors)]).toEqual([
      409,
      "Duplicate entry",
      ["code"],
    ]);
    expect(body).not.toHaveProperty("data");
  });

  test("imports", async () => {
    const files: readonly (readonly [string, readonly (readonly Json[])[]])[] = [
      [
        "orders",
        [
          ["code", "title"],
          ["c-a1", "mine"],
          ["n-1", "new"],
        ],
      ],
      [
        "orders",
        [
          ["code", "Account"],
          ["n-2", "Alpha"],
          ["n-3", "acc bx left"],
          ["n-4", "acc by right"],
          ["n-5", "nobody"],
        ],
      ],
      [
        "orders",
        [
          ["code", "account_id"],
          ["n-6", "aa"],
          ["n-7", "bx"],
          ["n-8", "by"],
          ["n-9", "none"],
        ],
      ],
      [
        "orders",
        [
          ["code", "cost", "seal"],
          ["c-a1", 5, "seal-left-1"],
        ],
      ],
      [
        "orders",
        [
          ["code", "tenant"],
          ["c-a1", theirs],
          ["n-10", theirs],
        ],
      ],
      [
        "tickets",
        [
          ["label", "begins"],
          ["label 1", "2026-01-01"],
          ["new", "2026-09-01"],
        ],
      ],
      [
        "tickets",
        [
          ["label", "status"],
          ["label 1", "open"],
        ],
      ],
      // The outcome of a row is reported only for own records: changed, unchanged, or marked as deleted.
      [
        "orders",
        [
          ["code", "title"],
          ["c-a2", "mine"],
          ["c-a2", "mine again"],
          ["c-a3", "Zwölf"],
          ["n-11", "secret left"],
        ],
      ],
      ["bins", [["label"], ["beta"], ["gone"], ["gamma"], ["new bin"]]],
      [
        "bins",
        [
          ["label", "parent_id"],
          ["beta", "e2"],
          ...foreignIds.map((id) => [`below ${id}`, id]),
          ["below none", "none"],
        ],
      ],
      [
        "bins",
        [
          ["label", "weight", "deleted_by"],
          ["beta", 10, "ann"],
        ],
      ],
    ];
    for (const [list, rows] of files)
      await expectSame(async (fixture) => {
        const importer = importerOf({
          post: (path, body) => fixture.post(path, body, clerk),
          request: (path, init) =>
            fixture.request(path, {
              ...init,
              headers: { ...Object.fromEntries(new Headers(init?.headers)), ...clerk },
            }),
        });
        const sent = await importer.sendFile(list, await workbookOf(rows));
        if (sent.status !== 200) return sent;
        const started = await post(`${list}/import-preview`, { upload_id: sent.body.upload_id })(
          fixture,
        );
        const preview = await importer.ended(list, started.body.job_id);
        if (preview.body.status !== "preview_ok") return [sent, preview];
        const commit = await post(`${list}/import-commit`, { preview_job_id: started.body.job_id })(
          fixture,
        );
        return [
          sent,
          preview,
          commit.status === 200 ? await importer.ended(list, commit.body.job_id) : commit,
        ];
      }, rows);
  }, 120_000);
});

test("nothing is told to a token without a user", async () => {
  const headers = await tokenOf(`"roles": "clerk", "tenant": ${mine}`, { sub: "" });
  const requests = [...Object.values(reading).flat(), ...writing, ...writingMarked];
  for (const [path, body] of new Map(requests.map(([path, body]) => [path, body])))
    await expectSame(async (fixture) => {
      const answer = await fixture.post(path, body, headers);
      expect(answer.status).toBe(401);
      return answer;
    }, path);
});

async function exported(fixture: Fixture, list: string, body: object): Promise<Answer[]> {
  const started = await post(`${list}/export`, body)(fixture);
  if (started.status !== 200) return [started];
  const job = `job_id=${started.body.job_id}`;
  const ended = async (): Promise<Answer> => {
    const answer = await get(`${list}/export-status?${job}`)(fixture);
    expect(["completed", "failed"]).toContain(answer.body.status);
    return answer;
  };
  const status = await vi.waitFor(ended, { timeout: 25_000, interval: 30 });
  const file = await fixture.fetch(`/api/test/${list}/export-download?${job}`, { headers: clerk });
  return [
    started,
    status,
    { status: file.status, headers: new Headers(), body: await file.text() },
  ];
}

async function sheetTexts(bytes: Uint8Array<ArrayBuffer>): Promise<unknown> {
  const sheets = await sheetsOf(bytes);
  return sheets.map((sheet) => sheet.getSheetValues());
}

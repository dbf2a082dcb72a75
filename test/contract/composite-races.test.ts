/** Concurrent composites and readers: totals match their lines at every moment that a reader can see. */
import { describe, expect, test } from "vitest";
import { check, record, tally } from "./cases.ts";
import { line } from "./documents.ts";
import { openShop } from "./shop.ts";

const shop = openShop();

const many = 20;
async function create(id: string, count: number) {
  const document_lines = Array.from({ length: count }, (_, at) =>
    line(at, { line_id: `${id}-${at}` }),
  );
  const documents = { document_id: id, number: id, document_lines };
  const answer = await shop.post("documents", "create-composite", { documents });
  check(answer, { status: 201 });
  return answer.headers.get("ETag") ?? "";
}
const change = (id: string, document_lines: object, headers?: Record<string, string>) =>
  shop.post(
    "documents",
    "update-composite",
    { documents: { document_id: id, document_lines } },
    headers,
  );
async function read(id: string) {
  const where = [{ key: "document_id", value: id }];
  return record(await shop.post("documents", "read-composite", { where }));
}
/** Totals in the document, and what its own lines make. */
function totals(data: Record<string, unknown>) {
  const lines = data["document_lines"] as Record<string, number>[];
  const sum = (name: string) =>
    Number(lines.reduce((total, one) => total + one[name]!, 0).toFixed(3));
  return {
    shown: [data["total_items"], data["total_qty"], data["total_amount"]],
    counted: [lines.length, sum("qty"), sum("amount")],
  };
}

/** An engine that answers synchronously would never let the others run. */
const aTurn = () => new Promise((resolve) => setImmediate(resolve));

describe("readers during changes", () => {
  test("read-composite never sees totals that differ from the lines beside them", async () => {
    await create("seen", 4);
    let isOver = false;
    const writing = (async () => {
      for (let round = 1; round <= 40; round++) {
        const answer = await change("seen", {
          update: [
            { line_id: "seen-0", qty: round },
            { line_id: "seen-1", price: round },
          ],
          ...(round % 2 === 1
            ? { insert: [line(100, { line_id: "seen-100", qty: round })] }
            : { delete: [{ line_id: "seen-100" }] }),
        });
        check(answer, { status: 200 });
        await aTurn();
      }
      isOver = true;
    })();
    const seen = new Set<string>();
    const reading = Array.from({ length: 4 }, async () => {
      while (!isOver) {
        const { shown, counted } = totals(await read("seen"));
        expect(shown).toEqual(counted);
        seen.add(JSON.stringify(shown));
        await aTurn();
      }
    });
    await Promise.all([writing, ...reading]);
    // The readers must have seen several states, otherwise the test proves nothing.
    expect(seen.size).toBeGreaterThan(3);
  });
});

describe("twenty changes of one document at the same time", () => {
  test("update-composite keeps every line of twenty that are inserted, and totals that fit", async () => {
    await create("grown", 1);
    const answers = await Promise.all(
      Array.from({ length: many }, (_, at) =>
        change("grown", { insert: [line(at + 1, { qty: at })] }),
      ),
    );
    expect(tally(answers)).toEqual({ 200: many });
    const { shown, counted } = totals(await read("grown"));
    expect(shown).toEqual(counted);
    expect(shown[0]).toBe(many + 1);
  });

  test("update-composite ends with totals that fit when the changes meet in the same lines", async () => {
    await create("mixed", many);
    const answers = await Promise.all(
      Array.from({ length: many }, (_, at) =>
        change("mixed", {
          delete: at % 4 === 0 ? [{ line_id: `mixed-${at}` }] : [],
          update:
            at % 4 === 0
              ? []
              : [
                  { line_id: "mixed-1", qty: at },
                  { line_id: `mixed-${at}`, price: 3 },
                ].slice(at === 1 ? 1 : 0),
          insert: [line(100 + at)],
        }),
      ),
    );
    expect(tally(answers)).toEqual({ 200: many });
    const { shown, counted } = totals(await read("mixed"));
    expect(shown).toEqual(counted);
    expect(shown[0]).toBe(many + many - many / 4);
  });

  test("update-composite deletes a line once, and answers 404 to the others without a change", async () => {
    await create("once", 3);
    const answers = await Promise.all(
      Array.from({ length: many }, (_, at) =>
        change("once", { delete: [{ line_id: "once-1" }], insert: [line(50 + at)] }),
      ),
    );
    expect(tally(answers)).toEqual({ 200: 1, 404: many - 1 });
    const { shown, counted } = totals(await read("once"));
    expect(shown).toEqual(counted);
    expect(shown[0]).toBe(3);
  });

  test("update-composite with the same ETag changes the document once", async () => {
    const etag = await create("tagged", 1);
    const answers = await Promise.all(
      Array.from({ length: many }, (_, at) =>
        change("tagged", { insert: [line(10 + at)] }, { "If-Match": etag }),
      ),
    );
    expect(tally(answers)).toEqual({ 200: 1, 412: many - 1 });
    expect((await read("tagged"))["total_items"]).toBe(2);
  });
});

test("create-composite stores a unique number once of twenty, and no line of the others", async () => {
  const before = await shop.fixture.sql("select count(*) as n from document_lines");
  const documents = { number: "RACE", document_lines: [line(1), line(2)] };
  const answers = await Promise.all(
    Array.from({ length: many }, () => shop.post("documents", "create-composite", { documents })),
  );
  expect(tally(answers)).toEqual({ 201: 1, 409: many - 1 });
  const after = await shop.fixture.sql("select count(*) as n from document_lines");
  expect(Number(after[0]!["n"])).toBe(Number(before[0]!["n"]) + 2);
});

test("delete and update-composite at the same time leave no line without its document", async () => {
  await create("going", 2);
  const where = [{ key: "document_id", value: "going" }];
  const answers = await Promise.all(
    Array.from({ length: many }, (_, at) =>
      at === many / 2
        ? shop.post("documents", "delete", { where })
        : change("going", { insert: [line(10 + at)] }),
    ),
  );
  for (const { status, body } of answers)
    expect([200, 404], JSON.stringify(body)).toContain(status);
  const orphans = await shop.fixture.sql(
    "select line_id from document_lines where document_id not in (select document_id from documents)",
  );
  expect(orphans).toEqual([]);
});

/**
 * What a caller could learn from the history of records and from changes that are told: in one of two services others
 * write much, in the other little. Nothing leaks if all answers are equal (see `extraction.test.ts`).
 */
import { expect, test } from "vitest";
import { listen } from "./event-streams.ts";
import { type Answer, type Fixture, openForTests } from "./harness.ts";
import { clerk, foreignIds, keyOf, openTwins, own, post } from "./twins.ts";
import { ownBins } from "./twins-marked.ts";

const twins = openForTests(openTwins);

const asOther = (fixture: Fixture, path: string, body: object): Promise<Answer> =>
  fixture.post(path, body, keyOf("other"));

/** Each call writes other things than the call before it. */
let round = 0;

/** Much in one world, little in the other. Answers the ids of changes that are hidden from the caller. */
async function othersWrite(): Promise<string[]> {
  const { left, right } = twins;
  const title = `written ${++round}`;
  for (const order_id of ["b0", "b1", "b2"]) {
    const answer = await asOther(left, "plain/update", { order_id, title });
    expect(answer.status).toBe(200);
  }
  await asOther(left, "plain/create", { title, code: `n-${round}` });
  await asOther(left, "lines/update", { line_id: "lb0", text: title });
  await asOther(left, "bins/update", { bin_id: "b1", label: title });
  expect((await asOther(right, "plain/update", { order_id: "b7", title })).status).toBe(200);
  const { body } = await asOther(left, "plain/history", { order_id: "b0" });
  return body.data.map(({ change_id }: { change_id: string }) => change_id);
}

/** The same in both worlds. */
async function callerWrites(): Promise<void> {
  const word = `own ${++round}`;
  for (const [path, body] of [
    ["plain/update", { order_id: "a0", title: word }],
    ["plain/adjust", { order_id: "a1", adjustments: [{ field: "qty", value: 1 }] }],
    ["lines/update", { line_id: "la0", text: word }],
    [
      "orders/update-composite",
      { orders: { order_id: "a1", order_lines: { insert: [{ text: word, amount: 1 }] } } },
    ],
    ["bins/update", { bin_id: "e1", label: word }],
    ["bins/delete", { where: [{ key: "bin_id", value: "e1" }] }],
    ["bins/restore", { where: [{ key: "bin_id", value: "e1" }] }],
  ] as const)
    await twins.expectSame(post(path, body), [path, body]);
}

const keys = {
  plain: ["order_id", [...own.orders, "a9", ...foreignIds, "none"]],
  lines: ["line_id", ["la0", "la1", "h0", "h1", "h2", "lb0", "lb7", "none"]],
  bins: ["bin_id", [...ownBins, ...foreignIds, "none"]],
} as const;

test("the history of a record, own or foreign, and the log of an endpoint", async () => {
  await othersWrite();
  await callerWrites();
  await othersWrite();
  await callerWrites();
  for (const [list, [key, ids]] of Object.entries(keys)) {
    for (const id of ids)
      await twins.expectSame(post(`${list}/history`, { [key]: id }), [list, id]);
    for (const body of [
      {},
      { page: 1, per_page: 2 },
      { page: 2, per_page: 3 },
      { page: 9 },
      ...(["by", "action", "at"] as const).flatMap((name) =>
        ["=", "!=", ">", "<", "IS NULL"].map((operator) => ({
          where: {
            conditions: [
              { key: name, operator, value: name === "at" ? "2026-01-01T00:00:00Z" : "update" },
            ],
          },
        })),
      ),
    ])
      await twins.expectSame(post(`${list}/history`, body), [list, body]);
  }
});

test("a revert of a foreign change, which is as unknown as one that never was", async () => {
  const ids = await othersWrite();
  expect(ids.length).toBeGreaterThan(0);
  for (const change_id of [...ids, "0".repeat(64), "1", ""])
    for (const list of Object.keys(keys))
      await twins.expectSame(
        (fixture) =>
          post(`${list}/revert`, {
            change_id:
              fixture === twins.left ? change_id : change_id && "f".repeat(change_id.length),
          })(fixture),
        [list, change_id],
      );
});

test("the list of changes, whatever others write in between", async () => {
  const since = new Map<Fixture, unknown>();
  const endpoints = Object.keys(keys);
  const ask = async (fixture: Fixture): Promise<Answer> => {
    const body = { endpoints, ...(since.has(fixture) && { since: since.get(fixture) }), limit: 3 };
    const answer = await post("changes", body)(fixture);
    since.set(fixture, answer.body.since);
    return answer;
  };
  await twins.expectSame(ask, "the beginning");
  await othersWrite();
  await twins.expectSame(ask, "nothing for the caller");
  await othersWrite();
  await callerWrites();
  await othersWrite();
  for (const about of ["first", "second", "third", "fourth"]) await twins.expectSame(ask, about);
  expect((await ask(twins.left)).body.data).toEqual([]);
});

test("a stream, to which others' writes send nothing", async () => {
  const path = `changes?endpoints=${Object.keys(keys).join()}`;
  const open = (fixture: Fixture) => listen(fixture, path, clerk);
  const streams = [await open(twins.left), await open(twins.right)];
  await Promise.all(streams.map((one) => one.until((text) => text.includes("id: "))));
  await othersWrite();
  await callerWrites();
  await othersWrite();
  await callerWrites();
  const last = `"endpoint":"bins"`;
  const isDone = (text: string): boolean => text.split(last).length > 6;
  const texts = await Promise.all(streams.map((one) => one.until(isDone)));
  await Promise.all(streams.map((one) => one.stop()));
  const [one, other] = texts.map((text) =>
    text
      .replaceAll(/[0-9a-f]{64}/g, "<id>")
      .replaceAll(/"at":"[^"]+"/g, '"at":"<time>"')
      .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "<uuid>"),
  );
  expect(one).toBe(other);
  expect(one).toContain('"order_id":"a0"');
});

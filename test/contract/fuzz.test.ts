/**
 * Thousands of requests of the parity test with random changes: each answer is an enveloped success or client error,
 * never a server error. The same seed gives the same requests on each engine, so failures can be repeated.
 */
import { expect, test } from "vitest";
import { requests } from "../parity/requests.ts";
import { checkEnvelope } from "./cases.ts";
import { shopOptions } from "./fixture.ts";
import { openFixture, openForTests } from "./harness.ts";

const requestsCount = 3_000;

/** Values inserted in place of valid ones. */
const oddities: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  1e308,
  2 ** 53,
  "9223372036854775808",
  "1e999",
  "NaN",
  "Infinity",
  "0x10",
  "",
  " ",
  "\n",
  "-",
  "5abc",
  "é",
  "😀".repeat(50),
  "x".repeat(11_000),
  "%",
  "_%_%",
  "\ud800",
  "a\u0000b",
  "'; drop table items; --",
  "name",
  "qty",
  "item_id",
  "__proto__",
  "constructor",
  "toString",
  "2024-02-30",
  "2024-01-01T00:00:00+99:00",
  [],
  [[]],
  ["a"],
  [1, 2],
  {},
  { a: 1 },
];

let seed = 20_261_121;

/** A whole number below `below`: a linear congruential generator is random enough here, and the same everywhere. */
function random(below: number): number {
  seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff;
  return (seed >>> 8) % below;
}

const oneOf = <T>(list: readonly T[]): T => list[random(list.length)]!;

function bent(value: unknown): unknown {
  if (random(6) === 0) return oneOf(oddities);
  if (Array.isArray(value)) {
    const items = value.map((item) => (random(2) === 0 ? bent(item) : item));
    if (random(5) === 0) items.push(oneOf(oddities));
    if (random(8) === 0) items.pop();
    return items;
  }
  if (typeof value !== "object" || value === null) return random(3) === 0 ? oneOf(oddities) : value;
  const members = Object.entries(value).flatMap(([name, member]) => {
    if (random(12) === 0) return [];
    const newName = random(20) === 0 ? String(oneOf(oddities)).slice(0, 60) : name;
    return [[newName, random(2) === 0 ? bent(member) : member] as const];
  });
  return Object.fromEntries(members);
}

const fixture = openForTests(openFixture, shopOptions);

test("no bent request makes the service fail", { timeout: 120_000 }, async () => {
  const sound = requests.filter(({ body }) => typeof body === "object" && body !== null);
  const statuses = new Set<number>();
  for (let sent = 0; sent < requestsCount; sent++) {
    const { endpoint, action, body, headers } = oneOf(sound);
    const text = JSON.stringify(bent(body));
    const answer = await fixture.post(`${endpoint}/${action}`, text, { ...headers });
    expect(answer.status, `${endpoint}/${action} ${text.slice(0, 2000)}`).toBeLessThan(500);
    if (answer.body.draw === undefined) checkEnvelope(answer);
    statuses.add(answer.status);
  }
  // The bending leaves enough whole that every kind of answer is met.
  expect([...statuses].toSorted()).toEqual(expect.arrayContaining([200, 201, 400, 404]));
});

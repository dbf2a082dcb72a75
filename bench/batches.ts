/**
 * `npm run bench:batches [-- sqlite postgres mysql]`: five records created by five requests, one after the other, and by
 * one batch of five steps. Both are measured in turn against one service; the ratio is that of their medians.
 */
import { openSession } from "../test/servers/session.ts";
import { bench } from "./contest.ts";
import { type Load, measure } from "./load.ts";

const stepsPerBatch = 5;
const rounds = 5;
const roundMs = 1_500;

let made = 0;
const record = () => ({ id: `r${made++}`, name: "A name of usual length", amount: 12 });

const alone: Load = {
  path: "/api/bench/items/create",
  body: () => JSON.stringify(record()),
  expectedStatus: 201,
  connections: 1,
};
const together: Load = {
  path: "/api/bench/_batch",
  body: () =>
    JSON.stringify({
      steps: Array.from({ length: stepsPerBatch }, () => ({
        endpoint: "items",
        action: "create",
        body: record(),
      })),
    }),
  expectedStatus: 200,
  connections: 1,
};

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;

await bench(async ({ engines, database, serve }) => {
  console.log("engine | records/s alone | records/s in batches | ratio");
  for (const engine of engines) {
    const url = await database(engine);
    const session = await openSession(engine, engine === "sqlite" ? `sqlite:${url}` : url);
    await session.run(
      "create table items (id varchar(36) primary key, name varchar(60), amount integer)",
    );
    await session.close();
    const rowgate = await serve(engine, {
      database: url,
      endpoint: { tableName: "items", action: { create: true }, auditColumns: false },
      project: { batch: { enabled: true } },
    });
    const found: { alone: number[]; together: number[] } = { alone: [], together: [] };
    for (let round = 0; round < rounds; round++) {
      found.alone.push(await measure(rowgate.origin, alone, roundMs));
      found.together.push(stepsPerBatch * (await measure(rowgate.origin, together, roundMs)));
    }
    const [one, many] = [median(found.alone), median(found.together)];
    console.log(
      `${engine} | ${Math.round(one)} | ${Math.round(many)} | ${(many / one).toFixed(2)}`,
    );
    rowgate.stop();
  }
});

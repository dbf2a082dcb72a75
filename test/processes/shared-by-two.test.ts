/** What two processes under one parent share without Redis, over HTTP. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type HookServer, startHookServer } from "../outbound/hook-server.ts";
import {
  type Answered,
  makePlace,
  metricsToken,
  type Place,
  type ServedByTwo,
  serveByTwo,
} from "./served-by-two.ts";

let place: Place;
let service: ServedByTwo;
let receiver: HookServer;
beforeAll(async () => {
  const database = { url: "sqlite:shop.db" };
  receiver = await startHookServer();
  const things = {
    tableName: "things",
    action: { read: true, create: true, lock: true, export: true, "change-status": true },
    workflow: {
      statusField: "name",
      hooks: {
        told: { onAfter: [{ name: "tell", url: `http://${receiver.host}/tell/{{record.id}}` }] },
      },
    },
    live: true,
  };
  place = await makePlace({
    "shop/project.json": {
      database,
      limits: { streams: 2 },
      hooks: { allowedHosts: [receiver.host] },
    },
    "shop/things.json": things,
    "north/project.json": { database, rateLimit: { windowSeconds: 600, max: 3 } },
    "north/things.json": things,
  });
  service = await serveByTwo(place);
}, 60_000);
afterAll(async () => {
  await service?.close();
  await receiver?.close();
  await place?.remove();
});

const { parse, stringify } = JSON;

/** Asks the same until both processes have answered; a condition for all answers can be checked by the caller. */
async function askBoth(path: string, body?: unknown): Promise<Answered[]> {
  const answers: Answered[] = [];
  const processes = new Set<number>();
  while (processes.size < 2 && answers.length < 20) {
    const answer = await service.ask(path, body);
    answers.push(answer);
    processes.add(await answer.process());
  }
  expect([...processes].toSorted()).toEqual([1, 2]);
  return answers;
}

const lockOf = (value: string) => ({ lock_keys: [{ key: "id", value }] });

test("a lock that one process granted is held at both, and is released at either", async () => {
  const taken = await service.ask("api/shop/things/lock/acquire", lockOf("a"));
  expect(taken.status).toBe(200);
  for (const { body } of await askBoth("api/shop/things/lock/status", lockOf("a")))
    expect(body.data.keys[0].locked).toBe(true);
  for (const { status } of await askBoth("api/shop/things/lock/acquire", lockOf("a")))
    expect(status).toBe(409);
  const { lock_token } = taken.body.data;
  await askBoth("api/shop/things/lock/release", { ...lockOf("a"), lock_token });
  for (const { body } of await askBoth("api/shop/things/lock/status", lockOf("a")))
    expect(body.data.keys[0].locked).toBe(false);
});

test("fences grow from process to process", async () => {
  const fences: number[] = [];
  for (const key of ["f1", "f2", "f3", "f4"]) {
    const { body } = await service.ask("api/shop/things/lock/acquire", lockOf(key));
    fences.push(body.data.fence);
  }
  expect(fences).toEqual(fences.toSorted((a, b) => a - b));
  expect(new Set(fences).size).toBe(4);
});

test("a rate limit is counted once for both", async () => {
  const answers: Answered[] = [];
  for (let sent = 0; sent < 5; sent++)
    answers.push(await service.ask("api/north/things/read", { limit: 1 }));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 429, 429]);
  const processes = new Set(await Promise.all(answers.map((answer) => answer.process())));
  expect(processes.size).toBe(2);
});

test("no process answers from its cache after a write through another", async () => {
  const count = async () =>
    (await askBoth("api/shop/things/read", { limit: 1000 })).map(({ body }) => body.count);
  const [before] = await count();
  for (let written = 1; written <= 6; written++) {
    const { status } = await service.ask("api/shop/things/create", { name: `n${written}` });
    expect(status).toBe(201);
    expect(new Set(await count())).toEqual(new Set([before + written]));
  }
});

/** Opens a stream; `heard` resolves when it has told of so many keys. */
async function follow() {
  const leave = new AbortController();
  const response = await fetch(`${service.origin}/api/shop/changes?endpoints=things`, {
    headers: { Connection: "close" },
    signal: leave.signal,
  });
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  return {
    status: response.status,
    async heard(keys: readonly string[]): Promise<void> {
      while (!keys.every((key) => text.includes(stringify(key)))) {
        const { value, done } = await reader.read();
        if (done) throw new Error(`The stream ended after ${text}`);
        text += value;
      }
    },
    leave: () => leave.abort(),
  };
}

test("streams hear of the writes of both processes, and are counted together", async () => {
  const streams = [await follow(), await follow()];
  expect(streams.map(({ status }) => status)).toEqual([200, 200]);
  const created = await Promise.all(
    ["one", "two"].map((name) => service.ask("api/shop/things/create", { name })),
  );
  const keys = created.map(({ body }) => body.data.id as string);
  await Promise.all(streams.map(({ heard }) => heard(keys)));
  for (const { status } of await askBoth("api/shop/changes?endpoints=things"))
    expect(status).toBe(429);
  streams[0]!.leave();
  await expect
    .poll(async () => {
      const next = await follow();
      next.leave();
      return next.status;
    })
    .toBe(200);
  streams[1]!.leave();
});

test("a job that one process took has its status and its file at both", async () => {
  const { status, body } = await service.ask("api/shop/things/export", { format: "csv" });
  expect([status, body.status]).toEqual([200, "pending"]);
  const { job_id } = body;
  const states = async () =>
    (await askBoth(`api/shop/things/export-status?job_id=${job_id}`)).map((one) => one.body.status);
  await expect
    .poll(async () => new Set(await states()), { timeout: 20_000 })
    .toEqual(new Set(["completed"]));
  for (const one of await askBoth(`api/shop/things/export-download?job_id=${job_id}`)) {
    expect(one.status).toBe(200);
    expect(one.body).toContain("Anvil");
  }
});

test("non-blocking hooks of both processes are called, each once", async () => {
  const ids: string[] = [];
  const processes = new Set<number>();
  while (processes.size < 2 && ids.length < 20) {
    const created = await service.ask("api/shop/things/create", { name: "new" });
    const id = created.body.data.id as string;
    ids.push(id);
    const changed = await service.ask("api/shop/things/change-status", { id, status: "told" });
    expect(changed.status).toBe(200);
    processes.add(await changed.process());
    // An odd number of requests, so that the other process is next.
    await service.ask("health/live");
  }
  expect(processes.size).toBe(2);
  for (const id of ids) expect(await receiver.hears(`/tell/${id}`)).toHaveLength(1);
});

test("each process tells the metrics of all, and the state of the one configuration", async () => {
  const authorization = { Authorization: `Bearer ${metricsToken}` };
  const { body: text } = await service.ask("metrics", undefined, authorization);
  for (const process of [0, 1, 2])
    expect(text).toMatch(
      new RegExp(`^process_resident_memory_bytes\\{process="${process}"\\} \\d`, "m"),
    );
  for (const process of [1, 2])
    expect(text).toMatch(
      new RegExp(`^rowgate_http_requests_total\\{process="${process}",project="shop"`, "m"),
    );
  expect(text).toMatch(/^rowgate_process_replacements_total\{process="0"\} 0$/m);
  // Queues are told by one process, as all would tell the same numbers.
  expect(text).toMatch(/^rowgate_jobs\{process="1",queue="jobs",state="completed"\} 1$/m);
  expect(text).not.toMatch(/^rowgate_jobs\{process="2"/m);
  const names = (text as string).match(/^# TYPE \S+/gm)!;
  expect(new Set(names).size).toBe(names.length);
  const ready = [1, 2, 3].map(() => service.ask("health/ready", undefined, authorization));
  const states = (await Promise.all(ready)).map(({ body }) => stringify(body.config));
  expect(new Set(states).size).toBe(1);
  expect(parse(states[0]!)).toMatchObject({ last_error: null });
});

test("no process warns of the others", () => {
  expect(service.said()).not.toContain("Another process");
});

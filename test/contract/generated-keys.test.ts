/** Keys that a default of the database makes: create answers them, whatever makes them, and documents and imports can have them. */
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import type { EngineName } from "../servers/session.ts";
import { record } from "./cases.ts";
import { type Fixture, openFixture } from "./harness.ts";

const engine = inject("engine");

const setUps: Readonly<Record<EngineName, readonly string[]>> = {
  postgres: [
    "create sequence numbers start 100",
    "create table by_sequence (id bigint primary key default nextval('numbers'), name text)",
    "create table by_sequence_lines (id bigint primary key default nextval('numbers'), header_id bigint references by_sequence, name text)",
    "create table by_bytes (id bytea primary key default decode(replace(gen_random_uuid()::text, '-', ''), 'hex'), name text)",
    "create table by_text (id varchar(12) primary key default 'N-' || nextval('numbers'), name text)",
  ],
  mysql: [
    "create sequence numbers start with 100",
    "create table by_sequence (id bigint primary key default nextval(numbers), name varchar(20))",
    "create table by_sequence_lines (id bigint primary key default nextval(numbers), header_id bigint references by_sequence(id), name varchar(20))",
    "create table by_bytes (id binary(16) primary key default (unhex(replace(uuid(), '-', ''))), name varchar(20))",
    "create table by_text (id varchar(12) primary key default (concat('N-', nextval(numbers))), name varchar(20))",
  ],
  sqlite: [
    "create table by_sequence (id bigint primary key default (abs(random() % 1000000) + 100), name text)",
    "create table by_sequence_lines (id bigint primary key default (abs(random() % 1000000) + 100), header_id bigint references by_sequence, name text)",
    "create table by_bytes (id blob primary key default (randomblob(16)), name text)",
    "create table by_text (id varchar(12) primary key default ('N-' || (abs(random() % 1000000) + 100)), name text)",
  ],
};

let service: Fixture;
beforeAll(async () => {
  const endpoint = (tableName: string) => ({
    tableName,
    action: { create: true, first: true, update: true },
  });
  service = await openFixture({
    tables: [],
    setUp: () => setUps[engine],
    endpoints: {
      by_sequence: {
        tableName: "by_sequence",
        action: { create: true, first: true, update: true, "create-composite": true },
        masterDetail: { detailTable: "by_sequence_lines", foreignKey: "header_id" },
      },
      by_bytes: endpoint("by_bytes"),
      by_text: endpoint("by_text"),
    },
  });
});
afterAll(() => service.close());

test.each(["by_sequence", "by_bytes", "by_text"])(
  "create answers the record with the key that the database made: %s",
  async (name) => {
    const answer = await service.post(`${name}/create`, { name: "a" });
    expect(answer.status, JSON.stringify(answer.body)).toBe(201);
    const stored = record(answer);
    expect(stored).toEqual({ id: expect.anything(), name: "a" });
    const first = await service.post(`${name}/first`, {
      where: { key: "id", value: stored["id"] },
    });
    expect(first.body.data).toEqual(stored);
    const updated = await service.post(`${name}/update`, { id: stored["id"], name: "b" });
    expect(updated.body.data).toEqual({ id: stored["id"], name: "b" });
  },
);

test("a text that is too short for a UUID is left to its default", async () => {
  expect(record(await service.post("by_text/create", { name: "a" }))["id"]).toMatch(/^N-\d+$/);
});

test("create stores a key that the client sends", async () => {
  const answer = await service.post("by_sequence/create", { id: 5, name: "own" });
  expect(record(answer)).toEqual({ id: 5, name: "own" });
});

test("create-composite gives header and lines such keys", async () => {
  const by_sequence_lines = [{ name: "x" }, { name: "y" }];
  const answer = await service.post("by_sequence/create-composite", {
    by_sequence: { name: "header", by_sequence_lines },
  });
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  const { id, by_sequence_lines: lines } = answer.body.data;
  expect(lines).toEqual([
    { id: expect.any(Number), header_id: id, name: "x" },
    { id: expect.any(Number), header_id: id, name: "y" },
  ]);
});

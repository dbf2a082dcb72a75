/** The rows of an upload in batches: read at once where the file is small, and in a thread where it is large. */
import { hash } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { openRows, type OpenRows } from "../../jobs/import/open-rows.ts";
import { InvalidWorkbook } from "../../jobs/workbook/invalid-workbook.ts";
import { bytesOf, fileOf } from "./files.ts";

const batchRows = 500;
const bytesMax = 50 * 1024 ** 2;

/** Texts that hardly compress: 64 characters of 4 bits each. */
const rowAt = (at: number) => [
  at,
  hash("sha256", `a${at}`),
  hash("sha256", `b${at}`),
  at % 2 === 0,
];

async function workbookOf(rows: number): Promise<string> {
  return fileOf(await bytesOf(Array.from({ length: rows }, (_, at) => rowAt(at))));
}

async function open(path: string, options: { bytesMax?: number } = {}): Promise<OpenRows> {
  const rows = await openRows({ formulas: "escape", path, batchRows, bytesMax, ...options });
  onTestFinished(() => rows.close());
  return rows;
}

async function allOf(rows: OpenRows): Promise<{ sizes: number[]; rows: unknown[] }> {
  const sizes: number[] = [];
  const all: unknown[] = [];
  for await (const batch of rows.batches()) {
    sizes.push(batch.length);
    all.push(...batch.map(({ rowIndex, values }) => [rowIndex, ...values]));
  }
  return { sizes, rows: all };
}

const kinds = [
  { kind: "small", count: 1_250, isLarge: false },
  { kind: "large", count: 10_250, isLarge: true },
];

describe.each(kinds)("a $kind workbook", ({ count, isLarge }) => {
  test("gives its headings, and each row once, in batches", async () => {
    const path = await workbookOf(count);
    expect((await stat(path)).size > 512 * 1024).toBe(isLarge);
    const rows = await open(path);
    expect(rows.headings).toEqual(["column 1", "column 2", "column 3", "column 4"]);
    const found = await allOf(rows);
    expect(found.sizes).toEqual([...Array(Math.floor(count / 500)).fill(500), 250]);
    expect(found.rows).toEqual(Array.from({ length: count }, (_, at) => [at + 2, ...rowAt(at)]));
  });

  test("is read anew with each call, also when the one before was left", async () => {
    const rows = await open(await workbookOf(count));
    for await (const batch of rows.batches()) if (batch[0]!.rowIndex > 500) break;
    const first = await allOf(rows);
    expect(first.rows).toHaveLength(count);
    expect(await allOf(rows)).toEqual(first);
  });

  test("that is damaged behind its first rows is refused when they have been read", async () => {
    const bytes = await readFile(await workbookOf(count));
    bytes[Math.floor(bytes.length / 2)]! ^= 0xff;
    const rows = await open(await fileOf(bytes));
    await expect(allOf(rows)).rejects.toThrow(InvalidWorkbook);
  });

  test("that is larger than allowed is refused at once", async () => {
    const path = await workbookOf(count);
    await expect(open(path, { bytesMax: 1_000 })).rejects.toThrow(InvalidWorkbook);
  });

  test("that is none is refused at once", async () => {
    const path = await fileOf(Buffer.alloc(isLarge ? 1024 ** 2 : 1_000, "no workbook "));
    await expect(open(path)).rejects.toThrow(InvalidWorkbook);
  });
});

test("the next large workbook is read from its beginning after one that was left or refused", async () => {
  const path = await workbookOf(10_250);
  const left = await open(path);
  await left.batches().next();
  await left.close();
  await expect(open(path, { bytesMax: 1_000 })).rejects.toThrow(InvalidWorkbook);
  const { rows } = await allOf(await open(await workbookOf(10_300)));
  expect(rows).toEqual(Array.from({ length: 10_300 }, (_, at) => [at + 2, ...rowAt(at)]));
});

test("two large workbooks are read at the same time", async () => {
  const all = await Promise.all([open(await workbookOf(10_250)), open(await workbookOf(10_300))]);
  const found = await Promise.all(all.map(allOf));
  expect(found.map(({ rows }) => rows.length)).toEqual([10_250, 10_300]);
});

test("there are no more rows of a large workbook that was closed", async () => {
  const rows = await open(await workbookOf(10_250));
  const batches = rows.batches();
  await batches.next();
  await rows.close();
  await expect(batches.next()).rejects.toThrow("has stopped");
});

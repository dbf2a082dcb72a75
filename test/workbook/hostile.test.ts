/** Any file is refused with a sentence or read correctly, within 5 s and 300 MB. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, test } from "vitest";
import { InvalidWorkbook } from "../../jobs/workbook/invalid-workbook.ts";
import { bytesOf, fileOf, rowsOf } from "./files.ts";
import { hostileFiles } from "./hostile-workbooks.ts";
import type { Reading } from "./read-in-process.ts";

const program = join(import.meta.dirname, "read-in-process.ts");

describe("within 5 s and 300 MB, the reader answers", () => {
  test.each(hostileFiles)("$name", { timeout: 30_000 }, async ({ make, expected }) => {
    const path = await fileOf(make());
    const { stdout } = await promisify(execFile)(process.execPath, [program, path]);
    const { rows, refusal, ms, peakMiB } = JSON.parse(stdout) as Reading;
    if (typeof expected === "number") expect([refusal, rows]).toEqual([null, expected]);
    else expect(refusal).toMatch(expected);
    expect(ms).toBeLessThan(5000);
    expect(peakMiB).toBeLessThan(300);
  });
});

describe("a good workbook", () => {
  const rows = Array.from({ length: 300 }, (_, at) => [
    at,
    `text ${at * 7919}`,
    at % 3 === 0,
    null,
  ]);
  let bytes: Buffer;
  beforeAll(async () => {
    bytes = await bytesOf(rows);
  });

  test("that was cut anywhere is refused", async () => {
    for (let length = 0; length < bytes.length; length += 97) {
      const path = await fileOf(bytes.subarray(0, length));
      await expect(rowsOf(path), `${length} bytes`).rejects.toThrow(InvalidWorkbook);
    }
  });

  test("with any byte changed is refused, or read as it was", { timeout: 60_000 }, async () => {
    const whole = (await rowsOf(await fileOf(bytes))).rows;
    for (let at = 0; at < bytes.length; at += 29) {
      const bent = Buffer.from(bytes);
      bent[at]! ^= 1 << (at % 8);
      const path = await fileOf(bent);
      const read = await rowsOf(path).then(
        ({ rows }) => rows,
        (error: unknown) => error,
      );
      if (!(read instanceof InvalidWorkbook)) expect(read, `byte ${at}`).toEqual(whole);
    }
  });
});

/**
 * Reads the workbook at the given path and prints as JSON the result, the processor time, and the process's peak
 * memory.
 */
import { existsSync, readFileSync } from "node:fs";
import { InvalidWorkbook } from "../../jobs/workbook/invalid-workbook.ts";
import { openWorkbook } from "../../jobs/workbook/open-workbook.ts";

/** What is printed. `refusal` null: all rows were read. */
export interface Reading {
  readonly rows: number;
  readonly refusal: string | null;
  /** Of the processors. */
  readonly ms: number;
  readonly peakMiB: number;
}

const start = process.cpuUsage();
let rows = 0;
let refusal: string | null = null;
try {
  for await (const _ of (await openWorkbook(process.argv[2]!)).rows()) rows++;
} catch (error) {
  if (!(error instanceof InvalidWorkbook)) throw error;
  refusal = error.message;
}
// A busy machine does not change what the reader costs by much, but when it gets its turn.
const { user, system } = process.cpuUsage(start);
const ms = (user + system) / 1000;
const reading: Reading = { rows, refusal, ms, peakMiB: peakMiB() };
console.log(JSON.stringify(reading));

/** On Linux, the peak of getrusage includes the memory of the parent process. */
function peakMiB(): number {
  const status = existsSync("/proc/self/status") ? readFileSync("/proc/self/status", "utf8") : "";
  const peakKiB = /VmHWM:\s*(\d+)/.exec(status)?.[1] ?? process.resourceUsage().maxRSS;
  return Number(peakKiB) / 1024;
}

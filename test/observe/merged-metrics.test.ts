/** The metrics of several processes as one text. */
import { expect, test } from "vitest";
import { mergedMetrics } from "../../app/metrics/merged-metrics.ts";

const requests = "# HELP requests Answered.\n# TYPE requests counter\n";
const memory = "# HELP memory_bytes Memory.\n# TYPE memory_bytes gauge\n";

test("samples get a label, and those of a metric stand together below one introduction", () => {
  const first = `${requests}requests{path="/a b{c}"} 2\n${memory}memory_bytes 10\n`;
  const second = `${memory}memory_bytes 11\n\n${requests}requests{path="/"} 1\n`;
  expect(mergedMetrics(new Map(Object.entries({ 1: first, 2: second })))).toBe(
    `${requests}requests{process="1",path="/a b{c}"} 2\nrequests{process="2",path="/"} 1\n` +
      `${memory}memory_bytes{process="1"} 10\nmemory_bytes{process="2"} 11\n`,
  );
});

test("histograms keep their parts, and a metric without a sample its introduction", () => {
  const times = "# HELP times Seconds.\n# TYPE times histogram\n";
  const parts = 'times_bucket{le="+Inf"} 1\ntimes_sum 0.5\ntimes_count 1\n';
  const merged = mergedMetrics(new Map([["1", requests + times + parts]]));
  expect(merged).toBe(
    `${requests}${times}times_bucket{process="1",le="+Inf"} 1\n` +
      'times_sum{process="1"} 0.5\ntimes_count{process="1"} 1\n',
  );
});

test("no process gives no text", () => {
  expect(mergedMetrics(new Map())).toBe("");
});

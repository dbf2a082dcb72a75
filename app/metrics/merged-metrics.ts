/**
 * The metrics of several processes as one text: each sample gets the label `process`, and the samples of a metric stand
 * together, as the format requires. They are not added up: a sum would fall whenever a process is replaced, because the
 * counters of the next one begin at zero.
 */

/** `texts`: by the value of the label, each in the exposition format of Prometheus. */
export function mergedMetrics(texts: ReadonlyMap<string, string>): string {
  /** By the lines that introduce a metric, which are equal in all texts. */
  const metrics = new Map<string, string[]>();
  for (const [process, text] of texts)
    for (const part of text.split(/^(?=# HELP )/m)) {
      const lines = part.split("\n").filter((line) => line !== "");
      const head = lines.filter((line) => line.startsWith("#")).join("\n");
      const samples = metrics.get(head) ?? [];
      metrics.set(head, samples);
      for (const line of lines) if (!line.startsWith("#")) samples.push(labelled(line, process));
    }
  return [...metrics].map(([head, samples]) => [head, ...samples, ""].join("\n")).join("");
}

function labelled(sample: string, process: string): string {
  const end = sample.search(/[{ ]/);
  const name = sample.slice(0, end);
  return sample[end] === "{"
    ? `${name}{process="${process}",${sample.slice(end + 1)}`
    : `${name}{process="${process}"}${sample.slice(end)}`;
}

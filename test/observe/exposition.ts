/** Strict parser of the Prometheus text format (version 0.0.4): it throws on anything that a scraper could reject. */

/** One line with a value. */
export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface Family {
  readonly name: string;
  readonly type: string;
  readonly help: string;
  readonly samples: Sample[];
}

const nameShape = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const sampleShape = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/;
const labelShape = /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"(,|$)/;
const valueShape = /^[+-]?(?:\d+(?:\.\d+)?(?:e[+-]?\d+)?|Inf|NaN|Nan)$/i;

/** By name. Throws an Error that names the line. */
export function readExposition(text: string): Map<string, Family> {
  if (!text.endsWith("\n")) throw new Error("The text does not end with a line feed");
  const families = new Map<string, Family>();
  let help: { name: string; text: string } | null = null;
  let current: Family | null = null;
  for (const line of text.slice(0, -1).split("\n")) {
    if (line === "") continue;
    const [, kind, name = "", rest = ""] = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line) ?? [];
    if (kind === "HELP") {
      if (!nameShape.test(name) || rest === "") throw new Error(`Bad HELP: ${line}`);
      help = { name, text: rest };
    } else if (kind === "TYPE") {
      if (help?.name !== name) throw new Error(`TYPE without HELP: ${line}`);
      if (families.has(name)) throw new Error(`Twice: ${line}`);
      if (!/^(counter|gauge|histogram|summary)$/.test(rest)) throw new Error(`Bad TYPE: ${line}`);
      current = { name, type: rest, help: help.text, samples: [] };
      families.set(name, current);
    } else if (line.startsWith("#")) throw new Error(`Bad comment: ${line}`);
    else addSample(current, line);
  }
  for (const family of families.values()) checkFamily(family);
  return families;
}

function addSample(family: Family | null, line: string): void {
  const [, name = "", labels = "", value = ""] = sampleShape.exec(line) ?? [];
  if (family === null || !valueShape.test(value)) throw new Error(`Bad sample: ${line}`);
  const suffix = name.slice(family.name.length);
  const suffixes = family.type === "histogram" ? ["_bucket", "_sum", "_count"] : [""];
  if (!name.startsWith(family.name) || !suffixes.includes(suffix))
    throw new Error(`A sample of another metric: ${line}`);
  family.samples.push({ name, labels: readLabels(labels, line), value: Number(value) });
}

function readLabels(text: string, line: string): Record<string, string> {
  const labels: Record<string, string> = {};
  let rest = text;
  while (rest !== "") {
    const [whole, name, value] = labelShape.exec(rest) ?? [];
    if (whole === undefined || name === undefined || value === undefined)
      throw new Error(`Bad labels: ${line}`);
    if (name in labels) throw new Error(`A label twice: ${line}`);
    labels[name] = value.replaceAll(/\\(.)/g, (_, one: string) => (one === "n" ? "\n" : one));
    rest = rest.slice(whole.length);
  }
  return labels;
}

const keyOf = ({ name, labels }: Sample): string => JSON.stringify([name, labels]);

function checkFamily({ name, type, samples }: Family): void {
  if (new Set(samples.map(keyOf)).size < samples.length) throw new Error(`${name}: a series twice`);
  if (type === "counter" && !name.endsWith("_total")) throw new Error(`${name} is a counter`);
  if (type === "histogram") checkHistogram(name, samples);
}

function checkHistogram(name: string, samples: readonly Sample[]): void {
  const ofSeries = ({ labels }: Sample): string =>
    JSON.stringify(Object.entries({ ...labels, le: "" }).sort());
  const series = Map.groupBy(samples, ofSeries);
  for (const [labels, of] of series) {
    const buckets = of.filter((sample) => sample.name === `${name}_bucket`);
    const bounds = buckets.map((bucket) =>
      Number(bucket.labels["le"]?.replace("+Inf", "Infinity")),
    );
    const counts = buckets.map(({ value }) => value);
    const isAscending = (list: number[]) =>
      list.every((one, at) => at === 0 || one >= list[at - 1]!);
    const count = of.find((sample) => sample.name === `${name}_count`)?.value;
    const isWhole =
      bounds.at(-1) === Infinity &&
      isAscending(bounds) &&
      isAscending(counts) &&
      counts.at(-1) === count;
    if (!isWhole || of.length !== buckets.length + 2)
      throw new Error(`${name}: ${labels} is no histogram`);
  }
}

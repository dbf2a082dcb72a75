/**
 * Counters, histograms and gauges as plain numbers, and their text in the exposition format of Prometheus. They count
 * from the start of the process, at the cost of a look-up; no library has to be loaded before the first scrape.
 */

/** The name of a metric, and the labels that distinguish its series. */
export interface MetricAbout {
  /** As Prometheus writes it: `rowgate_http_requests_total`. */
  readonly name: string;
  /** One sentence. */
  readonly help: string;
  readonly labels: readonly string[];
}

/** A metric with all of its series. */
export interface Metric extends MetricAbout {
  readonly type: "counter" | "gauge" | "histogram";
  /** Its lines in the exposition format, those of HELP and TYPE first. */
  text(): string;
}

export interface Counter extends Metric {
  /** `values`: those of the labels, in their order. */
  add(values: readonly string[], by?: number): void;
}

export interface Histogram extends Metric {
  /** `values`: those of the labels, in their order. */
  observe(values: readonly string[], seconds: number): void;
}

/** A value that is computed for each scrape; a series that is no longer returned is no longer shown. */
export interface Gauge extends Metric {
  set(series: Iterable<GaugeSeries>): void;
}

export interface GaugeSeries {
  readonly values: readonly string[];
  readonly value: number;
}

export function createCounter(about: MetricAbout): Counter {
  const series = createSeries(about, () => ({ total: 0 }));
  return {
    ...about,
    type: "counter",
    add(values, by = 1) {
      series.of(values).total += by;
    },
    text: () =>
      textOf(
        about,
        "counter",
        series.all(({ total }, labels) => [["", labels, total]]),
      ),
  };
}

/** `buckets`: their upper bounds, ascending. */
export function createHistogram(
  about: MetricAbout & { readonly buckets: readonly number[] },
): Histogram {
  const { buckets } = about;
  const series = createSeries(about, () => ({
    /** One more than bounds: the last is for what exceeds all of them. */
    counts: buckets.map(() => 0).concat(0),
    sum: 0,
  }));
  return {
    ...about,
    type: "histogram",
    observe(values, seconds) {
      const one = series.of(values);
      let at = 0;
      while (at < buckets.length && seconds > buckets[at]!) at++;
      one.counts[at]! += 1;
      one.sum += seconds;
    },
    text: () =>
      textOf(
        about,
        "histogram",
        series.all(({ counts, sum }, labels) => bucketLines(buckets, { counts, sum, labels })),
      ),
  };
}

export function createGauge(about: MetricAbout): Gauge {
  let shown: readonly GaugeSeries[] = [];
  return {
    ...about,
    type: "gauge",
    set(series) {
      shown = [...series];
    },
    text: () =>
      textOf(
        about,
        "gauge",
        shown.map(({ values, value }): Line => ["", labelsOf(about, values), value]),
      ),
  };
}

/** The suffix of the metric's name, its labels as text, and its value. */
type Line = readonly [suffix: string, labels: string, value: number];

function bucketLines(
  buckets: readonly number[],
  { counts, sum, labels }: { counts: readonly number[]; sum: number; labels: string },
): Line[] {
  let total = 0;
  const lines = counts.map((count, at): Line => {
    total += count;
    const bound = at < buckets.length ? String(buckets[at]) : "+Inf";
    return ["_bucket", joined(labels, `le="${bound}"`), total];
  });
  return [...lines, ["_sum", labels, sum], ["_count", labels, total]];
}

const joined = (labels: string, more: string): string =>
  labels === "" ? more : `${labels},${more}`;

interface Series<Value> {
  /** The series of these labels, made when it is first asked for. */
  of(values: readonly string[]): Value;
  all(linesOf: (value: Value, labels: string) => Line[]): Line[];
}

/** A tree that finds a series by one label value per level, because joining the values into one key costs more. */
interface Level<Value> {
  readonly next: Map<string, Level<Value>>;
  found: { readonly value: Value; readonly labels: string } | null;
}

function createSeries<Value>(about: MetricAbout, create: () => Value): Series<Value> {
  const root: Level<Value> = { next: new Map(), found: null };
  const all: { readonly value: Value; readonly labels: string }[] = [];

  return {
    of(values) {
      let level = root;
      for (const value of values) {
        let next = level.next.get(value);
        if (next === undefined) level.next.set(value, (next = { next: new Map(), found: null }));
        level = next;
      }
      if (level.found === null) {
        level.found = { value: create(), labels: labelsOf(about, values) };
        all.push(level.found);
      }
      return level.found.value;
    },
    all: (linesOf) => all.flatMap(({ value, labels }) => linesOf(value, labels)),
  };
}

const labelsOf = ({ labels }: MetricAbout, values: readonly string[]): string =>
  labels.map((name, at) => `${name}="${escaped(values[at] ?? "")}"`).join(",");

/** Escaped as the format requires within quotes. */
const escaped = (text: string): string =>
  text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll('"', '\\"');

function textOf({ name, help }: MetricAbout, type: string, lines: readonly Line[]): string {
  const samples = lines.map(
    ([suffix, labels, value]) => `${name}${suffix}${labels === "" ? "" : `{${labels}}`} ${value}\n`,
  );
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${samples.join("")}`;
}

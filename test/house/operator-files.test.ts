/** The dashboard and alert rules of `deploy/` use existing metrics and labels, and the docs page names all of them. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { createServiceMetrics } from "../../app/metrics/service-metrics.ts";
import type { Metric } from "../../app/metrics/series.ts";
import { type Family, readExposition } from "../observe/exposition.ts";

const read = (path: string): string =>
  readFileSync(join(import.meta.dirname, "../..", path), "utf8");

const metrics = createServiceMetrics();
const own = Object.values(metrics).filter((one): one is Metric => typeof one === "object");
let shown: Map<string, Family>;
/** By metric: the labels that its series have. */
let labels: Map<string, readonly string[]>;
beforeAll(async () => {
  shown = readExposition(await metrics.text());
  labels = new Map(own.map((metric) => [metric.name, metric.labels]));
});

/** Prometheus adds these to every metric that it reads. */
const ofPrometheus = ["job", "instance"];

interface Panel {
  readonly title: string;
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
}
const { panels } = JSON.parse(read("deploy/grafana/rowgate.json")) as { panels: Panel[] };
const ofDashboard = panels.flatMap(({ title, targets = [] }) =>
  targets.map(({ expr, legendFormat: text }) => ({ title: `${title} ${text}`, expr, text })),
);

/** Each rule: its name, its expression (perhaps of several lines), and the texts that show labels. */
const ofAlerts = read("deploy/prometheus/alerts.yml")
  .split(/^ {6}- alert: /m)
  .slice(1)
  .map((rule) => {
    const [, expr = ""] = /^ {8}expr: (?:\|\n)?([\s\S]*?)\n {8}\w/m.exec(rule) ?? [];
    const text = rule.replaceAll("$labels.", "").replaceAll(/\$value[^}]*/g, "");
    return { title: rule.split("\n")[0]!, expr, text };
  });

const words = (text: string): string[] => text.match(/[a-z_]\w*/gi) ?? [];

/** The metrics of an expression, without the suffixes of histograms. */
const metricsIn = (expr: string): string[] =>
  (expr.match(/\b(?:rowgate|process|nodejs)_\w+/g) ?? []).map((name) =>
    shown.has(name) ? name : name.replace(/_(?:bucket|sum|count)$/, ""),
  );

/** The labels that an expression chooses or groups by, and that its text shows. */
function labelsIn(expr: string, text: string): Set<string> {
  const chosen = [...expr.matchAll(/\{([^}]*)\}/g)].flatMap(([, inner = ""]) =>
    [...inner.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)].map(([, name = ""]) => name),
  );
  const grouped = [...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, inner = ""]) => words(inner));
  const told = [...text.matchAll(/\{\{\s*(\w+)\s*\}\}/g)].map(([, name = ""]) => name);
  return new Set([...chosen, ...grouped, ...told]);
}

describe.each([
  ["dashboard", () => ofDashboard, 30],
  ["alert rules", () => ofAlerts, 10],
])("the %s", (_, queries, atLeast) => {
  test("have queries, each of a metric", () => {
    expect(queries().length).toBeGreaterThanOrEqual(atLeast);
    for (const { title, expr } of queries())
      expect([title, metricsIn(expr).length > 0]).toEqual([title, true]);
  });

  test("name metrics that are shown", () => {
    const unknown = queries().flatMap(({ title, expr }) =>
      metricsIn(expr).flatMap((name) => (shown.has(name) ? [] : [`${title}: ${name}`])),
    );
    expect(unknown).toEqual([]);
  });

  test("name labels that all of their metrics have", () => {
    const unknown = queries().flatMap(({ title, expr, text }) => {
      const known = metricsIn(expr).map((name) => [
        ...(labels.get(name) ?? []),
        ...(shown.get(name)?.type === "histogram" ? ["le"] : []),
        ...ofPrometheus,
      ]);
      return [...labelsIn(expr, text)].flatMap((label) =>
        known.every((one) => one.includes(label)) ? [] : [`${title}: ${label}`],
      );
    });
    expect(unknown).toEqual([]);
  });
});

test("every metric of the service is on the page, with its labels and its kind", () => {
  const page = read("docs/observability.md");
  const rows = [...page.matchAll(/^\| `(rowgate_\w+)` +\| (\w+) +\| ([^|]*?) +\|/gm)].map(
    ([, name, type, listed = ""]) => ({ name, type, labels: words(listed) }),
  );
  const expected = own.map(({ name, type, labels: names }) => ({ name, type, labels: [...names] }));
  expect(rows).toEqual(expected);
});

test("the metrics of the process that the page names are shown", () => {
  const page = read("docs/observability.md");
  const named = page.match(/`(?:process|nodejs)_\w+`/g) ?? [];
  expect(named.length).toBeGreaterThan(3);
  expect(named.filter((name) => !shown.has(name.slice(1, -1)))).toEqual([]);
});

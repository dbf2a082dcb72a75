/**
 * Connected work is one trace: a request, its non-blocking hooks, the request that one of them sends to the service,
 * and the job that this request starts, wherever queue and worker are.
 */
import { describe, expect, test } from "vitest";
import { type CollectedSpan, startCollector } from "../observe/collector.ts";
import { startHookServer } from "../outbound/hook-server.ts";
import { jobPlaces, openJobFixture } from "./job-places.ts";
import { openForTests } from "./harness.ts";

const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
const traceparent = `00-${traceId}-00f067aa0ba902b7-01`;

describe.each(jobPlaces)("%s", (jobPlace) => {
  const collector = openForTests(startCollector);
  const hooks = openForTests(startHookServer);
  const place = openForTests(() => {
    const hook = { method: "POST", blocking: false };
    return openJobFixture(jobPlace, {
      tables: [{ name: "goods", columns: { id: "key", mark: "text(20)", state: "text(20)" } }],
      setUp: () => ["insert into goods values ('a', 'A', 'open')"],
      endpoints: {
        goods: {
          tableName: "goods",
          action: { "change-status": true, export: true, "export-status": true },
          workflow: {
            statusField: "state",
            hooks: {
              sold: {
                onAfter: [
                  { ...hook, name: "tell", url: `http://${hooks.host}/tell` },
                  { ...hook, name: "export", url: "/api/test/goods/export", body: {} },
                ],
              },
            },
          },
        },
      },
      project: { hooks: { allowedHosts: [hooks.host] } },
      env: collector.env,
    });
  });

  test("a request, its hooks and the job that one of them starts are one trace", async () => {
    const body = { id: "a", status: "sold" };
    expect((await place.post("goods/change-status", body, { traceparent })).status).toBe(200);

    const one = async (name: string, parent: CollectedSpan | null): Promise<CollectedSpan> => {
      const isWanted = (span: CollectedSpan) =>
        span.name === name && (parent === null || span.parentSpanId === parent.spanId);
      const [span] = await collector.finds(isWanted);
      expect(span!.traceId).toBe(traceId);
      return span!;
    };
    const request = await one("POST /api/test/goods/change-status", null);
    const told = await one("POST onAfter:tell", request);
    const sent = await one("POST onAfter:export", request);
    const exporting = await one("POST /api/test/goods/export", sent);
    const job = await one("job export", exporting);
    const statement = await one("SELECT", job);

    const [heard] = await hooks.hears("/tell");
    expect(heard?.headers["traceparent"]).toBe(`00-${traceId}-${told.spanId}-01`);
    expect(job).toMatchObject({ kind: 5, attributes: { "rowgate.job.outcome": "completed" } });
    expect(statement.attributes["db.query.text"]).toMatch(/goods/);
    expect(statement.pid).toBe(job.pid);
    expect(job.pid === process.pid).toBe(jobPlace === "in the service");
    expect(request.pid).toBe(process.pid);
  });
});

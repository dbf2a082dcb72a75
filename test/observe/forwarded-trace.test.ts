/** How a runtime without OpenTelemetry passes traces on. */
import { expect, test } from "vitest";
import { type Task } from "../../app/observe/current-task.ts";
import { forwardTrace } from "../../app/start/observing/observe-projects.ts";

const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

const requestWith = (headers: Record<string, string>): Task => ({
  kind: "request",
  id: "r",
  startedMs: 0,
  request: { method: "GET", url: "http://localhost/", headers: new Headers(headers) },
  exchange: { requestId: "r", route: null, place: { project: null, endpoint: null, action: null } },
});

const request = { method: "POST", url: "http://a/", headers: {}, body: null, timeoutMs: 1 };
const place = { project: "p", endpoint: "e", status: "s", hook: "h", index: 0 };

test("the trace of a request goes on to its hooks and jobs as it came", () => {
  const task = requestWith({ traceparent, tracestate: "a=1" });
  expect(forwardTrace.trace?.(task)).toEqual({ traceparent, tracestate: "a=1" });
  const watch = forwardTrace.hookBegan?.({ place, request, task });
  expect(watch?.headers).toEqual({ traceparent, tracestate: "a=1" });
});

test("a hook that is called later continues the trace that it was kept with", () => {
  const kept = { ...request, trace: { traceparent } };
  const watch = forwardTrace.hookBegan?.({ place, request: kept, task: undefined });
  expect(watch?.headers).toEqual({ traceparent });
});

test("a request without a trace, or with one that is none, begins none", () => {
  expect(forwardTrace.trace?.(requestWith({}))).toBeNull();
  expect(forwardTrace.trace?.(requestWith({ traceparent: "x y" }))).toBeNull();
  expect(forwardTrace.trace?.(undefined)).toBeNull();
});

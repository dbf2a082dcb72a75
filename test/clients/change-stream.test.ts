/** The stream of the liveProvider after a refusal: for the next caller, and where it was a moment's. */
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { openChangeStream } from "../../app/adapters/change-stream.ts";
import { openProjectClient } from "../../app/adapters/project-client.ts";

beforeEach(() => {
  vi.useFakeTimers();
  vi.spyOn(console, "warn").mockReturnValue();
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const json = (status: number) => Response.json({ success: false, message: "no" }, { status });
const open = () => new Response(new ReadableStream());

test.each([
  ["has signed out", 401],
  ["may not read the endpoint", 403],
])("opens for the next caller after one who %s", async (_who, status) => {
  let user = "nobody";
  let opened = 0;
  const project = openProjectClient({
    baseUrl: "http://localhost",
    project: "test",
    token: () => user,
    async fetch(_url, init) {
      if (new Headers(init?.headers).get("Authorization") !== "Bearer clerk") return json(status);
      opened++;
      return open();
    },
  });
  const end = openChangeStream(project)({ endpoint: "orders", hear: () => undefined });
  // The pauses between the tries are then at their longest.
  await vi.advanceTimersByTimeAsync(5 * 60_000);
  user = "clerk";
  await vi.advanceTimersByTimeAsync(15_000);
  expect(opened).toBe(1);
  end();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(vi.getTimerCount()).toBe(0);
});

test("opens again after a refusal that no endpoint explains", async () => {
  const statuses = [404];
  let opened = 0;
  const project = openProjectClient({
    baseUrl: "http://localhost",
    project: "test",
    async fetch(_url, init) {
      if (init?.method === "POST") return Response.json({ success: true });
      const status = statuses.shift();
      if (status !== undefined) return json(status);
      opened++;
      return open();
    },
  });
  const end = openChangeStream(project)({ endpoint: "orders", hear: () => undefined });
  await vi.advanceTimersByTimeAsync(5000);
  expect(opened).toBe(1);
  end();
  await vi.advanceTimersByTimeAsync(1000);
});

test("opens for a caller who comes while the refusal of the one before is looked into", async () => {
  let user = "nobody";
  let opened = 0;
  const project = openProjectClient({
    baseUrl: "http://localhost",
    project: "test",
    token: () => user,
    async fetch(_url, init) {
      if (user === "clerk") {
        opened++;
        return open();
      }
      if (init?.method === "POST") user = "clerk";
      return json(403);
    },
  });
  const end = openChangeStream(project)({ endpoint: "orders", hear: () => undefined });
  await vi.advanceTimersByTimeAsync(15_000);
  expect(opened).toBe(1);
  end();
  await vi.advanceTimersByTimeAsync(1000);
});

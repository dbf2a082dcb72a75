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

/** Listens to orders; the service counts the streams that it opens, and refuses what `refusalOf` answers. */
function listen(refusalOf: (init: RequestInit) => Response | null, userOf = () => "somebody") {
  const streams = { opened: 0 };
  const project = openProjectClient({
    baseUrl: "http://localhost",
    project: "test",
    token: userOf,
    async fetch(_url, init = {}) {
      const refusal = refusalOf(init);
      if (refusal !== null) return refusal;
      streams.opened++;
      return new Response(new ReadableStream());
    },
  });
  return { streams, end: openChangeStream(project)({ endpoint: "orders", hear: () => undefined }) };
}

test.each([
  ["has signed out", 401],
  ["may not read the endpoint", 403],
])("opens for the next caller after one who %s", async (_who, status) => {
  let user = "nobody";
  const isOther = ({ headers }: RequestInit) =>
    new Headers(headers).get("Authorization") !== "Bearer clerk";
  const { streams, end } = listen(
    (init) => (isOther(init) ? json(status) : null),
    () => user,
  );
  // The pauses between the tries are then at their longest.
  await vi.advanceTimersByTimeAsync(5 * 60_000);
  user = "clerk";
  await vi.advanceTimersByTimeAsync(15_000);
  expect(streams.opened).toBe(1);
  end();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(vi.getTimerCount()).toBe(0);
});

test("opens again after a refusal that no endpoint explains", async () => {
  const statuses = [404];
  const { streams, end } = listen(({ method }) => {
    if (method === "POST") return Response.json({ success: true });
    const status = statuses.shift();
    return status === undefined ? null : json(status);
  });
  await vi.advanceTimersByTimeAsync(5000);
  expect(streams.opened).toBe(1);
  end();
  await vi.advanceTimersByTimeAsync(1000);
});

test("opens for a caller who comes while the refusal of the one before is looked into", async () => {
  let user = "nobody";
  const { streams, end } = listen(
    ({ method }) => {
      if (user === "clerk") return null;
      if (method === "POST") user = "clerk";
      return json(403);
    },
    () => user,
  );
  await vi.advanceTimersByTimeAsync(15_000);
  expect(streams.opened).toBe(1);
  end();
  await vi.advanceTimersByTimeAsync(1000);
});

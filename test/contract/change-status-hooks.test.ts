/** Hooks of change-status against a real server: content and time of calls; no hook can block or forge a change. */
import { describe, expect, test, vi } from "vitest";
import { limits } from "../../core/values/limits.ts";
import { check, instant } from "./cases.ts";
import { hookTimeoutMs, inner, openHookedOrders, peers } from "./hooked-orders.ts";

const orders = openHookedOrders();

const failed = { status: 502, error: "Hook execution failed" };
const timed = async <T>(work: () => Promise<T>) => {
  const startMs = performance.now();
  const result = await work();
  return { result, tookMs: performance.now() - startMs };
};

describe("a status at which records are numbered", () => {
  const heard = () => orders.server.heard.filter(({ path }) => path === `/numbered/${orders.id}`);

  test("calls its hooks before it, with a record that has no number yet", async () => {
    const answer = await orders.changeTo("numbered");
    check(answer, { status: 200 });
    expect(answer.body.data.order_no).toMatch(/\/01$/);
    expect(heard().map(({ body }) => JSON.parse(body))).toEqual([{ number: null }]);
  });

  test("calls no hook when the record lacks what its number is made of", async () => {
    await orders.fixture.sql(`update orders set code = null where order_id = '${orders.id}'`);
    const errors = { code: ["is required for the number of the record"] };
    check(await orders.changeTo("numbered"), { status: 400, error: "Validation failed", errors });
    expect(heard()).toEqual([]);
    expect(await orders.status()).toBe("new");
  });
});

describe("hooks that succeed", () => {
  test("change-status names the hooks that were called and started, in order", async () => {
    const answer = await orders.changeTo("told");
    check(answer, { status: 200, data: { status: "told" } });
    expect(answer.body.workflow).toEqual({
      previousStatus: "new",
      newStatus: "told",
      hooksExecuted: [
        "onBefore:first",
        "onBefore:second",
        "onBefore:third",
        "onAfter:fourth",
        "onAfter:fifth",
      ],
    });
  });

  test("change-status calls all hooks in the order of the configuration", async () => {
    const requestId = (await orders.changeTo("told")).headers.get("X-Request-Id");
    const mine = () =>
      orders.server.heard.filter(({ headers }) => headers["x-request-id"] === requestId);
    await expect.poll(() => mine().length).toBe(5);
    const paths = mine().map(({ path }) => path.split(/[/?]/)[1]);
    expect(paths).toEqual(["first", "second", "third", "fourth", "fifth"]);
  });

  test("change-status fills the variables of a body, as JSON values where they stand alone", async () => {
    const extra = { deep: [1, '"}', "{{id}}"], big: 5 };
    const more = { remarks: 'say "{{id}}"', updated_by: "ann", extra };
    const { body } = await orders.changeTo("told", more);
    const heard = orders.server.heard.filter(({ path }) => path.startsWith(`/first/${orders.id}?`));
    const sent = JSON.parse(heard[0]?.body ?? "");
    expect(sent).toEqual({
      id: orders.id,
      from: "new",
      to: "told",
      note: 'say "{{id}}"',
      table: "orders",
      user: "ann",
      at: expect.stringMatching(instant),
      total: body.data.total,
      status: "new",
      sent: extra,
      missing: null,
      text: `order a/b&c (${body.data.total})`,
      list: [body.data.total, 1, true, null],
    });
  });

  test("change-status encodes the variables of a URL", async () => {
    await orders.changeTo("told");
    const path = `/first/${orders.id}?from=new&code=a%2Fb%26c`;
    expect(await orders.server.hears(path)).toHaveLength(1);
  });

  test("change-status shows onAfter hooks the record with its new status", async () => {
    await orders.changeTo("told");
    const [fifth] = (await orders.server.hears("/fifth")).slice(-1);
    expect(JSON.parse(fifth?.body ?? "")).toMatchObject({ from: "new", status: "told" });
  });

  test("change-status sends its own headers and the configured ones", async () => {
    const answer = await orders.changeTo("told");
    const mine = orders.server.heard.filter(
      ({ headers }) => headers["x-request-id"] === answer.headers.get("X-Request-Id"),
    );
    const first = mine.find(({ path }) => path.startsWith("/first"));
    expect(first?.headers).toMatchObject({
      "content-type": "application/json",
      "idempotency-key": expect.stringMatching(/^[\da-f-]{36}$/),
      "x-hook-depth": "1",
    });
    const third = mine.find(({ path }) => path === "/third");
    expect(third).toMatchObject({ method: "GET", body: "", headers: { "x-token": "t" } });
    const keys = mine.map(({ headers }) => headers["idempotency-key"]);
    expect(new Set(keys).size).toBe(keys.length);
  });
});

describe("columns that fieldName does not name", () => {
  const slim = () => orders.post("slim", "change-status", { id: orders.id, status: "slim" });

  test("change-status answers the status and the audit columns of them", async () => {
    const answer = await slim();
    check(answer, { status: 200, data: { order_id: orders.id, status: "slim" } });
    expect(Object.keys(answer.body.data).sort()).toEqual([
      "code",
      "order_id",
      "status",
      "updated_at",
      "updated_by",
    ]);
  });

  test("change-status gives hooks all but the hidden ones", async () => {
    await slim();
    const [before] = await orders.server.hears(`/slim-before/${orders.id}`);
    const { status, total } = JSON.parse(before!.body);
    expect([status, typeof total]).toEqual(["new", "number"]);
    const [after] = await orders.server.hears(`/slim-after/${orders.id}?total=${total}`);
    expect(JSON.parse(after!.body)).toEqual({ status: "slim", total });
  });
});

test.each([
  ["an empty object", "empty", { body: "{}", type: "application/json" }],
  ["no body", "none", { body: "", type: undefined }],
])("change-status sends %s as the file has it", async (_, path, sent) => {
  check(await orders.changeTo("no-body"), { status: 200 });
  const [{ body, headers } = { body: null, headers: {} }] = await orders.server.hears(
    `/${path}/${orders.id}`,
  );
  expect({ body, type: (headers as Record<string, string>)["content-type"] }).toEqual(sent);
});

describe("the depth that a request claims", () => {
  /** Of a hook that the request triggers. */
  async function headersAfter(headers: Record<string, string>) {
    await orders.fixture.sql(`update orders set status = 'new' where order_id = '${orders.id}'`);
    const { status, headers: answered } = await orders.fixture.post(
      "orders/change-status",
      { id: orders.id, status: "told" },
      headers,
    );
    expect(status).toBe(200);
    const requestId = answered.get("X-Request-Id");
    const heard = orders.server.heard.find((one) => one.headers["x-request-id"] === requestId);
    return heard?.headers ?? {};
  }
  const depthAfter = async (depth: string, signature: string): Promise<unknown> =>
    (await headersAfter({ "X-Hook-Depth": depth, "X-Hook-Signature": signature }))["x-hook-depth"];

  test.each(["9", "3", "1"])("is not believed without a signature: %s", async (depth) => {
    expect((await headersAfter({ "X-Hook-Depth": depth }))["x-hook-depth"]).toBe("1");
    expect(await depthAfter(depth, `${Math.floor(Date.now() / 1_000)}.${"0".repeat(64)}`)).toBe(
      "1",
    );
  });

  test("counts where the service itself signed this very depth, a short time ago", async () => {
    const { "x-hook-depth": depth, "x-hook-signature": signature } = await headersAfter({});
    expect([depth, await depthAfter("1", signature!)]).toEqual(["1", "2"]);
    expect(await depthAfter("3", signature!)).toBe("1");
    const [second = "", proof] = signature!.split(".");
    expect(await depthAfter("1", `${Number(second) + 1}.${proof}`)).toBe("1");
    vi.useFakeTimers({ now: Date.now() + 2 * 3_600_000, toFake: ["Date"] });
    try {
      expect(await depthAfter("1", signature!)).toBe("1");
    } finally {
      vi.useRealTimers();
    }
  });
});

describe("blocking hooks that fail", () => {
  const cases = peers.flatMap((peer) => [`before ${peer}`, `after ${peer}`]);
  test.each(cases)("change-status answers 502 in time and changes nothing: %s", async (status) => {
    const { result, tookMs } = await timed(() => orders.changeTo(status));
    check(result, failed);
    expect(tookMs).toBeLessThan(hookTimeoutMs + 1_000);
    expect(JSON.stringify(result.body)).not.toMatch(/localhost|127\.0|http:|timeout|abort/i);
    expect(await orders.status()).toBe("new");
    // The row is no longer locked.
    const next = await timed(() => orders.changeTo("free"));
    check(next.result, { status: 200 });
    expect(next.tookMs).toBeLessThan(1_000);
  });

  test.each(inner)(
    "change-status does not call %s, which allowedHosts does not name",
    async (url) => {
      const before = orders.server.heard.length;
      check(await orders.changeTo(url), failed);
      expect(orders.server.heard.length).toBe(before);
      expect(await orders.status()).toBe("new");
    },
  );

  test("change-status names the hook that failed", async () => {
    expect((await orders.changeTo("second-refused")).body.message).toBe(
      "The hook onBefore:call failed, so the status was not changed",
    );
  });

  test("change-status calls no hook after one that failed", async () => {
    check(await orders.changeTo("second-refused"), failed);
    expect(await orders.server.hears("/earlier")).not.toHaveLength(0);
    expect(orders.server.heard.filter(({ path }) => path === "/not-reached")).toEqual([]);
  });

  test("change-status calls no hook of a change that it refuses", async () => {
    const answer = await orders.changeTo("told", { updated_by: "x".repeat(41) });
    check(answer, { status: 400, error: "Validation failed", errors: ["updated_by"] });
    const paths = orders.server.heard.map(({ path }) => path);
    expect(paths.filter((path) => path.startsWith(`/first/${orders.id}?`))).toEqual([]);
  });

  test("change-status calls the non-blocking hooks before one that fails, and none after it", async () => {
    check(await orders.changeTo("told-and-refused"), failed);
    for (const place of ["before", "after"])
      expect(await orders.server.hears(`/begun/${place}/${orders.id}`)).toHaveLength(1);
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(orders.server.heard.filter(({ path }) => path === "/never")).toEqual([]);
  });

  test.each([".", ".."])("change-status refuses the value %s in a path", async (extra) => {
    check(await orders.changeTo("path", { extra }), failed);
  });

  test("change-status keeps a hostile value inside its segment of the path", async () => {
    check(await orders.changeTo("path", { extra: "../../x?y#z" }), { status: 200 });
    expect(await orders.server.hears("/a/..%2F..%2Fx%3Fy%23z/b")).toHaveLength(1);
  });
});

describe("hooks that nobody waits for", () => {
  test("change-status does not wait for them", async () => {
    const { result, tookMs } = await timed(() => orders.changeTo("slow-later"));
    check(result, { status: 200 });
    expect(tookMs).toBeLessThan(800);
    expect(result.body.workflow.hooksExecuted).toEqual(["onAfter:call"]);
  });

  test("change-status succeeds whatever becomes of them", async () => {
    const answer = await orders.changeTo("fails-later");
    check(answer, { status: 200, data: { status: "fails-later" } });
    expect(answer.body.workflow.hooksExecuted).toEqual(["onBefore:early", "onAfter:late"]);
  });
});

describe("hooks to this service", () => {
  test.each(["own", "own-query"])("change-status has another action answer: %s", async (status) => {
    check(await orders.changeTo(status, { extra: "zero&limit=0" }), { status: 200 });
  });

  test("change-status is undone when another action refuses", async () => {
    check(await orders.changeTo("own-refused"), failed);
    expect(await orders.status()).toBe("new");
  });

  test("change-status starts another action after the change", async () => {
    check(await orders.changeTo("own-later", { remarks: "later" }), { status: 200 });
    await expect
      .poll(async () => {
        const where = { key: "log_id", value: orders.id };
        return (await orders.post("logs", "first", { where })).body.data?.note;
      })
      .toBe("later");
  });

  test("change-status waits for an action that writes, where the database has more than one writer", async () => {
    const isSingle = orders.fixture.engine === "sqlite";
    check(await orders.changeTo("own-writes"), isSingle ? failed : { status: 200 });
    expect(await orders.status()).toBe(isSingle ? "new" : "own-writes");
  });

  async function chainOf(name: string): Promise<string[]> {
    const ids = ["a", "b", "c", "d", "e", "f"].map((letter) => `${name}-${letter}`);
    for (const [at, order_id] of ids.entries())
      await orders.post("orders", "create", { order_id, status: "new", next: ids[at + 1] ?? null });
    return ids;
  }

  test("change-status lets hooks lead to hooks three times and no further", async () => {
    const ids = await chainOf("chain");
    await orders.post("orders", "change-status", { id: ids[0], status: "chain" });
    await expect.poll(() => orders.status(ids[limits.hookDepthMax])).toBe("chain");
    await new Promise((resolve) => setTimeout(resolve, 200));
    const statuses = await Promise.all(ids.map((id) => orders.status(id)));
    expect(statuses).toEqual(["chain", "chain", "chain", "chain", "new", "new"]);
  });

  test("change-status answers 502 when blocking hooks lead too far, and undoes them all", async () => {
    const ids = await chainOf("waiting");
    const body = { id: ids[0], status: "chain-waiting" };
    check(await orders.post("orders", "change-status", body), failed);
    await expect
      .poll(async () => new Set(await Promise.all(ids.map((id) => orders.status(id)))), {
        timeout: 8_000,
      })
      .toEqual(new Set(["new"]));
  });
});

/** The transition is no longer there, or the record's lock was not free in time. */
const isRefused = ({ status }: { status: number }): boolean => status === 422 || status === 409;

describe("while a blocking hook runs", () => {
  /** Resolves when the hook is running; it takes a second. */
  async function holdRow() {
    const before = orders.server.heard.filter(({ path }) => path === "/slow").length;
    const answer = orders.changeTo("slow");
    await orders.server.hears("/slow", before + 1);
    return { answer };
  }

  test("other writes succeed; where there is one writer, they wait for it", async () => {
    const changing = await holdRow();
    const { result, tookMs } = await timed(() =>
      orders.post("logs", "update", { log_id: "l0", note: "meanwhile" }),
    );
    check(result, { status: 200, data: { note: "meanwhile" } });
    if (orders.fixture.engine === "sqlite") expect(tookMs).toBeGreaterThan(300);
    else expect(tookMs).toBeLessThan(700);
    check(await changing.answer, { status: 200, data: { status: "slow" } });
  });

  test("another change of the same record waits for a while, and is refused", async () => {
    const changing = await holdRow();
    const { result, tookMs } = await timed(() => orders.changeTo("free"));
    // Three tries, about 100 ms apart; the hook takes longer.
    check(result, { status: 409, error: "Lock conflict" });
    expect(tookMs).toBeGreaterThan(100);
    check(await changing.answer, { status: 200 });
    check(await orders.changeTo("free"), { status: 200 });
  });

  test("of fifty changes to two statuses one calls its hook, and the others are refused", async () => {
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, at) => {
        const body = { id: orders.id, status: at % 2 === 0 ? "left" : "right" };
        return orders.post("steps", "change-status", body);
      }),
    );
    const won = answers.filter(({ status }) => status === 200);
    expect(won).toHaveLength(1);
    expect(answers.filter((answer) => !isRefused(answer))).toEqual(won);
    expect(await orders.server.hears(`/step/${orders.id}`)).toHaveLength(1);
    expect(await orders.status()).toBe(won[0]?.body.workflow.newStatus);
  });

  test("a list that was read before shows the new status afterwards", async () => {
    const where = { conditions: [{ key: "order_id", operator: "=", value: orders.id }] };
    const statuses = async () =>
      (await orders.post("orders", "read", { where })).body.data.map(
        ({ status }: { status: string }) => status,
      );
    expect(await statuses()).toEqual(["new"]);
    await orders.changeTo("free");
    expect(await statuses()).toEqual(["free"]);
  });

  test("readers see the old status", async () => {
    const changing = await holdRow();
    expect(await orders.status()).toBe("new");
    await changing.answer;
    expect(await orders.status()).toBe("slow");
  });
});

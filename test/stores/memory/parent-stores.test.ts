/** What processes share through their parent, beside locks and versions of the cache, and the calls that carry it. */
import { describe, expect, test, vi } from "vitest";
import { AppError, unavailable } from "../../../core/values/errors.ts";
import { connected, underOneParent } from "../under-one-parent.ts";

describe("two processes under one parent", () => {
  test("count together", async () => {
    const [one, other] = underOneParent();
    await one.counters.count(["a"], 60_000);
    expect(await other.counters.count(["a", "b"], 60_000)).toMatchObject([
      { count: 2 },
      { count: 1 },
    ]);
    expect(await one.counters.read(["a", "b", "c"])).toEqual([2, 1, 0]);
  });

  test("see a version raised by the other, and keep the texts of the cache apart", async () => {
    const [one, other] = underOneParent();
    const before = await one.cache.stamp(["t"]);
    expect(await other.cache.stamp(["t"])).toBe(before);
    await other.cache.raise(["t"]);
    expect(await one.cache.stamp(["t"])).not.toBe(before);
    await one.cache.set("k", "text", 10);
    expect([await one.cache.get("k"), await other.cache.get("k")]).toEqual(["text", null]);
  });

  test("have one secret", async () => {
    const [one, other] = underOneParent();
    expect(await one.secret()).toBe(await other.secret());
  });

  test("hear what the other tells about the same, until they stop listening", async () => {
    const [one, other] = underOneParent();
    const heard: string[] = [];
    const listen = (about: string, name: string) =>
      one.nudge!(about).listen(() => void heard.push(name));
    const stop = listen("a", "a");
    listen("b", "b");
    one.nudge!("a").tell();
    other.nudge!("a").tell();
    await vi.waitFor(() => expect(heard).toEqual(["a"]));
    stop();
    other.nudge!("a").tell();
    other.nudge!("b").tell();
    await vi.waitFor(() => expect(heard).toContain("b"));
    expect(heard).toEqual(["a", "b"]);
  });

  test("count streams together, of a caller and in all, without those of a process that ended", async () => {
    const [one, other] = underOneParent();
    const limits = { ofCaller: 2, inAll: 3 };
    const take = (of: typeof one, share: string) => of.streams("shop").take(share, limits);
    expect([await take(one, "a"), await take(other, "a"), await take(one, "a")]).toEqual([
      true,
      true,
      false,
    ]);
    expect([await take(one, "b"), await take(other, "c")]).toEqual([true, false]);
    expect(await other.streams("north").take("a", limits)).toBe(true);
    one.streams("shop").release("b");
    expect(await take(other, "c")).toBe(true);
    one.end();
    expect([await take(other, "a"), await take(other, "a")]).toEqual([true, false]);
  });

  test("cannot release streams of each other", async () => {
    const [one, other] = underOneParent();
    const limits = { ofCaller: 1, inAll: 1 };
    await one.streams("shop").take("a", limits);
    other.streams("shop").release("a");
    expect(await other.streams("shop").take("a", limits)).toBe(false);
  });
});

describe("calls between processes", () => {
  test("give the result of the function, whatever can be cloned", async () => {
    const [one, other] = connected();
    other.offer({ a: { echo: (...args: unknown[]) => args } });
    const sent = [1n, new Map([["k", undefined]]), null, "text"];
    expect(await one.call("a", "echo", ...sent)).toEqual(sent);
  });

  test.each([
    ["an error for clients, with its cause", unavailable("away", new Error("why"))],
    ["another error", Object.assign(new Error("broken"), { code: "EIO" })],
  ])("reject as the function does: %s", async (_, error) => {
    const [one, other] = connected();
    other.offer({ a: { fail: () => Promise.reject(error) } });
    const found = await one.call("a", "fail").catch((caught: unknown) => caught);
    expect(found).toMatchObject({ message: error.message, name: error.name });
    if (error instanceof AppError) {
      expect(found).toMatchObject({ kind: error.kind, cause: { message: "why" } });
    }
  });

  test.each([
    ["b", "c"],
    ["a", "c"],
    ["a", "toString"],
  ])("reject where nothing is offered: %s.%s", async (object, name) => {
    const [one, other] = connected();
    other.offer({ a: { b: () => 1 } });
    await expect(one.call(object, name)).rejects.toThrow("offers no");
  });

  test("reject once the other process has ended, those that wait too", async () => {
    const [one, other] = connected();
    other.offer({ a: { never: () => new Promise(() => undefined) } });
    const waiting = one.call("a", "never");
    one.end();
    await expect(waiting).rejects.toThrow("has ended");
    await expect(one.call("a", "never")).rejects.toThrow("has ended");
  });
});

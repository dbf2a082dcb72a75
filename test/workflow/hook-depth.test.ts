/** The signature of a hook's depth, between instances that share a secret and between those that do not. */
import { hash } from "node:crypto";
import { expect, test } from "vitest";
import { createHookDepths, type HookDepths } from "../../core/workflow/hook-depth.ts";

const open = (secret: () => Promise<string>): HookDepths =>
  createHookDepths({ secret, digest: (text) => hash("sha256", text) });

/** The headers with which a call of this depth leaves the instance. */
async function sentBy(instance: HookDepths, url = "https://erp.example/hook"): Promise<Headers> {
  let sent = new Headers();
  const outbound = instance.signing({
    async send({ headers }) {
      sent = new Headers(headers);
      return { status: 200, text: "" };
    },
  });
  const request = { method: "POST", headers: { "X-Hook-Depth": "2" }, body: null, timeoutMs: 1 };
  await outbound.send({ ...request, url });
  return sent;
}

test("instances with one secret believe each other, and others do not", async () => {
  const [one, other, stranger] = ["a", "a", "b"].map((secret) => open(async () => secret));
  const headers = await sentBy(one!);
  expect(await other!.signedIn(headers)).toBe(2);
  expect(await stranger!.signedIn(headers)).toBe(0);
});

test("an instance that cannot ask for the secret goes on believing itself", async () => {
  const away = open(() => Promise.reject(new Error("away")));
  expect(await away.signedIn(await sentBy(away))).toBe(2);
  expect(await open(async () => "a").signedIn(await sentBy(away))).toBe(0);
});

test("a call to the service itself carries no signature", async () => {
  const headers = await sentBy(
    open(async () => "a"),
    "/api/shop/orders/read",
  );
  expect(headers.get("X-Hook-Signature")).toBeNull();
});

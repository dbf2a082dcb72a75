/** Hooks of change-status with `auth`: `{{user_id}}` is the authenticated user, whatever the body or a handler sets. */
import { createHash } from "node:crypto";
import { SignJWT } from "jose";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { HookHandler } from "../../core/plans/hook.ts";
import { type HookServer, startHookServer } from "../outbound/hook-server.ts";
import { type Fixture, openFixture } from "./harness.ts";

const secret = "a secret of at least thirty-two bytes";
const token = (claims: Record<string, unknown>): Promise<string> =>
  new SignJWT({ roles: ["clerk"], ...claims })
    .setProtectedHeader({ alg: "HS256" })
    .setExpirationTime("1h")
    .sign(new TextEncoder().encode(secret));

const callers: Readonly<Record<string, { headers: () => Promise<object>; user: string | null }>> = {
  "an API key": { headers: async () => ({ "x-api-key": "key of erp" }), user: "erp" },
  "a token": {
    headers: async () => ({ authorization: `Bearer ${await token({ sub: "anna/b" })}` }),
    user: "anna/b",
  },
  "nobody known": { headers: async () => ({}), user: null },
};

let server: HookServer;
let fixture: Fixture;
beforeAll(async () => {
  server = await startHookServer();
  const hook = (path: string, more: object) => ({
    url: `http://${server.host}/${path}/{{id}}?user={{user_id}}`,
    method: "POST",
    body: { user: "{{user_id}}", text: "by {{user_id}}", said: "{{requestData.updated_by}}" },
    ...more,
  });
  const claim: HookHandler = ({ data }) => ({ ...data, updated_by: "handler", user_id: "handler" });
  fixture = await openFixture({
    tables: [
      { name: "orders", columns: { order_id: "key", status: "text(20)", updated_by: "text(40)" } },
    ],
    endpoints: {
      orders: {
        tableName: "orders",
        action: { "change-status": true },
        access: { clerk: "*", guest: "*" },
        workflow: {
          hooks: {
            posted: {
              onBefore: [hook("before", { blocking: true })],
              onAfter: [hook("after", { blocking: true }), hook("later", { blocking: false })],
            },
          },
        },
        components: { onBeforeWorkflow: ["components/claims.ts#claim"] },
      },
    },
    components: { "components/claims.ts": { claim } },
    project: {
      hooks: { allowedHosts: [server.host] },
      auth: {
        apiKeys: [
          {
            id: "erp",
            sha256: createHash("sha256").update("key of erp").digest("hex"),
            roles: ["clerk"],
          },
        ],
        jwt: { secret },
        anonymous: { roles: ["guest"] },
      },
    },
  });
});
afterAll(async () => {
  await fixture?.close();
  await server?.close();
});

let rows = 0;
let id = "";
beforeEach(async () => {
  id = `o${++rows}`;
  await fixture.sql(`insert into orders (order_id, status) values ('${id}', 'draft')`);
});

describe.each(Object.keys(callers))("a change of the status by %s", (name) => {
  test("tells hooks the user of the credentials", async () => {
    const { headers, user } = callers[name]!;
    const forged = { updated_by: "mallory", user_id: "mallory", user: { id: "mallory" } };
    const { status, body } = await fixture.post(
      "orders/change-status",
      { id, status: "posted", ...forged },
      { ...(await headers()) },
    );
    expect([status, body.workflow?.hooksExecuted.length], JSON.stringify(body)).toEqual([200, 3]);
    const query = `user=${encodeURIComponent(user ?? "")}`;
    for (const path of ["before", "after", "later"]) {
      const [heard] = await server.hears(`/${path}/${id}?${query}`);
      expect(JSON.parse(heard!.body)).toEqual({ user, text: `by ${user ?? ""}`, said: "mallory" });
    }
  });
});

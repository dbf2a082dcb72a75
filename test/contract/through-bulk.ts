/**
 * Sends the creates, updates and deletes of other tests through the bulk actions, alone or among other records, and
 * turns the answers into those of the single actions. So all that holds for one record is tested for each of many.
 */
import type { Answer, FixtureOptions } from "./harness.ts";
import { shopOptions } from "./fixture.ts";
import type { Shop } from "./shop.ts";

type Body = Record<string, unknown>;

/** The limit by default. */
const bulkRecords = 1_000;

/** `others`: records of the same request before and after it. */
export function throughBulk(
  open: (options?: FixtureOptions) => Shop,
  others: number,
): (options?: FixtureOptions) => Shop {
  return (options = shopOptions) => {
    const shop = open(withBulk(options));
    let count = 0;
    const fillers: string[] = [];

    /** New records, of which only the test's own are left out of its answers. */
    async function addFillers(): Promise<string[]> {
      if (others === 0) return [];
      const data = Array.from({ length: others }, () => ({
        code: `other-${String(++count)}`,
        name: "filler",
      }));
      const { body } = await shop.post("items", "bulk-create", { data });
      return body.data.map(({ item_id }: { item_id: string }) => item_id);
    }

    /** The other records that the endpoint takes. */
    async function othersOf(endpoint: string, action: string): Promise<Body[]> {
      if (endpoint !== "items") return [];
      if (action === "create")
        return Array.from({ length: others }, () => ({
          code: `filler-${String(++count)}`,
          name: "filler",
        }));
      if (fillers.length === 0) fillers.push(...(await addFillers()));
      return fillers.map((item_id) => ({ item_id, qty: ++count }));
    }

    /** Null: bulk-delete takes no such request. */
    async function deleted(
      endpoint: string,
      body: unknown,
      headers: Record<string, string>,
    ): Promise<Answer | null> {
      const { data, options: given } = unwrapped(body);
      const where = data?.["where"];
      if (!Array.isArray(where) || where.length === 0 || !where.every(isEquality)) return null;
      const { "If-Match": version, ...rest } = headers;
      const more = ["items", "cascade"].includes(endpoint) ? await addFillers() : [];
      const answer = await deletedAmong(more, { endpoint, where, version, rest, given });
      // A request that was refused has kept them.
      const left = { conditions: [{ key: "item_id", operator: "IN", value: more }] };
      if (more.length > 0 && (answer === null || answer.status >= 400))
        await shop.post(endpoint, "bulk-delete", { where: left, expect: more.length });
      return answer;
    }

    async function deletedAmong(
      more: readonly string[],
      { endpoint, where, version, rest, given }: Deleting,
    ): Promise<Answer | null> {
      const [only] = where.length === 1 ? where : [];
      if (only?.key === "item_id" && typeof only.value === "string") {
        const at = Math.floor(more.length / 2);
        const keys: unknown[] = more.map((item_id) => ({ item_id }));
        keys.splice(at, 0, only.value);
        const etags = version && {
          etags: keys.map((one) => (one === only.value ? version : null)),
        };
        const asked = { keys, ...etags, options: given };
        return deletion(single(await shop.post(endpoint, "bulk-delete", asked, rest), at), more);
      }
      const conditions: unknown[] = where.map(({ key, value }) =>
        value === null ? { key, operator: "IS NULL" } : { key, operator: "=", value },
      );
      const own = { logic: "AND", conditions };
      const among = { key: "item_id", operator: "IN", value: more };
      const asked = {
        where: more.length === 0 ? own : { logic: "OR", conditions: [own, among] },
        options: given,
      };
      const counted = await shop.post(endpoint, "bulk-delete", { ...asked, expect: 0 });
      const { count: expect = 0 } = counted.body.data ?? {};
      // None is 404 there, and more are possible.
      if (counted.status === 409 && (expect === more.length || expect > bulkRecords)) return null;
      if (counted.status === 200) return null;
      return counted.status === 409
        ? deletion(await shop.post(endpoint, "bulk-delete", { ...asked, expect }, rest), more)
        : counted;
    }

    return {
      send: (path, init) => shop.send(path, init),
      get fixture() {
        return shop.fixture;
      },
      async post(endpoint, action, body, headers = {}) {
        if (action === "delete")
          return (
            (await deleted(endpoint, body, headers)) ?? shop.post(endpoint, action, body, headers)
          );
        const { data, options: given } = unwrapped(body);
        // A missing or invalid key is a fault of its record here, and of the whole request there.
        const key = data?.["item_id"];
        const hasFaultyKey =
          action === "update" && endpoint === "items" && (typeof key !== "string" || key === "");
        if (hasFaultyKey) return shop.post(endpoint, action, body, headers);
        if (
          !["create", "update"].includes(action) ||
          data === null ||
          Object.keys(data).length === 0
        )
          return shop.post(endpoint, action, body, headers);
        const more = await othersOf(endpoint, action);
        const at = Math.floor(more.length / 2);
        const whole = [...more.slice(0, at), data, ...more.slice(at)];
        const { "If-Match": version, ...rest } = headers;
        const etags =
          version === undefined
            ? {}
            : { etags: whole.map((one) => (one === data ? version : null)) };
        const asked = { data: whole, ...etags, options: given };
        return single(await shop.post(endpoint, `bulk-${action}`, asked, rest), at);
      },
    };
  };
}

function unwrapped(body: unknown): { data: Body | null; options?: unknown } {
  if (typeof body !== "object" || body === null || Array.isArray(body)) return { data: null };
  const { data, options, ...more } = body as Body;
  const isWrapped = [data, options].every(
    (one) => typeof one === "object" && one !== null && !Array.isArray(one),
  );
  return isWrapped && Object.keys(more).length === 0
    ? { data: data as Body, options }
    : { data: body as Body };
}

function withBulk(options: FixtureOptions): FixtureOptions {
  const endpoints = Object.entries(options.endpoints).map(([name, endpoint]) => {
    const { action = {} } = endpoint as { action?: Body };
    const bulk = {
      ...(action["create"] === true && { "bulk-create": true }),
      ...(action["update"] === true && { "bulk-update": true }),
      ...(action["delete"] === true && { "bulk-delete": true }),
    };
    return [name, { ...endpoint, action: { ...action, ...bulk } }];
  });
  return { ...options, endpoints: Object.fromEntries(endpoints) };
}

interface Deleting {
  readonly endpoint: string;
  /** As delete takes it. */
  readonly where: readonly { key: string; value: unknown }[];
  readonly version: string | undefined;
  readonly rest: Record<string, string>;
  readonly given: unknown;
}

const isEquality = (one: unknown): boolean =>
  typeof one === "object" && one !== null && Object.keys(one).toSorted().join() === "key,value";

/** The answer as delete would give it, without the others. */
function deletion({ status, headers, body }: Answer, others: readonly string[]): Answer {
  if (status >= 400) return { status, headers, body };
  const all = Array.isArray(body.data) ? body.data : [body.data];
  const deleted_items = all.filter(({ item_id }: Body) => !others.includes(String(item_id)));
  return {
    status,
    headers,
    body: { ...body, data: { deleted_count: deleted_items.length, deleted_items } },
  };
}

/** The answer as the single action would give it. */
function single({ status, headers, body }: Answer, at: number): Answer {
  if (status < 400) {
    const { data, etags, ...more } = body;
    const own = new Headers(headers);
    if (etags?.[at] !== undefined) own.set("ETag", etags[at]);
    return { status, headers: own, body: { ...more, data: data[at] } };
  }
  const place = `[${String(at)}]`;
  const errors = Object.entries(body.errors ?? {}).flatMap(([name, messages]) =>
    name === place ? [] : [[name.replace(`${place}.`, ""), messages]],
  );
  const { errors: _, ...more } = body;
  return {
    status,
    headers,
    body: {
      ...more,
      message: body.message.replace(`${place}: `, ""),
      ...(errors.length > 0 && { errors: Object.fromEntries(errors) }),
    },
  };
}

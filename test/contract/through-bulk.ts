/**
 * Sends the creates and updates of other tests through bulk-create and bulk-update, alone or among other records, and
 * turns the answers into those of the single actions. So all that holds for one record is tested for each of many.
 */
import type { Answer, FixtureOptions } from "./harness.ts";
import { shopOptions } from "./fixture.ts";
import type { Shop } from "./shop.ts";

type Body = Record<string, unknown>;

/** `others`: records of the same request before and after it. */
export function throughBulk(
  open: (options?: FixtureOptions) => Shop,
  others: number,
): (options?: FixtureOptions) => Shop {
  return (options = shopOptions) => {
    const shop = open(withBulk(options));
    let count = 0;
    const fillers: string[] = [];

    /** The other records that the endpoint takes. */
    async function othersOf(endpoint: string, action: string): Promise<Body[]> {
      if (endpoint !== "items") return [];
      if (action === "create")
        return Array.from({ length: others }, () => ({
          code: `filler-${String(++count)}`,
          name: "filler",
        }));
      if (fillers.length === 0 && others > 0) {
        const data = Array.from({ length: others }, () => ({
          code: `other-${String(++count)}`,
          name: "filler",
        }));
        const { body } = await shop.post("items", "bulk-create", { data });
        fillers.push(...body.data.map(({ item_id }: { item_id: string }) => item_id));
      }
      return fillers.map((item_id) => ({ item_id, qty: ++count }));
    }

    return {
      send: (path, init) => shop.send(path, init),
      get fixture() {
        return shop.fixture;
      },
      async post(endpoint, action, body, headers = {}) {
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
    };
    return [name, { ...endpoint, action: { ...action, ...bulk } }];
  });
  return { ...options, endpoints: Object.fromEntries(endpoints) };
}

/** The answer as the single action would give it. */
function single({ status, headers, body }: Answer, at: number): Answer {
  if (status < 400) {
    const { data, etags, ...more } = body;
    const own = new Headers(headers);
    if (etags[at] !== undefined) own.set("ETag", etags[at]);
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

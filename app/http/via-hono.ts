/** Handlers as Hono takes them. */
import type { Context } from "hono";
import { routePath } from "hono/route";

import type { AnswerRequest } from "./exchange.ts";
import { type ClientEnv, WebIncoming } from "./incoming.ts";
import { toResponse } from "./reply.ts";

export const viaHono =
  (answer: AnswerRequest) =>
  async (c: Context): Promise<Response> =>
    toResponse(await answer(new HonoIncoming(c)));

class HonoIncoming extends WebIncoming {
  private readonly c: Context;

  constructor(c: Context) {
    super(c.req.raw, c.req.path, (c.env as ClientEnv | undefined) ?? {});
    this.c = c;
  }

  override get route(): string | null {
    const route = routePath(this.c, -1);
    return route === "" || /^\/\*|^\/api\/|^\*/.test(route) ? null : route;
  }
}

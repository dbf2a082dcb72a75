/** The API's one route: find the action, read the body, run it, wrap the answer. */
import { zValidator } from "@hono/zod-validator";
import { Hono } from "hono";
import { z } from "zod";
import { findRoute, perform, type Projects } from "../core/dispatch.ts";
import { notFound } from "../core/errors.ts";
import type { Clock, NewId } from "../core/ports.ts";
import { readBody } from "./body.ts";
import { answer } from "./envelope.ts";
import type { Variables } from "./variables.ts";

export interface RouteDeps {
  readonly projects: Projects;
  readonly now: Clock;
  readonly newId: NewId;
  readonly bodyLimitBytes: number;
}

/** The names that files of a configuration can have; every other path has nothing behind it. */
const segment = z.string().regex(/^[\w-]{1,128}$/);
const path = z.object({ project: segment, endpoint: segment, action: segment });

export function apiRoutes({
  projects,
  now,
  newId,
  bodyLimitBytes,
}: RouteDeps): Hono<{ Variables: Variables }> {
  const api = new Hono<{ Variables: Variables }>();
  const knownPath = zValidator("param", path, (result) => {
    if (!result.success) throw notFound("There is nothing at this path");
  });
  api.all("/:project/:endpoint/:action", knownPath, async (c) => {
    const route = findRoute(projects, { ...c.req.valid("param"), method: c.req.method });
    const body = await readBody(c.req.raw, bodyLimitBytes);
    const ifMatch = c.req.header("If-Match") ?? null;
    const result = await perform(route, { body, ifMatch, log: c.get("log") }, { now, newId });
    return answer(c, result, now());
  });
  return api;
}

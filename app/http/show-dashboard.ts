/**
 * `/api/:project/dashboard.json`: the project's dashboard as the caller may see it. Its tiles are requests, which the
 * page sends with the caller's own credentials; here are no figures.
 */
import type { Dashboard } from "../../core/plans/dashboard.ts";
import type { Caller } from "../../core/plans/caller.ts";
import { batchName } from "../../core/batch/batch-action.ts";
import type { Routes } from "../../core/dispatch.ts";
import { dashboardIn, type ShownTile, tilesFor } from "../../core/tiles.ts";
import { messagesIn } from "../../core/calls/wording.ts";
import { languageFor } from "../../core/plans/messages.ts";
import { notFound, unavailable } from "../../core/values/errors.ts";
import { createAdmission } from "./admission.ts";
import { json } from "./envelope.ts";
import type { Handle } from "./exchange.ts";
import { type RouteDeps, unknownProject } from "./routes.ts";

export interface DashboardDeps extends RouteDeps {
  /** By project; those without a dashboard have no entry. */
  readonly dashboards: ReadonlyMap<string, Dashboard>;
}

export function showDashboard(deps: DashboardDeps): Handle {
  const { projects, dashboards, now } = deps;
  const admit = createAdmission(deps);
  return async (incoming, exchange) => {
    const name = incoming.path.split("/")[2] ?? "";
    const project = projects.get(name);
    if (!project) throw await unknownProject(deps, { incoming, exchange, name });
    const caller = await admit({ incoming, exchange, project, action: "dashboard.json" });
    const { routes } = project;
    if (routes === null)
      throw unavailable("The database of this project is not reachable yet; try again later");
    const messages = messagesIn(routes);
    const language = languageFor(incoming.headers.get("accept-language"), messages);
    const known = dashboards.get(name);
    const dashboard = known && dashboardIn(language, known, routes);
    const tiles = dashboard ? tilesFor(dashboard, routes, { caller, language }) : [];
    if (!dashboard || tiles.length === 0) throw notFound("There is no dashboard here for you");
    const batch = batchOf(routes, caller);
    const body = {
      success: true,
      title: dashboard.title,
      batch: batch && { max_steps: batch.stepsMax },
      tiles: tiles.map(shownTile),
      timestamp: now(),
    };
    return json(exchange, 200, body, {
      Vary: `X-Api-Key, Authorization${messages.size > 0 ? ", Accept-Language" : ""}`,
    });
  };
}

/** Null: the caller cannot send the requests as one. */
const batchOf = ({ batches, projectWide }: Routes, caller: Caller): Routes["batches"] =>
  projectWide.get(batchName)?.mayUse(caller) === true ? batches : null;

const shownTile = ({ tile, columns }: ShownTile): object => {
  const { title, endpoint, action, body, show, unit = null, wide } = tile;
  return { title, endpoint, action, body, show, unit, wide, columns };
};

/** Checks the tiles of dashboard.json against the endpoints of the project: the requests that they send, and what is drawn. */
import type { Routes } from "../../dispatch.ts";
import { judgeTile } from "../../tiles.ts";
import { faultAt } from "../reading/document.ts";
import type { Fault } from "../reading/faults.ts";
import type { ProjectConfig } from "../reading/read-config.ts";

export function dashboardFaults(
  { dashboard: config }: Pick<ProjectConfig, "dashboard">,
  routes: Routes,
): Fault[] {
  if (config === null) return [];
  const { dashboard, document } = config;
  return dashboard.tiles.flatMap((tile, at) => {
    const judged = judgeTile(tile, routes);
    if ("columns" in judged) return [];
    return judged.faults.map(({ path, near, ...about }) =>
      faultAt(document, ["tiles", at, ...path], {
        ...about,
        hint: near == null ? undefined : `did you mean ${JSON.stringify(near)}?`,
      }),
    );
  });
}

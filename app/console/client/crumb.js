/** The way back from a view of an endpoint: to its list, and first to where people came from. */
import { h, icon } from "./dom.js";
import { addressOf, cameFrom, currentRoute, goBack } from "./router.js";

/** @param {import("./types.d.ts").Entity} entity @param {URLSearchParams} [query] what the list shows */
export function crumb({ project, endpoint, title }, query) {
  const list = addressOf([project, endpoint], query);
  const origin = query ? null : cameFrom();
  if (!origin) return h("p.crumb", h("a", { href: list }, icon("back"), title));
  const { parts } = currentRoute(origin.address);
  const isList = parts[0] === project && parts[1] === endpoint && parts.length === 2;
  const back = { href: origin.address, onclick: goBack };
  return h(
    "p.crumb",
    h("a", back, icon("back"), isList ? title : origin.title),
    !isList && h("a", { href: list }, title),
  );
}

/** The way back from a view of an endpoint to its list. */
import { h, icon } from "./dom.js";
import { addressOf } from "./router.js";

/** @param {import("./types.d.ts").Entity} entity @param {URLSearchParams} [query] what the list shows */
export const crumb = ({ project, endpoint, title }, query) =>
  h("p.crumb", null, h("a", { href: addressOf([project, endpoint], query) }, icon("back"), title));

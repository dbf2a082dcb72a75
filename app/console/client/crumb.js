/** The way back from a view of an endpoint to its list. */
import { h, icon } from "./dom.js";
import { addressOf } from "./router.js";

/** @param {import("./types.d.ts").Entity} entity */
export const crumb = ({ project, endpoint, title }) =>
  h("p.crumb", null, h("a", { href: addressOf([project, endpoint]) }, icon("back"), title));

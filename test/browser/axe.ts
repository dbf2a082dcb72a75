/** axe-core in a page: what keeps people out who use the keyboard, a screen reader or strong contrasts. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { programs } from "./install.ts";
import type { Page } from "./playwright.ts";

/** Problems that axe calls serious or critical, with the elements that have them. */
export async function problems(page: Page): Promise<unknown> {
  const axe = readFileSync(join(programs, "node_modules/axe-core/axe.min.js"), "utf8");
  await page.evaluate(`${axe}; undefined`);
  return page.evaluate(
    `axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) => violations.filter(({ impact }) => impact === "serious" || impact === "critical").map(({ id, nodes }) => id + ": " + nodes.map(({ html }) => html).slice(0, 3).join(" ")))`,
  );
}

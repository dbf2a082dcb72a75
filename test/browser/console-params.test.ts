/** Parameters of an endpoint's own SQL in the console: asked for above the list, the chart and the export. */
import { expect, test } from "vitest";
import { openConsole } from "./console.ts";

const place = openConsole({
  changes: {
    "receipts-by-supplier.json": {
      params: {
        from: { type: "date", required: true },
        to: { type: "date", constraints: { after: "from" } },
      },
    },
  },
});

type Page = Awaited<ReturnType<typeof place.visit>>;
const button = (page: Page, text: string) => page.locator("button").filter({ hasText: text });
const list = "#/demo/receipts-by-supplier";
const info = (page: Page) => page.locator(".toolbar .info").innerText();
const faultOf = (page: Page, name: string) =>
  page.locator(`[data-field=${name}] .fault-text`).first().innerText();

/** The `params` of the requests that the page sends from now on. */
function paramsOf(page: Page, action: string): unknown[] {
  const found: unknown[] = [];
  page.on("request", (request) => {
    if (request.url().endsWith(`receipts-by-supplier/${action}`))
      found.push((JSON.parse(request.postData() ?? "{}") as { params?: unknown }).params);
  });
  return found;
}

test("a list waits for its required parameters, keeps them in the address and sends them", async () => {
  const page = await place.visit(list);
  await expect.poll(() => info(page)).toMatch(/Fill in the fields/);
  const sent = paramsOf(page, "read");
  expect(await page.locator("[name=from]").getAttribute("type")).toBe("date");
  expect(await page.locator("[name=from]").getAttribute("aria-required")).toBe("true");
  await button(page, "Show").click();
  await expect.poll(() => faultOf(page, "from")).toBe("This value is needed.");
  expect(sent).toEqual([]);
  await page.locator("[name=from]").fill("2026-01-01");
  await button(page, "Show").click();
  await expect.poll(() => info(page)).toMatch(/^\d+ records?$/);
  expect(sent).toEqual([{ from: "2026-01-01" }]);
  expect(page.url()).toContain("p.from=2026-01-01");
  await page.reload();
  await expect.poll(() => info(page)).toMatch(/^\d+ records?$/);
  expect(await page.locator("[name=from]").inputValue()).toBe("2026-01-01");
  expect(sent.at(-1)).toEqual({ from: "2026-01-01" });
});

test("what the service refuses stands at the input", async () => {
  const page = await place.visit(`${list}?p.from=2026-03-01`);
  await expect.poll(() => info(page)).toMatch(/record/);
  await page.locator("[name=to]").fill("2026-02-01");
  await button(page, "Show").click();
  await expect.poll(() => faultOf(page, "to")).toMatch(/after/i);
  expect(place.takeFaults()).toEqual([expect.stringContaining("400")]);
  expect(await page.locator(".notice").count()).toBe(0);
});

test("the chart and the export have the parameters of the list", async () => {
  const page = await place.visit(`${list}?p.from=2026-01-01`);
  await expect.poll(() => info(page)).toMatch(/record/);
  const exported = paramsOf(page, "export");
  await button(page, "Export").click();
  const dialog = page.locator(".dialog");
  expect(await dialog.locator("[name=from]").inputValue()).toBe("2026-01-01");
  await dialog.locator("[name=from]").fill("");
  await dialog.locator(".primary").click();
  await expect
    .poll(() => dialog.locator("[data-field=from] .fault-text").innerText())
    .toBe("This value is needed.");
  expect(exported).toEqual([]);
  await dialog.locator("[name=from]").fill("2026-02-01");
  await dialog.locator(".primary").click();
  await expect.poll(() => exported).toEqual([{ from: "2026-02-01" }]);

  const chart = await place.visit(`#/demo/receipts-by-supplier/chart?p.from=2026-01-01`);
  await chart.locator("svg.chart").waitFor();
  expect(await chart.locator("[name=from]").inputValue()).toBe("2026-01-01");
  const counted = paramsOf(chart, "aggregate");
  await chart.locator("[name=from]").fill("2026-05-01");
  await button(chart, "Show").click();
  await expect.poll(() => counted).toContainEqual({ from: "2026-05-01" });
});

test("an endpoint without parameters has no form for them", async () => {
  const page = await place.visit("#/demo/products");
  await expect.poll(() => info(page)).toMatch(/records/);
  expect(await page.locator(".params").count()).toBe(0);
});

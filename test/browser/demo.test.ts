/** Shows that a page which is not quiet is found out: the other tests of this folder rely on it. */
import { expect, test } from "vitest";
import { openDemo } from "./demo.ts";

const demo = openDemo();

test.each([
  ["a request to another address", 'fetch("http://localhost:1/").catch(() => {})', "request: "],
  ["an error on the console", 'console.error("broken")', "console: broken"],
  [
    "an error of a script",
    'void setTimeout(() => { throw new Error("broken"); })',
    "script: broken",
  ],
  ["an alert", 'void setTimeout(() => alert("broken"))', "alert: broken"],
])("%s is a fault of the page", async (_name, script, fault) => {
  const page = await demo.visit({ page: "tom-select.html" });
  await page.evaluate(script);
  await expect.poll(() => demo.takeFaults().join()).toContain(fault);
  // The failed request is also told on the console, in its own time.
  await page.evaluate("new Promise((done) => setTimeout(done, 100))");
  demo.takeFaults();
});

test("a page of another origin gets no answer where no project names it", async () => {
  const page = await demo.visit({ page: "tom-select.html" });
  const ask = `fetch("${demo.url}/health/live").then(() => "read", () => "refused")`;
  expect(await page.evaluate(ask)).toBe("refused");
  expect(demo.takeFaults().join()).toContain("CORS");
});

/** Files of records in the console: chosen and uploaded in a form, shown in lists, saved by their names, and removed. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { openConsole } from "./console.ts";
import type { Page } from "./playwright.ts";

const place = openConsole({
  prepare: `CREATE TABLE papers (id integer PRIMARY KEY, title text UNIQUE, scan json, photos text)`,
  changes: {
    "papers.json": {
      tableName: "papers",
      fieldLabels: { scan: "Scan", photos: "Photos" },
      action: {
        read: true,
        datatables: true,
        first: true,
        create: true,
        update: true,
        delete: true,
      },
      files: { scan: { types: ["application/pdf"] }, photos: { multiple: true } },
    },
  },
});

const field = (page: Page, name: string) => page.locator(`[data-field=${name}]`);
const choose = (page: Page, name: string, files: { name: string; text: string }[]) =>
  field(page, name)
    .locator("input[type=file]")
    .setInputFiles(
      files.map((one) => ({ name: one.name, mimeType: "", buffer: Buffer.from(one.text) })),
    );
const button = (page: Page, text: string) => page.locator("button").filter({ hasText: text });
const stored = async () => (await place.call("papers/read", { page: 1 })).data;

test("a form uploads what is chosen, shows it, and tells what the field does not take", async () => {
  const page = await place.visit("#/demo/papers/new");
  await page.locator("form [name=title]").fill("One");
  await choose(page, "scan", [{ name: "page.pdf", text: "<html>" }]);
  await expect
    .poll(() => field(page, "scan").locator(".fault-text").innerText())
    .toContain("text/html");
  place.takeFaults();
  await choose(page, "scan", [{ name: "größe.pdf", text: "%PDF-1.7 one" }]);
  await expect
    .poll(() => field(page, "scan").locator(".file").allTextContents())
    .toEqual(["größe.pdf 12 byte"]);
  await choose(page, "photos", [
    { name: "a.txt", text: "a" },
    { name: "b.txt", text: "bb" },
  ]);
  await expect.poll(() => field(page, "photos").locator(".file").count()).toBe(2);
  await place.picture(page, "files-new");
  await button(page, "Create").click();
  await expect.poll(async () => (await stored()).length).toBe(1);
  const [record] = await stored();
  expect(record).toMatchObject({
    scan: { name: "größe.pdf" },
    photos: [{ name: "a.txt" }, { name: "b.txt" }],
  });
});

test("a save waits for a file, and a refused one tells which file to choose again", async () => {
  const page = await place.visit("#/demo/papers/new");
  const isPressed = Promise.withResolvers<void>();
  await page.route("**/file-upload", async (route) => {
    await isPressed.promise;
    await route.continue();
  });
  await page.locator("form [name=title]").fill("One");
  await choose(page, "scan", [{ name: "late.pdf", text: "%PDF-1.7 late" }]);
  await expect.poll(() => field(page, "scan").innerText()).toContain("Uploading late.pdf");
  await button(page, "Create").click();
  isPressed.resolve();
  // Another record has this title.
  await expect
    .poll(() => field(page, "scan").locator(".fault-text").innerText())
    .toBe("Nothing was saved. Please choose again: late.pdf.");
  place.takeFaults();
  expect(await field(page, "scan").locator(".file").count()).toBe(0);
  await place.picture(page, "files-again");
  await choose(page, "scan", [{ name: "again.pdf", text: "%PDF-1.7 again" }]);
  await page.locator("form [name=title]").fill("Two");
  await button(page, "Create").click();
  await expect.poll(async () => (await stored()).length).toBe(2);
  const two = (await stored()).find(({ title }: { title: string }) => title === "Two");
  expect(two.scan).toMatchObject({ name: "again.pdf" });
  await place.call("papers/delete", { where: [{ key: "id", value: two.id }] });
});

test("the record saves files by their names, and gives them up", async () => {
  const [{ id }] = await stored();
  const page = await place.visit(`#/demo/papers/record/${id}`);
  const saved = page.waitForEvent("download");
  await field(page, "scan").locator(".file a").click();
  const download = await saved;
  expect(download.suggestedFilename()).toBe("größe.pdf");
  expect(readFileSync((await download.path())!, "utf8")).toBe("%PDF-1.7 one");
  await place.picture(page, "files-record");
  await field(page, "photos").locator("button").first().click();
  await button(page, "Save").click();
  await expect.poll(async () => (await stored())[0].photos).toMatchObject([{ name: "b.txt" }]);
  await field(page, "scan").locator("button").click();
  await button(page, "Save").click();
  await expect.poll(async () => (await stored())[0].scan).toBeNull();
});

test("the list names files as links", async () => {
  const page = await place.visit("#/demo/papers?cols=title,photos");
  await expect.poll(() => page.locator("table .file").allTextContents()).toEqual(["b.txt 2 byte"]);
  await place.picture(page, "files-list");
  const saved = page.waitForEvent("download");
  await page.locator("table .file a").click();
  expect((await saved).suggestedFilename()).toBe("b.txt");
});

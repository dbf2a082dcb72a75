/** Documents in the console while they are typed: the totals that the service will store, and others' changes. */
import { expect, test } from "vitest";
import { openConsole } from "./console.ts";
import type { Page } from "./playwright.ts";

const number = (name: string) => ({ name, type: "decimal" });
const place = openConsole({
  prepare: `create table bills (bill_id integer primary key, note text, lines integer, net decimal(12,2),
      vat decimal(12,2), dearest decimal(12,3), average decimal(14,6), ratio decimal(14,4), weight decimal(30,0));
    create table bill_lines (line_id integer primary key, bill_id integer not null references bills(bill_id),
      qty decimal(12,3), price decimal(14,4), rebate decimal(5,2) default 10, amount decimal(12,2),
      tax decimal(12,2), weight decimal(30,0));
    insert into bills values (1, 'kept', 2, 3.36, 0.64, 2.345, 0.558333, 1.4215, 9),
      (2, 'with lines that are not shown', 3, 99, 9, 9, 9, 9, 9);
    insert into bill_lines values (1, 1, 1, 1.005, 0, 1.01, 0.19, 4), (2, 1, 1.000, 2.345, 0, 2.35, 0.45, 5),
      (3, 2, 1, 1, 0, 1, 0.19, 1);
    insert into bills values (4, 'of two people', 2, 7, 1.33, 3, 1.166667, 1.6667, 0);
    insert into bill_lines values (10, 4, 1, 1, 0, 1, 0.19, null), (11, 4, 2, 3, 0, 6, 1.14, null);
    alter table bills add column status text default 'open';
    insert into bills (bill_id, note) values (5, 'to be sent')`,
  changes: {
    "bills.json": {
      tableName: "bills",
      live: true,
      action: {
        create: true,
        read: true,
        first: true,
        update: true,
        datatables: true,
        "create-composite": true,
        "read-composite": true,
        "update-composite": true,
        "change-status": true,
      },
      workflow: { transitions: { open: ["sent"], sent: ["open"] }, closed: ["sent"] },
      masterDetail: {
        detailTable: "bill_lines",
        foreignKey: "bill_id",
        detailConfig: {
          fieldName: ["qty", "price", "rebate", "amount", "tax", "weight"],
          fieldValidation: ["qty", "price", "rebate", "weight"].map(number),
        },
      },
      calculation: {
        detail: { tax: "amount * 0.19", amount: "qty * price * (100 - rebate) / 100" },
        header: {
          lines: "COUNT(*)",
          net: "SUM(amount)",
          vat: "SUM(tax)",
          dearest: "MAX(price)",
          average: "AVG(qty * price / 3)",
          ratio: "SUM(qty / price)",
          weight: "SUM(weight)",
        },
      },
    },
  },
});

const lines = (page: Page) => page.locator(".lines tbody tr");
const button = (page: Page, text: string) => page.locator("button").filter({ hasText: text });
const totals = async (page: Page) =>
  Object.fromEntries(
    await page
      .locator(".totals dd")
      .evaluateAll((all) => all.map((one) => [one.dataset.total, one.textContent])),
  );
const amounts = (page: Page) =>
  page.locator(".lines tbody tr td:not(:has(input)):not(:has(button))").allTextContents();

/** Values of a line that is typed, by field. */
type Typed = Readonly<Record<string, string>>;

const cases: readonly [what: string, typed: readonly Typed[]][] = [
  ["halves are rounded away from zero", [{ qty: "1", price: "0.0050", rebate: "0" }]],
  ["negative halves too", [{ qty: "-1", price: "0.0050", rebate: "0" }]],
  [
    "fractions of cents add up after they were rounded",
    [
      { qty: "0.333", price: "0.01", rebate: "0" },
      { qty: "3", price: "0.3333", rebate: "12.5" },
      { qty: "7", price: "19.9999", rebate: "33.33" },
    ],
  ],
  [
    "what is not entered is left out",
    [
      { qty: "2", rebate: "0" },
      { price: "3", rebate: "5", weight: "1" },
      { qty: "0", price: "3", rebate: "5" },
    ],
  ],
  ["numbers of many digits keep them", [{ weight: "123456789012345" }, { weight: "1" }]],
];

test.each(cases)("totals are shown as they will be stored: %s", async (_, typed) => {
  const page = await place.visit("#/demo/bills/new");
  for (const [at, line] of typed.entries()) {
    if (at > 0) await button(page, "Add a line").click();
    for (const [name, text] of Object.entries({ rebate: "0", ...line }))
      await lines(page).nth(at).locator(`[name=${name}]`).fill(text);
  }
  const preview = { totals: await totals(page), amounts: await amounts(page) };
  expect(await page.locator(".totals-note").innerText()).toMatch(/^Preview/);
  if (typed.length === 3) await place.picture(page, `totals-new-${typed[0]!["qty"]}`);
  await button(page, "Create").click();
  await page.waitForURL(/#\/demo\/bills\/record\//);
  await page.locator(".totals:not(.preview)").waitFor();
  expect({ totals: await totals(page), amounts: await amounts(page) }).toEqual(preview);
});

test("totals follow what is changed, added and removed in a stored document, and return with it", async () => {
  const page = await place.visit("#/demo/bills/record/1");
  await lines(page).first().waitFor();
  const before = { totals: await totals(page), amounts: await amounts(page) };
  const price = lines(page).first().locator("[name=price]");
  await price.fill("1.0149");
  expect(await totals(page)).toMatchObject({ net: "3.36", dearest: "2.345", average: "0.559983" });
  await price.fill("no number");
  expect(await totals(page)).toMatchObject({ lines: "2", net: "…", dearest: "…", weight: "9" });
  await price.fill("1.0050");
  expect({ totals: await totals(page), amounts: await amounts(page) }).toEqual(before);
  expect(await page.locator(".preview").count()).toBe(0);

  await lines(page).nth(1).locator("button").click();
  await button(page, "Add a line").click();
  const added = lines(page).nth(2);
  await added.locator("[name=qty]").fill("2");
  await added.locator("[name=price]").fill("0.125");
  // Without an entry, the database fills it in.
  expect(await totals(page)).toMatchObject({ lines: "2", net: "…", vat: "…", dearest: "1.005" });
  await place.picture(page, "totals-changed");
  await added.locator("[name=rebate]").fill("50");
  const preview = { totals: await totals(page), amounts: (await amounts(page)).toSpliced(2, 2) };
  expect(preview.totals).toMatchObject({ net: "1.14", vat: "0.21" });
  await button(page, "Save").click();
  await page.locator(".totals:not(.preview)").waitFor();
  expect({ totals: await totals(page), amounts: await amounts(page) }).toEqual(preview);
});

test("no totals are shown for a document whose stored ones are of more than its lines here", async () => {
  const page = await place.visit("#/demo/bills/record/2");
  await lines(page).first().locator("[name=qty]").fill("5");
  await page.locator(".totals.stale").waitFor();
  expect(await totals(page)).toMatchObject({ lines: "3", net: "99.00" });
  expect(await page.locator(".preview").count()).toBe(0);
});

test("two people write one document: each sees what the other saves, and only what both typed is asked", async () => {
  const mine = await place.visit("#/demo/bills/record/4");
  const cell = (page: Page, at: number, name: string) =>
    lines(page).nth(at).locator(`[name=${name}]`);
  await cell(mine, 0, "price").fill("2");
  await cell(mine, 1, "price").fill("4");
  expect(await totals(mine)).toMatchObject({ net: "10.00" });
  const theirs = await place.other("#/demo/bills/record/4");
  await cell(theirs, 1, "qty").fill("5");
  await theirs.locator("[name=note]").fill("of both");
  await button(theirs, "Save").click();
  await expect.poll(() => cell(mine, 1, "qty").inputValue()).toBe("5.000");
  expect(await mine.locator("h1").innerText()).toBe("of both");
  expect(await mine.locator("[name=note]").inputValue()).toBe("of both");
  expect(await totals(mine)).toMatchObject({ net: "22.00", dearest: "4.000" });
  expect(await mine.locator(".view-notice span").first().innerText()).toMatch(
    /^Changed by somebody else at .*: Note, Bill lines$/,
  );
  expect(await mine.locator(".both-changed").count()).toBe(0);

  await theirs.locator(".totals:not(.preview)").waitFor();
  await cell(theirs, 1, "price").fill("3.5");
  await button(theirs, "Save").click();
  const question = mine.locator(".both-changed");
  await question.waitFor();
  expect(await question.locator("p").innerText()).toMatch(
    /^Changed by somebody else at .*: 3.5000$/,
  );
  expect(await cell(mine, 1, "price").inputValue()).toBe("4");
  await place.picture(mine, "two-people");
  await question.locator("button").filter({ hasText: "Take theirs" }).click();
  expect(await cell(mine, 1, "price").inputValue()).toBe("3.5000");
  expect(await totals(mine)).toMatchObject({ net: "19.50" });
  await theirs.locator(".totals:not(.preview)").waitFor();
  await button(mine, "Save").click();
  await expect.poll(() => cell(theirs, 0, "price").inputValue()).toBe("2.0000");
  expect(await totals(theirs)).toMatchObject({ net: "19.50" });
  expect(await totals(mine)).toEqual(await totals(theirs));
});

test("a document that somebody else closes keeps what is typed, and says why it is not saved", async () => {
  const mine = await place.visit("#/demo/bills/record/5");
  const theirs = await place.other("#/demo/bills/record/5");
  const status = (page: Page) => page.locator(".head .status").innerText();
  const note = (page: Page) => page.locator("[name=note]");
  await note(mine).fill("typed here");
  await theirs.locator(".status-step").click();
  await theirs.locator(".dialog .danger").click();
  await expect.poll(() => status(mine)).toBe("Sent");
  expect(await mine.locator(".banner.closed").innerText()).toMatch(/^This record is closed/);
  expect(await note(mine).inputValue()).toBe("typed here");
  await button(mine, "Save").click();
  await expect.poll(() => mine.locator(".banner.fault").innerText()).toMatch(/closed/);
  expect(place.takeFaults()).toEqual([expect.stringContaining("409")]);
  expect(await note(mine).inputValue()).toBe("typed here");
  await place.picture(mine, "closed-while-typed");

  // What nobody types in becomes a form again by itself.
  expect(await note(theirs).count()).toBe(0);
  await place.call("bills/change-status", { bill_id: 5, status: "open" });
  await expect.poll(() => note(theirs).inputValue()).toBe("to be sent");
  await expect.poll(() => mine.locator(".banner.closed").count()).toBe(0);
  await button(mine, "Save").click();
  await expect.poll(() => note(theirs).inputValue()).toBe("typed here");
});

/**
 * Makes about 20,000 demo rows from the lists in this folder, the same on every run. All dates lie in the two years
 * before a fixed day, so the data does not change with the calendar.
 */
import { type CategorySeed, categorySeeds } from "./catalogue.ts";
import { clerks, countries, receiptRemarks, warehouseSites } from "./partners.ts";
import { type Random, randomFrom } from "./random.ts";

export type Value = string | number | null;

export interface TableRows {
  readonly table: string;
  /** Each row holds the same columns in the same order. Booleans are 0 and 1, as SQLite stores them. */
  readonly rows: readonly Readonly<Record<string, Value>>[];
}

const lastDay = Date.UTC(2026, 9, 31);
const spanDays = 730;
const dayMs = 86_400_000;
const receiptCount = 4_700;
const makersPerArticle = 3;

/** All tables in an order in which every foreign key finds its row. */
export function demoRows(): TableRows[] {
  const categories = makeCategories();
  const suppliers = makeSuppliers();
  const warehouses = makeWarehouses();
  const products = makeProducts(categories, suppliers);
  const receipts = makeReceipts(suppliers, warehouses, products);
  return [
    { table: "categories", rows: categories },
    { table: "suppliers", rows: suppliers },
    { table: "warehouses", rows: warehouses },
    { table: "products", rows: products },
    { table: "stock_receipts", rows: receipts.headers },
    { table: "stock_receipt_lines", rows: receipts.lines },
  ];
}

function makeCategories() {
  const random = randomFrom("categories");
  return categorySeeds.map(({ code, name, description }) => ({
    category_id: random.uuid(),
    code,
    name,
    description,
    ...auditFrom(random, spanDays),
  }));
}

function makeSuppliers() {
  const random = randomFrom("suppliers");
  return countries.flatMap((country) =>
    country.firms.map((firm, index) => ({
      supplier_id: random.uuid(),
      code: `${country.code}-${String(index + 1).padStart(3, "0")}`,
      name: `${firm} ${country.legalForm}`,
      contact_name: random.pick(country.contacts),
      email: `orders@${domainOf(firm)}.example`,
      phone: `${country.dialCode} 555 ${random.int(100, 999)} ${random.int(100, 999)}`,
      city: random.pick(country.cities),
      country: country.name,
      payment_days: random.pick([14, 30, 30, 30, 45, 60]),
      rating: random.int(25, 50) / 10,
      is_active: random.chance(92) ? 1 : 0,
      ...auditFrom(random, spanDays),
    })),
  );
}

function makeWarehouses() {
  const random = randomFrom("warehouses");
  return warehouseSites.map((site) => ({
    warehouse_id: random.uuid(),
    code: site.code,
    name: site.name,
    city: site.city,
    capacity_m3: site.capacityM3,
    opened_on: site.openedOn,
    gate_opens: site.gateOpens,
    is_active: 1,
    ...auditFrom(random, spanDays),
  }));
}

/** Every offer of every category, numbered within it. */
function makeProducts(
  categories: readonly { category_id: string }[],
  suppliers: readonly Supplier[],
) {
  const random = randomFrom("products");
  return categorySeeds.flatMap((category, categoryIndex) => {
    const makers = suppliers.filter((_, index) => dealsIn(index, categoryIndex));
    return offersOf(category, makers).map(({ article, size, sizeIndex, maker }, index) => {
      const factor = (3 + sizeIndex) * random.int(85, 115);
      const priceCents = retailCents((article.priceCents * factor) / 300);
      const launchedDay = random.int(0, spanDays);
      return {
        product_id: random.uuid(),
        sku: `${category.code}-${String(index + 1).padStart(4, "0")}`,
        name: `${brandOf(maker.name)} ${article.name} ${size}`,
        category_id: categories[categoryIndex]!.category_id,
        supplier_id: maker.supplier_id,
        unit: article.unit,
        price: priceCents / 100,
        cost: Math.round((priceCents * random.int(52, 70)) / 100) / 100,
        stock: random.chance(4) ? 0 : random.int(3, 480),
        reorder_level: random.pick([5, 10, 20, 25, 50]),
        launched_on: dateOf(launchedDay),
        is_active: random.chance(95) ? 1 : 0,
        ...auditFrom(random, launchedDay),
      };
    });
  });
}

/** Each size of each article, from three of the makers: the same ones for all of its sizes. */
function offersOf(category: CategorySeed, makers: readonly Supplier[]) {
  return category.articles.flatMap((article, articleIndex) =>
    article.sizes.flatMap((size, sizeIndex) =>
      Array.from({ length: makersPerArticle }, (_, offer) => ({
        article,
        size,
        sizeIndex,
        maker: makers[(articleIndex + offer * 4) % makers.length]!,
      })),
    ),
  );
}

/** Receipts in the order of their dates; what came in are products of the receipt's own supplier. */
function makeReceipts(
  suppliers: readonly Supplier[],
  warehouses: readonly { warehouse_id: string }[],
  products: readonly Product[],
) {
  const random = randomFrom("stock_receipts");
  const range = Map.groupBy(products, (product) => product.supplier_id);
  const headers: Record<string, Value>[] = [];
  const lines: Record<string, Value>[] = [];
  const posted = new Map<string, number>();
  /** As the service numbers them: when they are posted, from 1 in each year. */
  const nextNumber = (year: string): string => {
    const number = (posted.get(year) ?? 0) + 1;
    posted.set(year, number);
    return `GR-${year}-${String(number).padStart(5, "0")}`;
  };
  for (let index = 0; index < receiptCount; index++) {
    const daysAgo = Math.floor(((receiptCount - 1 - index) * spanDays) / receiptCount);
    const supplier = random.pick(suppliers);
    const receiptId = random.uuid();
    const audit = auditFrom(random, daysAgo);
    const received = pickSome(random, range.get(supplier.supplier_id)!, random.int(1, 5)).map(
      (product, position) => {
        const quantity = random.int(1, 24) * 5;
        // Bought a little above or below the current cost.
        const priceCents = Math.round(product.cost * random.int(95, 105));
        return {
          line_id: random.uuid(),
          receipt_id: receiptId,
          line_number: position + 1,
          product_id: product.product_id,
          qty_received: quantity,
          unit_price: priceCents / 100,
          amount: (priceCents * quantity) / 100,
          ...audit,
        };
      },
    );
    const warehouseId = random.pick(warehouses).warehouse_id;
    const date = dateOf(daysAgo);
    const status = statusAfter(random, daysAgo);
    headers.push({
      receipt_id: receiptId,
      receipt_number: status === "posted" ? nextNumber(date.slice(0, 4)) : null,
      supplier_id: supplier.supplier_id,
      warehouse_id: warehouseId,
      receipt_date: date,
      status,
      remarks: random.chance(15) ? random.pick(receiptRemarks) : null,
      total_items: received.length,
      total_qty: received.reduce((sum, line) => sum + line.qty_received, 0),
      total_amount:
        received.reduce((cents, line) => cents + Math.round(line.amount * 100), 0) / 100,
      ...audit,
    });
    lines.push(...received);
  }
  return { headers, lines };
}

type Supplier = ReturnType<typeof makeSuppliers>[number];
type Product = ReturnType<typeof makeProducts>[number];

/** A supplier deals in two categories; every category has twelve suppliers. */
function dealsIn(supplierIndex: number, categoryIndex: number): boolean {
  const main = supplierIndex % categorySeeds.length;
  return categoryIndex === main || categoryIndex === (main + 7) % categorySeeds.length;
}

function statusAfter(random: Random, days: number): string {
  if (random.chance(3)) return "cancelled";
  if (days > 14) return "posted";
  return days > 4 ? random.pick(["received", "posted"]) : random.pick(["draft", "received"]);
}

/** The audit columns of a row that was entered that many days before the last one; a third was changed since. */
function auditFrom(random: Random, daysAgo: number) {
  const isChanged = random.chance(33);
  const created = instantOf(random, daysAgo);
  const changed = instantOf(random, random.int(0, Math.max(daysAgo - 1, 0)));
  return {
    created_at: created,
    created_by: random.pick(clerks),
    updated_at: isChanged && changed > created ? changed : null,
    updated_by: isChanged && changed > created ? random.pick(clerks) : null,
  };
}

const dateOf = (daysAgo: number): string =>
  new Date(lastDay - daysAgo * dayMs).toISOString().slice(0, 10);

/** Some time in the working hours of that day. */
const instantOf = (random: Random, daysAgo: number): string =>
  new Date(lastDay - daysAgo * dayMs + random.int(6 * 3_600_000, 18 * 3_600_000)).toISOString();

/** Up to `count` different items, in their order. */
function pickSome<T>(random: Random, items: readonly T[], count: number): T[] {
  const chosen = new Set(Array.from({ length: count }, () => random.int(0, items.length - 1)));
  return items.filter((_, index) => chosen.has(index));
}

/** A price as shops write it: it ends in 9 below ten euros, in 90 above. */
const retailCents = (cents: number): number =>
  cents < 1000 ? Math.max(Math.round(cents / 10) * 10 - 1, 9) : Math.round(cents / 100) * 100 - 10;

/** The firm's name without its legal form. */
const brandOf = (supplierName: string): string =>
  countries
    .flatMap((country) => country.firms)
    .find((firm) => supplierName.startsWith(`${firm} `)) ?? supplierName;

/** `Gruber & Sohn` -> `gruber-sohn`, `Łagowski` -> `lagowski`. */
function domainOf(firm: string): string {
  const spelled = firm
    .toLowerCase()
    .replaceAll("ß", "ss")
    .replaceAll("ł", "l")
    .replaceAll("ø", "o");
  const ascii = spelled.normalize("NFD").replace(/\p{Mark}/gu, "");
  return ascii.replace(/[^a-z0-9]+/g, "-");
}

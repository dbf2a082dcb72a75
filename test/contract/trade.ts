/**
 * Orders with customers, lines, products and tags, related in every way. Callers have the role of the header `x-role`:
 * `north` sees customers of one region, `blind` no e-mail addresses, `outsider` no customers at all, `untagged` not
 * which product has which tag.
 */
import { inject } from "vitest";
import type { Caller } from "../../core/plans/caller.ts";
import type { Callers } from "../../core/callers/callers.ts";
import { type Fixture, openFixture } from "./harness.ts";

const callers: Callers = {
  authenticate(headers): Caller {
    const role = headers.get("x-role") ?? "operator";
    return { kind: "key", id: role, roles: [role], claims: { region: "north" } };
  },
};

const reading = { read: true, first: true, lookup: true, datatables: true, aggregate: true };
const writing = { create: true, update: true, delete: true };

const roles = ["operator", "north", "blind", "outsider", "manager", "untagged"] as const;

/** Every role may do everything, but for those in `without`. */
const access = (without: readonly string[] = []) => ({
  access: Object.fromEntries(
    roles
      .filter((role) => !without.includes(role))
      .map((role) => [
        role,
        role === "operator"
          ? "*"
          : [...Object.keys({ ...reading, ...writing }), "export", "read-composite"],
      ]),
  ),
});

const key = (table: string) => ({ type: "text(36)", references: table }) as const;

export const openTrade = (project: object = {}): Promise<Fixture> =>
  openFixture({
    callers,
    tables: [
      { name: "cities", columns: { id: "key", name: "text(40)", country: "text(40)" } },
      {
        name: "customers",
        columns: {
          id: "key",
          name: "text(40)",
          email: { type: "text(60)", unique: true },
          region: "text(20)",
          credit: "decimal(10,2)",
          city_id: key("cities"),
          boss_id: key("customers"),
          is_deleted: "boolean",
        },
      },
      { name: "products", columns: { id: "key", name: "text(40)", price: "decimal(10,2)" } },
      { name: "tags", columns: { id: "key", name: "text(40)" } },
      {
        name: "product_tags",
        columns: { product_id: key("products"), tag_id: key("tags") },
        primaryKey: ["product_id", "tag_id"],
      },
      {
        name: "orders",
        columns: {
          id: "key",
          order_no: "text(20)",
          placed_on: "date",
          amount: "decimal(10,2)",
          customer_id: key("customers"),
          customer_email: "text(60)",
        },
      },
      {
        name: "order_lines",
        columns: {
          id: "key",
          order_id: key("orders"),
          product_id: key("products"),
          qty: "integer",
          note: "text(40)",
        },
      },
    ],
    setUp: (engine) => {
      const no = engine === "sqlite" ? "0" : "false";
      const yes = engine === "sqlite" ? "1" : "true";
      return [
        "INSERT INTO cities VALUES ('c1', 'Oslo', 'Norway'), ('c2', 'Wien', 'Austria')",
        `INSERT INTO customers VALUES ('a', 'Ada', 'ada@a.no', 'north', 100.5, 'c1', null, ${no}), ('b', 'Bob', 'bob@b.at', 'south', 20, 'c2', 'a', ${no}), ('d', 'Dan', 'dan@d.no', 'north', 7, null, 'b', ${yes}), ('e', 'Eve', 'eve@e.no', 'north', null, 'c1', 'b', ${no})`,
        "INSERT INTO products VALUES ('p1', 'Pen', 1.5), ('p2', 'Ink', 4), ('p3', 'Pad', null)",
        "INSERT INTO tags VALUES ('t1', 'red'), ('t2', 'new')",
        "INSERT INTO product_tags VALUES ('p1', 't1'), ('p1', 't2'), ('p2', 't2')",
        "INSERT INTO orders VALUES ('o1', 'A1', '2026-01-05', 10.5, 'a', 'ada@a.no'), ('o2', 'A2', '2026-02-01', 20, 'b', null), ('o3', 'A3', null, 5, null, 'bob@b.at'), ('o4', 'A4', '2026-02-03', 7, 'd', null), ('o5', 'A5', '2026-03-09', 30, 'a', null)",
        "INSERT INTO order_lines VALUES ('l1', 'o1', 'p1', 2, 'first'), ('l2', 'o1', 'p2', 1, null), ('l3', 'o2', 'p1', null, null), ('l4', 'o5', 'p2', 5, 'last')",
      ];
    },
    endpoints: {
      cities: {
        tableName: "cities",
        action: reading,
        relations: {
          patrons: { endpoint: "patrons", foreignColumn: "city_id" },
          residents: { endpoint: "residents", foreignColumn: "city_id" },
        },
        ...access(),
      },
      // Customers again: by a query, and every one of a table.
      patrons: {
        viewQuery: "select id, name, region, city_id from customers",
        primaryKey: "id",
        action: { read: true },
        rowScope: { north: { region: "{{claims.region}}" } },
        ...access(),
      },
      residents: {
        tableName: "customers",
        action: { first: true },
        rowScope: { north: { name: "Eve" } },
        softDelete: { visibility: "include_deleted" },
        ...access(),
      },
      customers: {
        tableName: "customers",
        action: { ...reading, ...writing },
        softDelete: true,
        hiddenFields: { blind: ["email"] },
        rowScope: { north: { region: "{{claims.region}}" } },
        relations: {
          city: { endpoint: "cities", column: "city_id" },
          boss: { endpoint: "customers", column: "boss_id" },
          staff: { endpoint: "customers", foreignColumn: "boss_id" },
          orders: { endpoint: "orders", foreignColumn: "customer_id" },
          self: { endpoint: "patrons", foreignColumn: "id" },
        },
        ...access(["outsider"]),
      },
      products: {
        tableName: "products",
        action: reading,
        relations: {
          tags: {
            endpoint: "tags",
            through: { endpoint: "product-tags", column: "product_id", foreignColumn: "tag_id" },
          },
        },
        ...access(),
      },
      tags: {
        tableName: "tags",
        action: reading,
        rowScope: { north: { name: "new" } },
        ...access(),
      },
      "product-tags": {
        tableName: "product_tags",
        action: { read: true },
        rowScope: { north: { product_id: "p1" } },
        ...access(["untagged"]),
      },
      orders: {
        tableName: "orders",
        action: { ...reading, ...writing },
        aggregateConfig: {
          joins: {
            goods: {
              tableName: "order_lines",
              joinType: "LEFT",
              sourceField: "id",
              targetField: "order_id",
              fields: ["qty"],
            },
            // A relation has this name, too, but to other records.
            writer: {
              tableName: "customers",
              joinType: "LEFT",
              sourceField: "customer_id",
              targetField: "id",
              fields: ["name"],
            },
          },
        },
        relations: {
          customer: { endpoint: "customers", column: "customer_id" },
          writer: { endpoint: "customers", column: "customer_email", key: "email" },
          lines: { endpoint: "order-lines", foreignColumn: "order_id" },
        },
        ...access(),
      },
      "order-lines": {
        tableName: "order_lines",
        action: { ...reading, ...writing },
        relations: {
          order: { endpoint: "orders", column: "order_id" },
          product: { endpoint: "products", column: "product_id" },
        },
        ...access(),
      },
      // The same customers through a view, whose key only its file tells.
      clients: {
        viewQuery:
          "select id, name, city_id from customers union all select id, name, city_id from customers",
        primaryKey: "id",
        action: { read: true, first: true },
        ...access(),
      },
      deals: {
        tableName: "orders",
        action: reading,
        relations: { client: { endpoint: "clients", column: "customer_id" } },
        ...access(),
      },
      // Paths in its own file.
      sales: {
        tableName: "orders",
        action: { ...reading, export: true },
        fieldName: ["order_no", "customer_id"],
        exportColumns: ["order_no", "customer.name", "customer.is_deleted", "customer_id"],
        fieldLabels: { order_no: "Order", "customer.name": "Buyer" },
        columnFormats: {
          "customer.is_deleted": { type: "boolean", trueLabel: "yes", falseLabel: "no" },
        },
        fieldNameLookup: { id: "id", text: "order_no || ' ' || customer.name" },
        datatables: {
          searchPanes: ["customer.name"],
          searchBuilder: ["customer.city.name"],
          columnControl: ["customer.region"],
        },
        datatablesWhere: ["order_no", "customer.name"],
        relations: { customer: { endpoint: "customers", column: "customer_id" } },
        ...access(),
      },
      buyers: {
        tableName: "orders",
        action: { lookup: true, datatables: true },
        fieldNameLookup: { id: "id", text: "customer.name" },
        datatablesQuery: `select id, order_no, customer_id, 'x' as ${inject("engine") === "mysql" ? "`customer.code`" : '"customer.code"'} from orders`,
        relations: { customer: { endpoint: "customers", column: "customer_id" } },
        ...access(),
      },
    },
    project: { auth: { apiKeys: [] }, ...project },
  });

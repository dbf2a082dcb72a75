/**
 * A service for two tenants, `a` and `b`, with a double in the place of access rules: a caller sees the rows of its tenant in every table
 * that has the column, and asking about any other table is a fault. Requests say in headers who sends them.
 */
import type { Access } from "../../core/callers/access.ts";
import type { Caller } from "../../core/plans/caller.ts";
import { nobody } from "../../core/plans/caller.ts";
import type { Callers } from "../../core/callers/callers.ts";
import { wholeScope } from "../../core/callers/scope.ts";
import { equals } from "../../core/query/statement.ts";
import { type Fixture, openFixture } from "./harness.ts";

export type Tenant = "a" | "b";

export const callerOf = (tenant: Tenant): Caller => ({
  kind: "key",
  id: `key-${tenant}`,
  roles: ["clerk"],
  claims: { tenant },
});

export const access: Access = {
  scopeOf({ claims: { tenant } }) {
    if (typeof tenant !== "string") return wholeScope;
    return {
      key: tenant,
      isWhole: false,
      rowsOf(source) {
        const column = source.columns.get("tenant");
        if (column === undefined) throw new Error("Nothing says whose rows these are");
        return equals(column, tenant);
      },
    };
  },
  fieldsOf({ claims: { hidden } }) {
    const names = typeof hidden === "string" ? [hidden] : [];
    return { key: names.join(), hidden: new Set(names), readOnly: new Set(names) };
  },
};

const callers: Callers = {
  authenticate(headers) {
    const tenant = headers.get("x-tenant");
    if (tenant === null) return nobody;
    const hidden = headers.get("x-hidden");
    const caller = callerOf(tenant as Tenant);
    return hidden === null ? caller : { ...caller, claims: { ...caller.claims, hidden } };
  },
  access,
};

const action = {
  create: true,
  read: true,
  first: true,
  update: true,
  delete: true,
  adjust: true,
  lookup: true,
  datatables: true,
  aggregate: true,
  lock: true,
  "create-composite": true,
  "read-composite": true,
  "update-composite": true,
  "change-status": true,
  export: true,
  import: true,
};

const orders = {
  tableName: "orders",
  action,
  hiddenFields: ["tenant"],
  fieldNameLookup: { id: "order_id", text: "title" },
  adjustConfig: { fields: { qty: { type: "integer" } } },
  workflow: { transitions: { open: ["done"], done: [] } },
  masterDetail: {
    detailTable: "order_lines",
    foreignKey: "order_id",
    cascadeDelete: true,
    detailConfig: { primaryKey: "line_id" },
    calculation: { header: { total: "SUM(amount)" } },
  },
  aggregateConfig: {
    joins: {
      account: {
        tableName: "accounts",
        sourceField: "account_id",
        targetField: "account_id",
        fields: ["name"],
      },
    },
  },
  importConfig: {
    upsertKeys: ["code"],
    lookupFields: {
      Account: { targetTable: "accounts", targetField: "account_id", lookupField: "name" },
    },
  },
  datatables: { searchPanes: ["title"], searchBuilder: ["title"], columnControl: ["title"] },
};

const column = { table: "orders", column: "order_id" };

/** `plain`: the same records without details, so that single statements do the work. `viewed`: read through a query. */
export function openTenants(): Promise<Fixture> {
  const { masterDetail: _details, ...rest } = orders;
  const {
    "create-composite": _c,
    "read-composite": _r,
    "update-composite": _u,
    ...single
  } = action;
  return openFixture({
    callers,
    tables: [
      {
        name: "accounts",
        columns: { account_id: "key", tenant: "text(10)", name: "text(40)" },
      },
      {
        name: "orders",
        columns: {
          order_id: "key",
          tenant: "text(10)",
          code: { type: "text(40)", unique: true },
          title: "text(40)",
          qty: "integer",
          total: "decimal(10,2)",
          status: "text(20)",
          account_id: { type: "text(36)", references: { table: "accounts", column: "account_id" } },
          updated_at: "timestamp",
        },
      },
      {
        name: "order_lines",
        columns: {
          line_id: "key",
          order_id: { type: "text(36)", references: column },
          text: "text(40)",
          amount: "decimal(10,2)",
        },
      },
    ],
    endpoints: {
      orders,
      plain: { ...rest, action: single },
      viewed: {
        ...rest,
        action: { ...single, "change-status": false },
        workflow: undefined,
        viewQuery: "select o.*, 'x' as extra from orders o",
        datatablesQuery: "select order_id, title, tenant from orders",
        exportQuery: "select order_id, title, tenant from orders",
      },
      accounts: { tableName: "accounts", action: { read: true }, hiddenFields: ["tenant"] },
    },
    project: { locking: { enforceResourceLocks: true } },
  });
}

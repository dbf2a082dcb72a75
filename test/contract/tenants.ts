/**
 * A service for two tenants, `a` and `b`: in every table with a tenant column, a caller sees the rows of its tenant.
 * Requests identify the caller by the test's own headers or by real credentials.
 */
import { createHash } from "node:crypto";
import { CompactSign } from "jose";
import type { Caller } from "../../core/plans/caller.ts";
import type { Callers } from "../../core/callers/callers.ts";
import { type Fixture, openFixture } from "./harness.ts";

export type Tenant = "a" | "b";

export const callerOf = (tenant: Tenant): Caller => ({
  kind: "key",
  id: `key-${tenant}`,
  roles: ["clerk"],
  claims: { tenant },
});

/** The header names the tenant, access rules decide the rest. Without it: the operator, who sees everything. */
const callers: Callers = {
  authenticate(headers) {
    const tenant = headers.get("x-tenant");
    if (tenant === null) return operator;
    const hidden = headers.get("x-hidden");
    const caller = callerOf(tenant as Tenant);
    return hidden === null ? caller : { ...caller, roles: [`clerk without ${hidden}`] };
  },
};

const operator: Caller = { kind: "key", id: "operator", roles: ["operator"], claims: {} };

/** What a caller with this id sends. */
export const keyOf = (id: string): string => `the key of ${id}`;
export const tokenSecret = "a secret of at least thirty-two bytes";

/** Names of two tenants that are one number to a double. */
export const closeTenants = ["9007199254740993", "9007199254740992"] as const;

/** Headers with a token: user, expiry and `claims`, JSON members as text, so that numbers keep every digit. */
export async function tokenOf(
  claims: string,
  { sub = '"someone"', exp = String(Math.floor(Date.now() / 1000) + 300) } = {},
): Promise<Record<string, string>> {
  const members = [sub && `"sub": ${sub}`, exp && `"exp": ${exp}`, claims].filter((one) => one);
  const token = await new CompactSign(new TextEncoder().encode(`{${members.join(", ")}}`))
    .setProtectedHeader({ alg: "HS256" })
    .sign(new TextEncoder().encode(tokenSecret));
  return { authorization: `Bearer ${token}` };
}

const keyFor = (id: string, roles: readonly string[], claims = {}) => ({
  id,
  sha256: createHash("sha256").update(keyOf(id)).digest("hex"),
  roles,
  claims,
});

const auth = {
  apiKeys: [
    keyFor("key-a", ["clerk"], { tenant: "a" }),
    keyFor("key-b", ["clerk"], { tenant: "b" }),
    keyFor("operator", ["operator"]),
    keyFor("visitor", ["visitor"]),
    keyFor("stranger", ["nothing"]),
  ],
  jwt: { secret: tokenSecret },
  anonymous: { roles: ["guest"] },
};

/** The settings of roles in every endpoint. */
const rules = {
  access: {
    operator: "*",
    // All rows, but not an administrator.
    visitor: [] as string[],
    clerk: [] as string[],
    "clerk without title": [] as string[],
  },
  rowScope: {
    clerk: { tenant: "{{claims.tenant}}" },
    "clerk without title": { tenant: "{{claims.tenant}}" },
  },
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

const bulk = { "bulk-create": true, "bulk-update": true, "bulk-delete": true, upsert: true };

const orders = {
  tableName: "orders",
  action,
  hiddenFields: ["tenant"],
  fieldNameLookup: { id: "order_id", text: "title" },
  relations: { lines: { endpoint: "lines", foreignColumn: "order_id" } },
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

/** Clerks have every action that is on. Only the last role has its own hidden columns. */
const withRules = <
  Payload extends { action: Readonly<Record<string, boolean | undefined>>; history?: boolean },
>(
  payload: Payload,
  hidesTitle: boolean,
) => {
  const own = [
    ...Object.keys(payload.action).filter((name) => payload.action[name] === true),
    ...(payload.history === true ? ["history", "revert"] : []),
  ];
  return {
    ...payload,
    ...rules,
    access: { ...rules.access, clerk: own, visitor: own, "clerk without title": own },
    ...(hidesTitle && { hiddenFields: { "clerk without title": ["title"] } }),
  };
};

/** `byHeader`: callers by test headers, not credentials. `plain`: no details. `viewed`: read through a query. */
export function openTenants({ byHeader = true } = {}): Promise<Fixture> {
  const { masterDetail: _details, ...rest } = orders;
  const {
    "create-composite": _c,
    "read-composite": _r,
    "update-composite": _u,
    ...single
  } = action;
  return openFixture({
    ...(byHeader && { callers }),
    tables: [
      { name: "accounts", columns: { account_id: "key", tenant: "text(20)", name: "text(40)" } },
      {
        name: "orders",
        columns: {
          order_id: "key",
          tenant: "text(20)",
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
        name: "bins",
        columns: {
          bin_id: "key",
          tenant: "text(20)",
          label: "text(40)",
          is_deleted: "boolean",
          deleted_by: "text(40)",
        },
      },
      {
        name: "order_lines",
        columns: {
          line_id: "key",
          order_id: { type: "text(36)", references: column },
          tenant: "text(20)",
          account_id: { type: "text(36)", references: { table: "accounts", column: "account_id" } },
          text: "text(40)",
          amount: "decimal(10,2)",
        },
      },
      {
        name: "scans",
        columns: { scan_id: "key", tenant: "text(20)", label: "text(40)", scan: "json" },
      },
    ],
    endpoints: {
      orders: withRules(orders, true),
      plain: withRules({ ...rest, action: { ...single, ...bulk } }, true),
      viewed: withRules(
        {
          ...rest,
          action: { ...single, "change-status": false },
          workflow: undefined,
          viewQuery: "select o.*, 'x' as extra from orders o",
          datatablesQuery: "select order_id, title, tenant from orders",
          exportQuery: "select order_id, title, tenant from orders",
        },
        true,
      ),
      bins: withRules(
        {
          tableName: "bins",
          action: { read: true, first: true, delete: true, restore: true, "next-number": true },
          numbers: { label: { format: "B{seq}" } },
          softDelete: true,
          history: true,
        },
        false,
      ),
      lines: withRules(
        {
          tableName: "order_lines",
          action: { create: true, read: true, first: true, update: true, delete: true },
          hiddenFields: ["tenant"],
          relations: {
            order: { endpoint: "orders", column: "order_id" },
            account: { endpoint: "accounts", column: "account_id" },
          },
        },
        false,
      ),
      scans: withRules(
        {
          tableName: "scans",
          action: { first: true, create: true },
          hiddenFields: ["tenant"],
          files: { scan: {} },
        },
        false,
      ),
      accounts: withRules(
        { tableName: "accounts", action: { read: true }, hiddenFields: ["tenant"] },
        false,
      ),
    },
    project: { auth, locking: { enforceResourceLocks: true } },
  });
}

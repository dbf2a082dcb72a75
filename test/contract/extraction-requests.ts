/** Requests for `extraction.test.ts`, by possible leak: hidden names and values, keys of foreign rows, guesses. */
import type { Json } from "../../core/values/json.ts";
import { foreignAccounts, foreignIds, foreignLines, mine, own, theirs } from "./twins.ts";

/** Path below the project, body, and headers. */
export type Asked = readonly [string, unknown, Record<string, string>?];

export const isStatic = { "x-request-mode": "static" };
export const where = (key: string, operator: string, value: Json): { where: object } => ({
  where: { conditions: [{ key, operator, value }] },
});
export const pair = (key: string, value: Json): object => ({ where: [{ key, value }] });
export const ids = [...own.orders, ...foreignIds, "none"];
const orderColumns = ["order_id", "tenant", "code", "title", "qty", "cost", "seal", "account_id"];
const orders = [...orderColumns, "owner.tenant", "owner.credit", "sealed.title", "owner.name"];
const binColumns = ["bin_id", "tenant", "label", "parent_id", "weight", "deleted_at", "deleted_by"];
const bins = [...binColumns, "parent.weight", "parent.label"];
const lineColumns = ["line_id", "order_id", "tenant", "account_id", "text", "amount", "cost"];
/** The lists, and columns of each; the first is the key. */
const columnsOf = {
  orders,
  lines: [...lineColumns, "order.cost", "payer.name", "order.owner.name"],
  plain: orders,
  viewed: orderColumns,
  tickets: ["ticket_id", "label", "status", "ends", "updated_at"],
  accounts: ["account_id", "name", "credit"],
  bins,
  trash: bins,
  everyBin: bins,
  drafts: ["draft_id", "label", "is_deleted", "deleted_at", "deleted_by"],
};
type List = keyof typeof columnsOf;
export const lists = Object.keys(columnsOf) as List[];
export const namesFor = (list: List): readonly string[] => columnsOf[list];
const keyNameOf = (list: List): string => columnsOf[list][0]!;

/** Relations, hidden ones too, with columns of the related records; the first one is shown. */
const relations: readonly (readonly [List, string, readonly string[]])[] = [
  ["orders", "owner", ["name", "credit", "tenant", "orders.title"]],
  ["orders", "lines", ["text", "amount", "cost", "payer.name"]],
  ["plain", "payers", ["name", "credit", "account_id"]],
  ["plain", "sealed", ["title", "seal"]],
  ["orders", "owner.orders", ["title", "cost", "owner.name"]],
  ["lines", "order", ["title", "seal", "owner.name"]],
  ["lines", "order.lines", ["text", "payer.name", "cost"]],
  ["accounts", "orders", ["title", "qty", "cost", "owner.name"]],
  ["bins", "parent", ["label", "weight", "parent.label"]],
  ["bins", "children", ["label", "deleted_by"]],
  ["trash", "children", ["label", "weight"]],
];
const values = ["b0", "secret left", "acc bc left", "gamma", 5];
const countAll = { function: "count", field: "*", alias: "n" };
const expanded = (path: string, options: object): object => {
  const [name, inner] = path.split(".") as [string, string?];
  return { [name]: inner === undefined ? options : { expand: { [inner]: options } } };
};

/** Requests that only read, by possible leak. */
export const reading: Readonly<Record<string, readonly Asked[]>> = {
  "a condition": lists.flatMap((list) =>
    namesFor(list).flatMap((name) =>
      (
        [
          ["=", theirs],
          ["!=", "a0"],
          [">", "5"],
          ["<", 50],
          ["LIKE", "%e%"],
          ["IN", ["b0", "10", "open"]],
          ["NOT IN", ["b7"]],
          ["BETWEEN", [1, 60]],
          ["IS NULL", null],
          ["IS NOT NULL", null],
          ["=", "2026-01-01"],
        ] as const
      ).map(([operator, value]) => [`${list}/read`, where(name, operator, value as Json)] as const),
    ),
  ),
  "a sort": lists.flatMap((list) =>
    namesFor(list).flatMap((column) => [
      [`${list}/read`, { sort_columns: [{ column, order: "desc" }] }] as const,
      [`${list}/read`, { sort_columns: [{ column }], page: 2, per_page: 2 }] as const,
      [`${list}/datatables`, { draw: 1, sort_columns: [{ column, order: "desc" }] }] as const,
    ]),
  ),
  "a search": lists.flatMap((list) =>
    ["b0", "secret", "9", "open", "seal", "e", "label", "acc"].flatMap((text) => [
      [`${list}/read`, { search_value: text }] as const,
      [`${list}/read`, { search_value: text, search_by: namesFor(list).at(-1) }] as const,
      [`${list}/datatables`, { draw: 1, search: { value: text } }] as const,
      [`${list}/lookup`, { search: text }, { "x-request-mode": "dynamic" }] as const,
    ]),
  ),
  "a search of several columns": lists.flatMap((list) => {
    const columns = namesFor(list).map((data) => ({ data }));
    const groups = ["b", "open", "9"].flatMap((term) =>
      columns.map((_, at) => [{ columns: [0, at], term }]),
    );
    return groups.flatMap((group) => [
      [`${list}/datatables`, { draw: 1, columns, search: { groups: group } }] as const,
      [`${list}/datatables`, { draw: 1, search: { groupsFixed: group } }] as const,
      [`${list}/datatables`, { draw: 1, columns, search: { fixed: group } }] as const,
    ]);
  }),
  "a count": lists.flatMap((list) =>
    ["exact", "estimated", "none"].flatMap((count) => [
      [`${list}/read`, { page: 1, per_page: 2, count }] as const,
      [`${list}/read`, { page: 1, per_page: 100, count, search_value: "one" }] as const,
      [`${list}/datatables`, { draw: 3, start: 0, length: 2, count }] as const,
    ]),
  ),
  "a group": lists.flatMap((list) =>
    namesFor(list).flatMap((field) => [
      [`${list}/aggregate`, { group_by: [field] }] as const,
      [
        `${list}/aggregate`,
        {
          operations: [{ function: "max", field, alias: "m" }],
          having: { conditions: [{ key: "m", operator: ">", value: 1 }] },
        },
      ] as const,
      [
        `${list}/aggregate`,
        { operations: [{ function: "count", field, alias: "n", distinct: true }] },
      ] as const,
      [`${list}/aggregate`, { operations: [{ function: "sum", field }] }] as const,
    ]),
  ),
  "a join": ["LEFT", "INNER", "RIGHT", "FULL"].flatMap((joinType) =>
    [
      ["account_id", "account_id", "name"],
      ["account_id", "account_id", "credit"],
      ["cost", "credit", "name"],
      ["qty", "credit", "name"],
      ["account_id", "account_id", "tenant"],
    ].flatMap(([sourceField, targetField, field]) => [
      [
        "plain/aggregate",
        {
          joins: [{ tableName: "accounts", joinType, sourceField, targetField, fields: [field] }],
          group_by: [`accounts.${field}`],
        },
      ] as const,
      [
        "plain/aggregate",
        {
          joins: [{ tableName: "orders", joinType, sourceField, targetField, fields: ["title"] }],
          group_by: ["orders.title"],
        },
      ] as const,
    ]),
  ),
  "a declared join": [
    ["plain/aggregate", { joins: ["account"], group_by: ["account.name"] }],
    ["plain/aggregate", { joins: ["account"], group_by: ["account.credit"] }],
    [
      "orders/aggregate",
      { joins: ["account"], operations: [{ function: "sum", field: "account.credit" }] },
    ],
  ],
  "a lookup": lists.flatMap((list) => [
    [`${list}/lookup`, {}, isStatic] as const,
    [`${list}/lookup`, { ids }, isStatic] as const,
    [`${list}/lookup`, { ids: ["b0", "p0", "q0", "bx"] }, isStatic] as const,
    [`${list}/lookup`, { page: 1, limit: 2 }, isStatic] as const,
    [`${list}/lookup`, { select: ["cost", "credit", "status"] }, isStatic] as const,
    ...["b", "a", "acc", "bin", "secret", "gone", "gamma"].map(
      (search) => [`${list}/lookup`, { search }, isStatic] as const,
    ),
    ...ids.map((selected_tag) => [`${list}/lookup`, { selected_tag }, isStatic] as const),
    ...namesFor(list).flatMap((name) => [
      [`${list}/lookup`, { select: [name] }, isStatic] as const,
      [
        `${list}/lookup`,
        { sort_columns: [{ column: name, direction: "DESC" }] },
        isStatic,
      ] as const,
      [`${list}/lookup`, where(name, ">", "5"), isStatic] as const,
      [`${list}/lookup`, pair(name, "open"), isStatic] as const,
      [
        `${list}/lookup`,
        { ...pair(name, null), search: "a", page: 1, limit: 1 },
        isStatic,
      ] as const,
    ]),
  ]),
  "a grid": lists.flatMap((list) => [
    [
      `${list}/datatables`,
      {
        draw: 1,
        searchPanes: { title: ["two"], cost: ["10"] },
        searchPanes_options: { cascade: true, viewCount: true, viewTotal: true },
      },
    ] as const,
    [
      `${list}/datatables`,
      {
        draw: 1,
        searchBuilder: {
          logic: "AND",
          criteria: [{ origData: "cost", condition: ">", type: "num", value: ["5"] }],
        },
      },
    ] as const,
    [
      `${list}/datatables`,
      { draw: 1, columns: [{ data: "cost", search: { value: "1" } }] },
    ] as const,
    [`${list}/datatables`, { draw: 1, searchBy: "cost", search: { value: "1" } }] as const,
  ]),
  "a record": lists.flatMap((list) =>
    [...ids, "p0", "q1", "bx", "aa"].map(
      (id) => [`${list}/first`, pair(keyNameOf(list), id)] as const,
    ),
  ),
  "a document": ids.flatMap((id) => [
    ["orders/read-composite", pair("order_id", id)] as const,
    ["queried/read-composite", pair("order_id", id)] as const,
  ]),
  "a name": lists.flatMap((list) =>
    ["cos", "sea1", "statu", "credi", "ticket_i", "updatd_at", "end", "costs"].flatMap((name) => [
      [`${list}/first`, pair(name, 1)] as const,
      [`${list}/update`, { [keyNameOf(list)]: "none", [name]: 1 }] as const,
    ]),
  ),
  "a condition on related records": relations.flatMap(([list, key, names]) =>
    ["ANY", "NONE", "ALL"].flatMap((operator) => [
      [`${list}/read`, { where: { conditions: [{ key, operator }] }, page: 1 }] as const,
      ...names.flatMap((name) =>
        values
          .flatMap((value) => [where(name, "=", value), where(name, ">", value)])
          .concat(where(name, "IS NULL", null))
          .flatMap((inner) => {
            const asked = { where: { conditions: [{ key, operator, ...inner }] } };
            return [
              [`${list}/read`, { ...asked, page: 1 }] as const,
              [`${list}/aggregate`, { ...asked, group_by: [namesFor(list)[0]] }] as const,
            ];
          }),
      ),
    ]),
  ),
  "an expanded relation": relations.flatMap(([list, path, names]) => [
    ...names.flatMap((column) => [
      [`${list}/read`, { select: [`${path}.${column}`] }] as const,
      ...[
        { select: [column] },
        { sort_columns: [{ column, direction: "DESC" }], limit: 1 },
        { operations: [{ function: "max", field: column, alias: "m" }] },
        { operations: [{ function: "count", field: column, alias: "n", distinct: true }] },
        ...values.map((value) => where(column, "!=", value)),
        { where: { conditions: [{ key: column.split(".")[0], operator: "ANY" }] } },
      ].map((options) => [`${list}/read`, { expand: expanded(path, options) }] as const),
    ]),
    [`${list}/read`, { select: [`${path}.*`], versions: true }] as const,
    ...["owner", "lines", "payers", "orders", "order", "children", "sealed"].map(
      (inner) => [`${list}/read`, { expand: { [path]: { expand: [inner] } } }] as const,
    ),
    ...[...own.orders, "a9", "e0", "e3", "la0", "aa", "bc"].map(
      (id) =>
        [
          `${list}/first`,
          { ...pair(namesFor(list)[0]!, id), expand: expanded(path, {}), versions: true },
        ] as const,
    ),
    [`${list}/read`, { expand: expanded(path, { operations: [countAll] }) }] as const,
  ]),
  "an expanded document": ids.map(
    (id) =>
      [
        "orders/read-composite",
        { ...pair("order_id", id), expand: ["owner", "lines", "payers"] },
      ] as const,
  ),
  "next-statuses": ["plain", "orders", "tickets"].flatMap((list) =>
    [...ids, "p0", "q0"].map((id) => [`${list}/next-statuses`, { id }] as const),
  ),
};

/** Requests that write, one after the other, each on the state that those before it left. */
export const writing: readonly Asked[] = [
  ...["plain", "orders", "viewed"].flatMap((list) =>
    ["a0", ...foreignIds, "none"].flatMap((order_id) => [
      [`${list}/update`, { order_id, title: "changed" }] as const,
      [`${list}/update`, { order_id, cost: 5, seal: "mine" }] as const,
      [`${list}/update`, { order_id, title: "x" }, { "if-match": '"other"' }] as const,
      [
        `${list}/update`,
        { order_id, title: "x" },
        { "if-match": '"2026-01-01T10:00:00.000Z"' },
      ] as const,
      [`${list}/update`, { order_id, code: "c-a1" }] as const,
      [`${list}/update`, { order_id, tenant: theirs }] as const,
      [`${list}/adjust`, { order_id, adjustments: [{ field: "qty", value: 1 }] }] as const,
      [`${list}/adjust`, { order_id, adjustments: [{ field: "cost", value: 1 }] }] as const,
      [`${list}/delete`, pair("order_id", order_id), { "if-match": '"other"' }] as const,
      ...[...foreignAccounts, "none"].flatMap((account_id) => [
        [`${list}/update`, { order_id, account_id }] as const,
        [`${list}/update`, { order_id, account_id, code: "c-a1" }] as const,
        [`${list}/create`, { title: "n", account_id }] as const,
        [`${list}/create`, { code: "c-a1", account_id }] as const,
        [`${list}/create`, { order_id: "a0", account_id }] as const,
        [`${list}/create`, { account_id, tenant: theirs }] as const,
      ]),
    ]),
  ),
  ...["plain", "orders"].flatMap((list) =>
    ["a1", ...foreignIds, "none"].flatMap((id) => [
      [`${list}/change-status`, { id, status: "nowhere" }] as const,
      [`${list}/change-status`, { id, status: "void" }] as const,
      [`${list}/lock/acquire`, { lock_keys: [{ key: "order_id", value: id }], ttl: 1 }] as const,
      [`${list}/lock/status`, { lock_keys: [{ key: "order_id", value: id }] }] as const,
      [
        `${list}/lock/release`,
        { lock_keys: [{ key: "order_id", value: id }], lock_token: "x" },
      ] as const,
      [`${list}/lock/acquire`, { lock_keys: [{ key: "cost", value: 10 }] }] as const,
    ]),
  ),
  ...["two", "one", "three", "secret left"].flatMap((value) => [
    ["plain/lock/status", { lock_keys: [{ key: "title", value }] }] as const,
    ["plain/lock/acquire", { lock_keys: [{ key: "title", value }], ttl: 1 }] as const,
  ]),
  ...["a0", "a2", ...foreignIds, "none"].flatMap((order_id) => [
    ["orders/update-composite", { orders: { order_id, title: "t" } }] as const,
    [
      "orders/update-composite",
      { orders: { order_id, order_lines: { insert: [{ text: "n", amount: 1 }] } } },
    ] as const,
    ...["la0", ...foreignIds.map((id) => `l${id}`), ...foreignLines, "none"].flatMap((line_id) => [
      [
        "orders/update-composite",
        { orders: { order_id, order_lines: { update: [{ line_id, amount: 3 }] } } },
      ] as const,
      [
        "orders/update-composite",
        { orders: { order_id, order_lines: { delete: [line_id] } } },
      ] as const,
      [
        "orders/update-composite",
        { orders: { order_id, order_lines: { delete: [{ line_id }] } } },
      ] as const,
      ["lines/update", { line_id, order_id, text: "moved" }] as const,
      ["lines/delete", pair("line_id", line_id)] as const,
    ]),
    ...[...foreignAccounts, "none"].flatMap((account_id) => [
      [
        "orders/update-composite",
        { orders: { order_id, order_lines: { insert: [{ account_id, amount: 1 }] } } },
      ] as const,
      ["orders/update-composite", { orders: { order_id, account_id } }] as const,
    ]),
  ]),
  ...[...foreignAccounts, "none"].flatMap((account_id) => [
    [
      "orders/create-composite",
      { orders: { title: "n", order_lines: [{ account_id, amount: 1 }] } },
    ] as const,
    ["orders/create-composite", { orders: { title: "n", account_id, order_lines: [] } }] as const,
    [
      "orders/create-composite",
      { orders: { code: "c-a1", order_lines: [{ account_id, amount: 1 }] } },
    ] as const,
    ["accounts/update", { account_id, name: "x" }] as const,
    ["accounts/delete", pair("account_id", account_id)] as const,
  ]),
  [
    "orders/create-composite",
    { orders: { title: "n", tenant: theirs, order_lines: [{ amount: 1 }] } },
  ],
  ...[mine, theirs].flatMap((tenant) => [
    ["orders/create-composite", { orders: { title: "n", order_lines: [{ tenant }] } }] as const,
    ["lines/create", { order_id: "a0", tenant, amount: 1 }] as const,
  ]),
  ...["a0", "a1", ...foreignIds].map(
    (order_id) => ["orders/delete", pair("order_id", order_id)] as const,
  ),
  ["accounts/delete", pair("account_id", "aa")],
  ...["p0", "q0", "none"].flatMap((ticket_id) => [
    ["tickets/update", { ticket_id, label: "x" }] as const,
    ["tickets/change-status", { id: ticket_id, status: "done" }] as const,
    ["tickets/change-status", { ticket_id, status: "nowhere" }] as const,
    ["tickets/delete", pair("ticket_id", ticket_id)] as const,
    ["tickets/lock/acquire", { lock_keys: [{ key: "ticket_id", value: ticket_id }] }] as const,
    ["tickets/lock/status", { lock_keys: [{ key: "status", value: "open" }] }] as const,
  ]),
  ["tickets/create", { label: "new" }],
  ...["p0", "q0", "none", "-", null].map(
    (ticket_id) => ["tickets/create", { ticket_id, label: `with the key ${ticket_id}` }] as const,
  ),
  ["tickets/create", { label: "new 2", status: "open", begins: "2026-05-01" }],
  ["tickets/create", { label: "label 1" }],
  ["tickets/delete", pair("label", "label 3"), { "if-match": '"x"' }],
  ["plain/create", { title: "once" }, { "idempotency-key": "k1" }],
  ["plain/create", { title: "once" }, { "idempotency-key": "k1" }],
  ["plain/create", { title: "twice" }, { "idempotency-key": "k1" }],
  ["plain/delete", { where: [{ key: "title", value: "three" }] }],
  ["plain/delete", { where: [{ key: "cost", value: 10 }] }],
];

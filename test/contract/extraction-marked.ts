/** Requests for `extraction.test.ts` about soft-deleted records, own and foreign, and the columns that mark them. */
import { type Asked, ids, pair } from "./extraction-requests.ts";
import { foreignIds, theirs } from "./twins.ts";
import { ownBins } from "./twins-marked.ts";

const all = [...ownBins, ...foreignIds, "none"];
const foreign = [...foreignIds, "none"];
const endpoints = ["bins", "trash", "everyBin"] as const;

/** Each request runs on the state that those before it left. */
export const writingMarked: readonly Asked[] = [
  ...endpoints.flatMap((list) => [
    ...foreign.flatMap((bin_id) => [
      [`${list}/update`, { bin_id, label: "mine" }] as const,
      [`${list}/update`, { bin_id, is_deleted: false, weight: 1 }] as const,
      [`${list}/delete`, pair("bin_id", bin_id)] as const,
      [`${list}/restore`, pair("bin_id", bin_id)] as const,
      [`${list}/restore`, pair("bin_id", bin_id), { "if-match": '"2026-01-02"' }] as const,
      [`${list}/delete`, pair("label", `bin ${bin_id} alpha`)] as const,
      [`${list}/restore`, pair("label", `bin ${bin_id} alpha`)] as const,
      [`${list}/restore`, pair("parent_id", bin_id)] as const,
      [`${list}/lock/acquire`, { lock_keys: [{ key: "bin_id", value: bin_id }] }] as const,
      [`${list}/lock/status`, { lock_keys: [{ key: "bin_id", value: bin_id }] }] as const,
    ]),
    ...["weight", "deleted_by", "tenant", "deleted_at"].flatMap((key) =>
      [10, theirs, "ann", "2026-01-02T10:00:00Z", null].flatMap((value) => [
        [
          `${list}/delete`,
          {
            where: [
              { key: "bin_id", value: "e1" },
              { key, value },
            ],
          },
        ] as const,
        [
          `${list}/restore`,
          {
            where: [
              { key: "bin_id", value: "e6" },
              { key, value },
            ],
          },
        ] as const,
      ]),
    ),
  ]),
  // Values of marked records, and references to them.
  ...["gamma", "gamma~0123456789", "gone", "gone~0123456789"].flatMap((label) => [
    ["bins/restore", pair("label", label)] as const,
    ["bins/update", { bin_id: "none", label }] as const,
  ]),
  ["bins/create", { label: "gamma" }],
  ...all.map((parent_id) => ["bins/update", { bin_id: "e1", parent_id }] as const),
  ...foreign.map((parent_id) => ["bins/create", { label: "child", parent_id }] as const),
  ...all.map((bin_id) => ["bins/restore", pair("bin_id", bin_id), { "if-match": '"x"' }] as const),
  // A tree that is brought back, and marked again.
  ["bins/restore", pair("bin_id", "e4")],
  ["bins/restore", pair("bin_id", "e3")],
  ["bins/restore", pair("bin_id", "e3")],
  ["everyBin/read", { sort_columns: [{ column: "label" }] }],
  ["bins/delete", pair("bin_id", "e3")],
  ["trash/read", { sort_columns: [{ column: "label", direction: "DESC" }] }],
  ["bins/restore", pair("deleted_at", null)],
  // Whether these are marked is hidden.
  ...["f0", "f1", "f2", ...ids].flatMap((draft_id) => [
    ["drafts/update", { draft_id, label: "changed" }] as const,
    ["drafts/update", { draft_id, is_deleted: false, deleted_at: null }] as const,
    ["drafts/lock/acquire", { lock_keys: [{ key: "draft_id", value: draft_id }], ttl: 1 }] as const,
  ]),
  ["drafts/lock/status", { lock_keys: [{ key: "is_deleted", value: true }] }],
  ["drafts/lock/acquire", { lock_keys: [{ key: "deleted_by", value: "ann" }], ttl: 1 }],
];

/**
 * Requests generated from the actions' schemas, sent to two services whose databases differ only in what the caller
 * must not learn (see `extraction.test.ts`). Hints include names and values of hidden columns and foreign records. A
 * seed for each action makes failures repeatable.
 */
import fc from "fast-check";
import { beforeAll, describe, test } from "vitest";
import { actions } from "../../core/actions.ts";
import { compileProject } from "../../core/config/compile-project.ts";
import { readConfig } from "../../core/config/reading/read-config.ts";
import type { Entity } from "../../core/plans/entity.ts";
import type { Json } from "../../core/values/json.ts";
import { openDb } from "../../db/open.ts";
import { bentOf, valuesOf } from "../openapi/schema-values.ts";
import { ids, isStatic } from "./extraction-requests.ts";
import { foreignAccounts, foreignIds, mine, openTwins, own, post, theirs } from "./twins.ts";
import { ownBins } from "./twins-marked.ts";
import { openForTests } from "./harness.ts";

let entities: ReadonlyMap<string, Entity>;
const twins = openForTests(openTwins);
beforeAll(async () => {
  const [project] = readConfig(twins.left.files, {}).projects;
  const options = { connectionsMax: 2, statementTimeoutMs: 0, decimals: "number" } as const;
  const db = await openDb(project!.database.url, options);
  ({ entities } = await compileProject(project!, db.catalog));
  await db.close();
});

/** Values by member name. Keys of new records are never foreign ones: the contract reveals that a key is taken. */
const hintsFor = (action: string): Record<string, Json[]> => {
  const isNew = creates(action);
  const names = [
    "order_id",
    "title",
    "qty",
    "cost",
    "seal",
    "code",
    "tenant",
    "ticket_id",
    "status",
    "ends",
    "bin_id",
    "label",
    "parent_id",
    "weight",
    "deleted_at",
    "deleted_by",
    "is_deleted",
  ];
  return {
    order_id: isNew ? [...own.orders] : ids,
    ticket_id: ["p0", "q0", "none"],
    bin_id: isNew ? [] : [...ownBins, ...foreignIds],
    parent_id: isNew ? ["none"] : [...ownBins, ...foreignIds],
    draft_id: isNew ? [] : ["f0", "f1", ...foreignIds],
    id: ids,
    account_id: isNew ? ["nobody"] : ["aa", ...foreignAccounts, "none"],
    key: names,
    column: names,
    field: names,
    search_by: names,
    searchBy: names,
    operator: ["=", "!=", ">", "<", "LIKE", "IN", "IS NULL"],
    value: ["b0", "open", "two", 10, "c-a1", theirs],
    search_value: ["e", "b", "secret"],
    tenant: [mine, theirs],
    code: ["c-a1"],
    seal: ["seal-left-0", "seal-b0"],
  };
};

/** The jobs and files of an action that has them are asked for above. */
const generated = actions.filter(
  ({ name, takesUpload }) =>
    !takesUpload && !name.startsWith("export") && !name.startsWith("import"),
);
const runs = 12;

/** Creating actions come last: new records have keys that the service generates, so their order can differ. */
const generatedFor = (mode: "reads" | "writes") =>
  generated
    .filter((action) => (action.mode === "reads") === (mode === "reads"))
    .toSorted((one, other) => Number(creates(one.name)) - Number(creates(other.name)))
    .map((action) => [action.name, action] as const);
const creates = (name: string): boolean => name.startsWith("create");

describe.each(["reads", "writes"] as const)(
  "nothing is told by what %s, made of the schema of",
  (mode) => {
    test.each(generatedFor(mode))(
      "%s",
      async (name, action) => {
        const seed =
          [...name].reduce((sum, letter) => sum * 31 + letter.codePointAt(0)!, 11) % 1_000_000;
        for (const entity of entities.values()) {
          const input = entity.enabled.has(name) ? action.input({ entity, method: "POST" }) : null;
          if (input === null) continue;
          const hints = hintsFor(name);
          const bodies = [
            ...fc.sample(valuesOf(input, hints), { numRuns: runs, seed }),
            ...fc.sample(bentOf(input, hints), { numRuns: runs, seed: seed + 1 }),
          ];
          for (const body of bodies)
            await twins.expectSame(post(`${entity.name}/${name}`, body, isStatic), [
              entity.name,
              name,
              body,
            ]);
        }
      },
      120_000,
    );
  },
);

/** Compiles `importConfig`: what import reads from a file, and how it stores it. */
import type { Column, Columns, Table } from "../../values/types/column.ts";
import type { BooleanWords, ImportLookup, ImportPlan } from "../../plans/import-plan.ts";
import type { WritePlan } from "../../plans/write-plan.ts";
import { headingKey } from "../../values/text.ts";
import { columnTypes } from "../../values/types/column-types.ts";
import { isOfKey } from "../../values/types/key.ts";
import { mustBeSent } from "../../values/types/new-key.ts";
import type { Path } from "../reading/faults.ts";
import { constraintsOf } from "./import-constraints.ts";
import type { Payload } from "../reading/schema.ts";
import type { Survey } from "./survey.ts";

type ImportConfig = NonNullable<Payload["importConfig"]>;

/** Without importConfig every row of the file is a new one. */
const everyRowIsNew: ImportConfig = {
  upsertKeys: [],
  upsertStrategy: "update_existing",
  requiredFields: [],
  lookupFields: {},
  runHooks: false,
};

const at = (...members: Path): Path => ["importConfig", ...members];

/** Null if there is no table to import into. Names are checked nevertheless. */
export async function importOf(
  survey: Survey,
  table: Table | null,
  write: WritePlan | null,
): Promise<ImportPlan | null> {
  const { payload, jobs } = survey;
  const config = payload.importConfig ?? everyRowIsNew;
  if (config.runHooks && !hasRowHandlers(payload)) {
    survey.notice(
      "importConfig.runHooks has no effect: components has no handler for inserts or updates",
    );
  }
  if (!table) return null;
  const of = `the table ${table.name}`;
  const upsertKeys = survey.columns(config.upsertKeys, table.columns, at("upsertKeys"), of);
  const required = survey.columns(config.requiredFields, table.columns, at("requiredFields"), of);
  const lookups: ImportLookup[] = [];
  for (const heading of Object.keys(config.lookupFields)) {
    const lookup = await lookupOf(survey, heading, { config, table });
    if (lookup) lookups.push(lookup);
  }
  if (!write) return null;
  // Files are uploaded, and no cell can name one.
  const columns: Columns = new Map(
    [...write.keyColumns, ...write.writable].filter(
      ([name, { type }]) => type !== "file" && !write.readOnly.has(name),
    ),
  );
  checkTaken(survey, columns, { upsertKeys, required, lookups });
  const locksTable = upsertKeys.length > 0 && !isUnique(table, upsertKeys);
  if (locksTable && payload.action["import-commit"] === true) {
    survey.notice(
      `no unique index of ${table.name} covers ${config.upsertKeys.join(", ")}: other writes wait while an import is committed`,
    );
  }
  const headings = headingsOf(survey, columns, lookups);
  const bytesMax = jobs.maxUploadMb * 1024 ** 2;
  return {
    write,
    headings,
    template: templateOf(payload, { write, headings, lookups, upsertKeys }),
    upsertKeys: new Map(upsertKeys.map((column) => [column.name, column])),
    makesKeys: upsertKeys.every((column) => isOfKey(write.key, column) && isMade(column)),
    locksTable,
    strategy: config.upsertStrategy,
    constraints: await constraintsOf(survey, write),
    required,
    words: wordsOf(payload, columns),
    csvFormulas: survey.payload.csvFormulas,
    fileBytesMax: Math.min(bytesMax, config.maxFileSize ?? bytesMax),
    previewRows: jobs.previewRows,
  };
}

const isMade = ({ generated, hasDefault, isFilledByTrigger }: Column): boolean =>
  generated === "identity" || hasDefault || isFilledByTrigger === true;

const hasRowHandlers = ({ components }: Payload): boolean =>
  rowEvents.some((event) => (components?.[event] ?? []).length > 0);

const rowEvents = ["onBeforeInsert", "onAfterInsert", "onBeforeUpdate", "onAfterUpdate"] as const;

async function lookupOf(
  survey: Survey,
  heading: string,
  { config, table }: { config: ImportConfig; table: Table },
): Promise<ImportLookup | null> {
  const { targetTable, targetField, lookupField, idField, required } =
    config.lookupFields[heading]!;
  const path = at("lookupFields", heading);
  const target = survey.column(
    targetField,
    table.columns,
    [...path, "targetField"],
    `the table ${table.name}`,
  );
  const other = await survey.table(targetTable, [...path, "targetTable"]);
  if (!other) return null;
  const of = `the table ${other.name}`;
  const name = survey.column(lookupField, other.columns, [...path, "lookupField"], of);
  if (name && !columnTypes[name.type].findsRows) {
    const found = `a ${name.type} column`;
    survey.fault([...path, "lookupField"], {
      found,
      expected: "a column whose values can be searched",
    });
    return null;
  }
  const id =
    idField === undefined
      ? keyOf(other, targetField)
      : survey.column(idField, other.columns, [...path, "idField"], of);
  if (!id && idField === undefined)
    survey.fault(path, {
      expected: `an idField, the column of ${other.name} whose value goes into ${targetField}`,
    });
  if (!target || !name || !id) return null;
  return { heading, target, table: other, name, id, isRequired: required };
}

/** The column of the same name, else the only key. */
function keyOf({ columns, primaryKey }: Table, targetField: string): Column | null {
  const only = primaryKey.length === 1 ? columns.get(primaryKey[0]!) : undefined;
  return columns.get(targetField) ?? only ?? null;
}

/** What a file cannot set would never be filled. */
function checkTaken(
  survey: Survey,
  columns: Columns,
  {
    upsertKeys,
    required,
    lookups,
  }: {
    upsertKeys: readonly Column[];
    required: readonly Column[];
    lookups: readonly ImportLookup[];
  },
): void {
  const expected = "a field that clients may write";
  const found = "a column that is read-only, computed, or not in fieldName";
  for (const [property, names] of [
    ["upsertKeys", upsertKeys],
    ["requiredFields", required],
  ] as const) {
    for (const [index, column] of names.entries())
      if (!columns.has(column.name)) survey.fault(at(property, index), { found, expected });
  }
  for (const { heading, target } of lookups)
    if (!columns.has(target.name))
      survey.fault(at("lookupFields", heading, "targetField"), { found, expected });
  for (const [index, column] of upsertKeys.entries())
    if (!columnTypes[column.type].findsRows)
      survey.fault(at("upsertKeys", index), {
        found: `a ${column.type} column`,
        expected: "a column whose values can be compared",
      });
}

/** Whether an index of the table lets no two rows have the same keys; they are never null. */
const isUnique = ({ primaryKey, unique }: Table, keys: readonly Column[]): boolean =>
  [primaryKey, ...unique.map(({ columns }) => columns)].some(
    (columns) =>
      columns.length > 0 && columns.every((name) => keys.some((key) => key.name === name)),
  );

/**
 * Headings of a column are its name and its label, in all languages. On a conflict a lookup comes first, then the name,
 * then the label of the endpoint's file.
 */
function headingsOf(
  { endpoint, payload: { fieldLabels = {} }, requests: { messages } }: Survey,
  columns: Columns,
  lookups: readonly ImportLookup[],
): Map<string, Column | ImportLookup> {
  const headings = new Map<string, Column | ImportLookup>();
  for (const texts of messages.values())
    for (const [name, column] of columns) {
      const label = texts.labelOf(endpoint, name);
      if (label !== undefined) headings.set(headingKey(label), column);
    }
  for (const [name, column] of columns)
    if (Object.hasOwn(fieldLabels, name)) headings.set(headingKey(fieldLabels[name]!), column);
  for (const [name, column] of columns) headings.set(headingKey(name), column);
  for (const lookup of lookups) headings.set(headingKey(lookup.heading), lookup);
  return headings;
}

function templateOf(
  { fieldLabels = {} }: Payload,
  {
    write,
    headings,
    lookups,
    upsertKeys,
  }: {
    write: WritePlan;
    headings: ReadonlyMap<string, Column | ImportLookup>;
    lookups: readonly ImportLookup[];
    upsertKeys: readonly Column[];
  },
): string[] {
  const { key, writable } = write;
  const needed = mustBeSent(write);
  // A key that clients need not know is made by the service or the database.
  const keys = key.filter((column) => needed.includes(column) || upsertKeys.includes(column));
  const asked = [...keys, ...writable.values()].filter(({ type }) => type !== "file");
  return asked.map((column) => {
    const lookup = lookups.find(({ target }) => target === column);
    if (lookup) return lookup.heading;
    const label = Object.hasOwn(fieldLabels, column.name) ? fieldLabels[column.name]! : column.name;
    return headings.get(headingKey(label)) === column ? label : column.name;
  });
}

const commonWords: readonly (readonly [string, boolean])[] = [
  ["true", true],
  ["yes", true],
  ["y", true],
  ["on", true],
  ["1", true],
  ["false", false],
  ["no", false],
  ["n", false],
  ["off", false],
  ["0", false],
];

/** Booleans of a file are words, and so are numbers that the export labels as such; its words come first. */
function wordsOf({ columnFormats = {} }: Payload, columns: Columns): Map<Column, BooleanWords> {
  const words = new Map<Column, BooleanWords>();
  for (const column of columns.values()) {
    const { hasWords, arithmetic } = columnTypes[column.type];
    const format = Object.hasOwn(columnFormats, column.name) ? columnFormats[column.name] : null;
    if (!hasWords && (arithmetic === null || format?.type !== "boolean")) continue;
    const [yes, no] =
      format?.type === "boolean" ? [format.trueLabel, format.falseLabel] : ["yes", "no"];
    const own: (readonly [string, boolean])[] = [
      [headingKey(yes), true],
      [headingKey(no), false],
    ];
    words.set(column, { meanings: new Map([...commonWords, ...own]), offered: [yes, no] });
  }
  return words;
}

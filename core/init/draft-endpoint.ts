/** The file of one table or view, drafted from the names, columns, keys and references. */
import type { Column, Table } from "../values/types/column.ts";
import { checkedColumns } from "./check-text.ts";
import { deletedMarks } from "./deleted-marks.ts";
import type { Lines } from "./documents.ts";
import type { DraftNumbers } from "./draft-numbers.ts";
import { tableNameOf } from "./file-names.ts";
import { type DraftLookup, draftLookup, type Label } from "./label-column.ts";
import { type Relation, draftImport, draftJoins, referencesOf } from "./references.ts";
import { takesWrites } from "../config/compiling/key-plan.ts";
import { mustSend } from "../values/types/new-key.ts";
import { type DraftRule, ruleOf } from "./rules.ts";
import { auditNames, looksSecret } from "./name-words.ts";

/** A table or view with its lines; empty: it is the header of none. */
export interface Headed extends Relation {
  readonly lines: readonly Lines[];
  /** Undefined: no foreign key makes one. */
  readonly relations: object | undefined;
}

export interface DraftContext {
  /** All tables and views, by identity. */
  readonly tables: ReadonlyMap<string, Relation>;
  /** Whether an INSERT answers the row that it stored, without a key. */
  readonly answersStoredRows: boolean;
}

/** The content of an endpoint's file, and what in it is guessed. */
export interface EndpointDraft {
  readonly payload: Record<string, unknown>;
  readonly guesses: readonly Guess[];
}

export interface Guess {
  /** The property of the file, as `formatPath` writes it. */
  readonly path: string;
  readonly text: string;
  readonly kind: GuessKind;
}

/** `doubtful` and `weighty` ones are listed one by one; of the others, only the number is shown. */
export type GuessKind = "doubtful" | "weighty" | "labels" | "imports" | "joins";

export function draftEndpoint(found: Headed, context: DraftContext): EndpointDraft {
  const { outline, table, numbers } = found;
  const isView = outline.kind === "view";
  const secrets = secretsOf(table);
  const large = largeOf(table);
  const { label } = found;
  const lookup = draftLookup(table, { isView, label });
  const document = isView ? null : documentOf(found, context);
  const unfit: Guess[] = [];
  const names = [...table.columns.keys()];
  const deleted =
    isView || !mayUpdate(table)
      ? null
      : deletedMarks(table, (name, expected) => unfit.push(unfitMark(names, name, expected)));
  const references = isView ? [] : referencesOf(found, context.tables);
  const labels = Object.fromEntries(
    [...outline.columnComments].flatMap(([name, comment]) => {
      const heading = headingFrom(comment);
      return heading !== null && table.columns.has(name) ? [[name, heading]] : [];
    }),
  );
  const hidden = [...secrets, ...large];
  const action = actionsOf(found, context, { lookup, document, deleted });
  const payload = {
    $schema: "../endpoint.schema.json",
    action,
    // A grid needs a table or a query; a view can take the place of the table.
    tableName: tableNameOf(outline),
    ...keyOf(table),
    fieldName: names,
    ...(!isView && withRules(rulesOf(found))),
    ...(hidden.length > 0 && { hiddenFields: hidden }),
    ...(lookup && { fieldNameLookup: { id: lookup.id, text: lookup.text } }),
    ...(Object.keys(labels).length > 0 && { fieldLabels: labels }),
    ...(deleted && { softDelete: deleted.setting }),
    ...(document && { masterDetail: document.payload }),
    ...(numbers.settings.size > 0 && { numbers: Object.fromEntries(numbers.settings) }),
    ...(action["import"] && draftImport(found, references, labels)),
    ...draftJoins(references),
    ...(found.relations && { relations: found.relations }),
  };
  const guesses: Guess[] = [
    ...(lookup ? [labelGuess(lookup, label)] : []),
    ...(isView && takesWrites(table)
      ? [
          weighty(
            "tableName",
            "the database can write through this view: to use that, name its primaryKey and switch on create, update or delete",
          ),
        ]
      : []),
    ...(table.refusals ?? []).flatMap(({ statement, reason, isBroken }) =>
      isBroken
        ? weighty(
            "action",
            `the database refuses ${statement.toUpperCase()} on ${table.name}, ${reason}`,
          )
        : [],
    ),
    ...hidden.map((name, at) =>
      weighty(
        `hiddenFields[${at}]`,
        at < secrets.length
          ? `${name} looks like a secret, so it is hidden`
          : `${name} has files or pictures, so no answer sends it; writes can set it`,
      ),
    ),
    ...(deleted
      ? [
          weighty(
            "softDelete",
            `delete marks records in ${[...deleted.names].join(", ")}, and restore brings them back`,
          ),
        ]
      : []),
    ...unfit,
    ...(document?.guesses ?? []),
    ...numberGuesses(numbers, names),
    ...references.flatMap(({ heading, label: by }): Guess[] =>
      by === null
        ? []
        : [
            {
              kind: "imports",
              path: `importConfig.lookupFields${member(heading)}`,
              text: `${heading} by ${by.name}`,
            },
          ],
    ),
    ...references.map(({ name }): Guess => ({
      kind: "joins",
      path: `aggregateConfig.joins${member(name)}`,
      text: name,
    })),
  ];
  return { payload, guesses };
}

const unfitMark = (names: readonly string[], name: string, expected: string): Guess => ({
  kind: "doubtful",
  path: `fieldName[${names.indexOf(name)}]`,
  text: `${name} looks like a mark of deleted records, but softDelete needs ${expected}; delete removes records`,
});

function numberGuesses({ settings, doubts }: DraftNumbers, names: readonly string[]): Guess[] {
  const written = [...settings].map(([name, { format }]) =>
    weighty(
      `numbers${member(name)}`,
      `${name} looks like a document number, so a record without one gets ${format}`,
    ),
  );
  const open = [...doubts].map(([name, doubt]): Guess => ({
    kind: "doubtful",
    path: `fieldName[${names.indexOf(name)}]`,
    text: `${name} may be a document number, which "numbers" would give: ${doubt}`,
  }));
  return [...written, ...open];
}

const weighty = (path: string, text: string): Guess => ({ kind: "weighty", path, text });

function labelGuess({ text }: DraftLookup, label: Label | null): Guess {
  const path = "fieldNameLookup";
  return label?.doubt
    ? { kind: "doubtful", path, text: `drop-downs show ${text}: ${label.doubt}` }
    : { kind: "labels", path, text };
}

const member = (name: string): string =>
  /^[A-Za-z_$][\w$-]*$/.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`;

const withRules = (rules: readonly DraftRule[]): object =>
  rules.length > 0 ? { fieldValidation: rules } : {};

/** A key is shown, even if its name looks secret. */
const secretsOf = ({ columns, primaryKey }: Table): string[] =>
  [...columns.values()]
    .filter((column) => looksSecret(column) && !primaryKey.includes(column.name))
    .map(({ name }) => name);

function actionsOf(
  { table, outline, numbers }: Relation,
  { answersStoredRows }: DraftContext,
  {
    lookup,
    document,
    deleted,
  }: { lookup: DraftLookup | null; document: object | null; deleted: object | null },
): Record<string, true> {
  const isTable = outline.kind === "table";
  const isKeyed = isTable && table.primaryKey.length > 0;
  const isKeyless = isTable && table.primaryKey.length === 0;
  const mayInsert = isTable && allows(table, "insert");
  const names = [
    "datatables",
    "read",
    "first",
    ...(lookup ? ["lookup"] : []),
    "aggregate",
    ...(mayInsert && (isKeyed || (isKeyless && answersStoredRows)) ? ["create"] : []),
    ...(isKeyed && mayUpdate(table) && hasFieldsBesideKey(table) ? ["update"] : []),
    ...(isKeyed && (deleted || allows(table, "delete")) ? ["delete"] : []),
    ...(deleted ? ["restore"] : []),
    "export",
    ...(isKeyed && mayInsert && mayUpdate(table) && table.transactional ? ["import"] : []),
    ...(numbers.settings.size > 0 ? ["next-number"] : []),
    ...(document ? ["create-composite", "read-composite", "update-composite"] : []),
  ];
  return Object.fromEntries(names.map((name) => [name, true]));
}

/** PostgreSQL and MySQL list the columns, even where the right is missing for all of them. */
const allows = (
  { refusals = [], columns: all }: Table,
  statement: "insert" | "update" | "delete",
): boolean =>
  !refusals.some(
    ({ statement: refused, columns }) =>
      refused === statement && (columns === null || columns.length === all.size),
  );

const mayUpdate = (table: Table): boolean => allows(table, "update");

/** A row that consists of its key has nothing to change. */
const hasFieldsBesideKey = ({ columns, primaryKey }: Table): boolean =>
  [...columns.values()].some(
    ({ name, generated }) =>
      !primaryKey.includes(name) && generated !== "computed" && !auditNames.has(name),
  );

/** Columns of files and pictures, which would make every list long. Short ones may be keys. */
export const largeOf = ({ columns, primaryKey, foreignKeys, unique }: Table): string[] => {
  const used = [...foreignKeys, ...unique, { columns: primaryKey }].flatMap((one) => one.columns);
  return [...columns.values()]
    .filter((column) => column.type === "bytes" && (column.bytesMax ?? Infinity) > 64)
    .filter((column) => !used.includes(column.name) && !looksSecret(column))
    .map(({ name }) => name);
};

/** Rules for the fields that a body may set. */
function rulesOf({ table, outline, emptyTexts }: Relation): DraftRule[] {
  const checked = checkedColumns(outline.checks);
  const marks = mayUpdate(table) ? deletedMarks(table)?.names : undefined;
  return [...table.columns.values()]
    .filter((column) => column.generated !== "computed" && !isFilled(column, table))
    .filter(({ name }) => marks?.has(name) !== true)
    .flatMap((column) => {
      const { name } = column;
      return ruleOf(column, { checked: checked.get(name), mayBeEmpty: emptyTexts.has(name) }) ?? [];
    });
}

/** Whether the service or the database provides the column's value. */
function isFilled(column: Column, { primaryKey, columns }: Table): boolean {
  const key = primaryKey.flatMap((name) => columns.get(name) ?? []);
  return auditNames.has(column.name) || (key.includes(column) && !mustSend(column, key));
}

/** One column as a text, several as a list. */
const keyOf = ({ primaryKey }: Table): object => {
  const [only, ...others] = primaryKey;
  return only === undefined ? {} : { primaryKey: others.length === 0 ? only : primaryKey };
};

/** A first sentence that is short enough for a heading. */
function headingFrom(comment: string): string | null {
  const [first = ""] = comment.trim().split(/[\r\n.;]/, 1);
  const heading = first.trim();
  return heading !== "" && heading.length <= 60 ? heading : null;
}

/** The lines of a header, as `masterDetail`. */
function documentOf(
  { lines, table }: Headed,
  { tables }: DraftContext,
): { payload: unknown; guesses: Guess[] } | null {
  if (lines.length === 0) return null;
  const details = lines.flatMap(({ table: detail, foreignKey }) => {
    const found = tables.get(detail.identity);
    if (!found) return [];
    const marks = deletedMarks(detail)?.names;
    // What else belongs to the key of a line, as the product of an order, is a field like any other.
    const fields = [...detail.columns.values()].filter(
      (column) =>
        column.name !== foreignKey.columns[0] &&
        column.generated !== "computed" &&
        marks?.has(column.name) !== true &&
        !isFilled(column, detail),
    );
    const names = new Set(fields.map(({ name }) => name));
    return [
      {
        detailTable: tableNameOf(found.outline),
        foreignKey: foreignKey.columns[0]!,
        detailConfig: {
          ...keyOf(detail),
          fieldName: [...names],
          ...withRules(rulesOf(found).filter(({ name }) => names.has(name))),
        },
      },
    ];
  });
  if (details.length === 0) return null;
  const path = (at: number) => (details.length === 1 ? "masterDetail" : `masterDetail[${at}]`);
  return {
    payload: details.length === 1 ? details[0] : details,
    guesses: details.map(({ detailTable }, at) =>
      weighty(path(at), `${detailTable} holds the lines of ${table.name}`),
    ),
  };
}

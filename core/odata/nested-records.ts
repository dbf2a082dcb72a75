/**
 * `$expand` -> read's `expand`, and records with related ones in them -> the JSON of OData. A list of related records
 * that was cut has the address of its rest; nothing is cut in silence.
 */
import { expand, type Expanded, type Expansion } from "../lists/expand.ts";
import { figuresOf } from "../lists/operations.ts";
import { invalidParameter } from "../values/errors.ts";
import type { Json } from "../values/json.ts";
import { limits } from "../values/limits.ts";
import type { Row } from "../values/row.ts";
import type { Columns } from "../values/types/column.ts";
import type { Key } from "../values/types/key.ts";
import { edmTypeOf, longNumber, type NumberForm, valueWriter, type WriteValue } from "./edm.ts";
import type { ExpandOption, ReadOptions } from "./query-options.ts";
import { foundAt, namesAt, type ODataPlace } from "./places.ts";
import type { SetNames } from "./set-names.ts";

const countAlias = "n";
/** The member of a record that holds how many related records there are; no relation has such a name. */
const countMember = (name: string): string => `${name}@count`;

/** The relations of a request as the statements need them. Rejects as read's `expand` does. */
export function expandedBy(options: readonly ExpandOption[], columns: Columns): Expanded {
  const expanded = expand(columns).read(asked(options));
  const byPath = new Map(withPaths(options, ""));
  return { ...expanded, many: widened(expanded.many, byPath) };
}

function asked(options: readonly ExpandOption[]): Record<string, object> {
  return Object.fromEntries(
    options.map(({ name, isMany, isCountAlone, place, options: inner }) => {
      if (isCountAlone)
        return [
          name,
          {
            operations: [{ function: "count", field: "*", alias: countAlias }],
            where: inner.where,
          },
        ];
      // The key tells where the rest of a list is.
      const select = inner.select && [...new Set([...inner.select, ...keyNames(place)])];
      const further = inner.expand.length > 0 && { expand: asked(inner.expand) };
      const shown = { ...(select !== null && { select }), ...further };
      return [
        name,
        isMany
          ? { ...shown, where: inner.where, sort_columns: inner.sort, limit: limits.expandLimitMax }
          : shown,
      ];
    }),
  );
}

/** The columns of the key that the caller sees. */
function keyNames({ columns, key }: ODataPlace): string[] {
  return key.map(({ name }) => name).filter((name) => columns.has(name));
}

function* withPaths(
  options: readonly ExpandOption[],
  prefix: string,
): Iterable<[string, ExpandOption]> {
  for (const option of options) {
    yield [`${prefix}${option.name}`, option];
    yield* withPaths(option.options.expand, `${prefix}${option.name}.`);
  }
}

/** Each list with one record more than is shown, and the numbers of records that are asked for. */
function widened(
  many: readonly Expansion[],
  options: ReadonlyMap<string, ExpandOption>,
): Expansion[] {
  return many.flatMap((one): Expansion[] => {
    const { what, path, members, steps } = one;
    const option = options.get(path)!;
    if (what.kind === "figures") {
      const last = members.at(-1)!;
      return [{ ...one, members: [...members.slice(0, -1), countMember(last)] }];
    }
    const { skip, isCounted } = option.options;
    const limit = skip + shownOf(option) + 1;
    const list: Expansion = {
      ...one,
      what: { ...what, limit, inside: widened(what.inside, options) },
    };
    if (!isCounted) return [list];
    const outputs = figuresOf(steps.at(-1)!.source.columns).read([
      { function: "count", field: "*", alias: countAlias },
    ]);
    const counted = [...members.slice(0, -1), countMember(members.at(-1)!)];
    return [list, { ...one, members: counted, what: { kind: "figures", outputs } }];
  });
}

/** Records of the list that an answer shows, at most. */
const shownOf = ({ options: { top, skip } }: ExpandOption): number =>
  top ?? limits.expandLimitMax - skip;

/** What an answer says of the records of a set. */
export interface RecordForm extends NumberForm {
  /** The address of the service document, with a slash at its end. */
  readonly root: string;
}

export type WriteRecord = (record: Readonly<Row>) => string;

/** Writes records as JSON. `key`: of the records themselves. */
export function recordWriter(
  place: ODataPlace,
  { select, expand: options }: Pick<ReadOptions, "select" | "expand">,
  form: RecordForm,
): WriteRecord {
  const shown = select === null ? null : new Set(select);
  const values = namesAt(place)
    .properties.filter(([, { name }]) => shown === null || shown.has(name))
    .map(([property, column]): [prefix: string, name: string, write: WriteValue] => [
      `${JSON.stringify(property)}:`,
      column.name,
      valueWriter(column),
    ]);
  const related = options.map((option) => relatedWriter(option, { place, form }));
  return (record) => {
    const members: string[] = [];
    for (const [prefix, name, write] of values)
      members.push(prefix + write(record[name] ?? null, form));
    for (const write of related) members.push(...write(record));
    return `{${members.join(",")}}`;
  };
}

/** `(name,city(name))`: what a context says of a selection; empty without one. */
export function selectedNames(
  { names }: ODataPlace,
  { select, expand: options }: Pick<ReadOptions, "select" | "expand">,
): string {
  if (select === null) return "";
  const own = select.map((name) => names.properties.get(name)!);
  const related = options
    .filter(({ isCountAlone }) => !isCountAlone)
    .map(({ name, place, options: inner }) => `${name}${selectedNames(place, inner)}`);
  return `(${[...own, ...related].join(",")})`;
}

/** Gives the members of a record that a relation makes. */
function relatedWriter(
  option: ExpandOption,
  { place, form }: { place: ODataPlace; form: RecordForm },
): (record: Readonly<Row>) => string[] {
  const { name, isMany, isCountAlone, options } = option;
  const counted = (record: Readonly<Row>): string[] => {
    const figures = record[countMember(name)] as Record<string, Json> | undefined;
    const count = longNumber(figures?.[countAlias] ?? 0, form);
    return [`${JSON.stringify(`${name}@odata.count`)}:${count}`];
  };
  if (isCountAlone) return counted;
  const write = recordWriter(option.place, options, form);
  const member = `${JSON.stringify(name)}:`;
  if (!isMany)
    return (record) => {
      const one = (record[name] ?? null) as Row | null;
      return [member + (one === null ? "null" : write(one))];
    };
  return (record) => {
    const all = (record[name] ?? []) as Row[];
    const end = options.skip + shownOf(option);
    const list = all.slice(options.skip, end);
    const isCut = options.top === null && all.length > end;
    return [
      ...(options.isCounted ? counted(record) : []),
      `${member}[${list.map(write).join(",")}]`,
      ...(isCut ? [restOf(option, { place, record, end, form })] : []),
    ];
  };
}

/** The address of the records of a list that an answer has no room for. */
function restOf(
  { name, sent }: ExpandOption,
  {
    place,
    record,
    end,
    form,
  }: { place: ODataPlace; record: Readonly<Row>; end: number; form: RecordForm },
): string {
  const { names, key, columns } = place;
  if (key.length === 0 || !key.every((one) => columns.has(one.name)))
    throw invalidParameter(
      `A record has more than ${limits.expandLimitMax} of ${name}, and no key by which the rest could be asked for; use $top in $expand`,
    );
  const options = { ...sent, $skip: String(end) };
  const address = `${form.root}${recordAddress(record, names, key)}/${name}?${queryOf(options)}`;
  return `${JSON.stringify(`${name}@odata.nextLink`)}:${JSON.stringify(address)}`;
}

/** `orders(5)`, or `lines(order_id=5,line=2)`. */
export function recordAddress(
  record: Readonly<Row>,
  { set, properties }: SetNames,
  key: Key,
): string {
  const values = key.map((column) => {
    const value = record[column.name] ?? null;
    const isQuoted = edmTypeOf(column).name === "Edm.String";
    const text = isQuoted ? `'${String(value).replaceAll("'", "''")}'` : String(value);
    return [properties.get(column.name)!, encodeURIComponent(text)] as const;
  });
  const inner =
    values.length === 1
      ? values[0]![1]
      : values.map(([property, text]) => `${encodeURIComponent(property)}=${text}`).join(",");
  return `${encodeURIComponent(set)}(${inner})`;
}

/** A query string. The dollar signs stay readable. */
export const queryOf = (options: Readonly<Record<string, unknown>>): string =>
  Object.entries(options)
    .map(
      ([name, value]) =>
        `${encodeURIComponent(name).replaceAll("%24", "$")}=${encodeURIComponent(String(value))}`,
    )
    .join("&");

/** The related records of one relation, without options: for an address that ends with its name. */
export function relationOption(
  name: string,
  place: ODataPlace,
  options: ReadOptions,
): ExpandOption {
  const found = foundAt({ segments: [name] }, place, "the address");
  if (found.kind === "column") throw invalidParameter(`"${name.slice(0, 100)}" is no relation`);
  const { relation, place: there, key } = found;
  return {
    name: key,
    isMany: relation.isMany,
    isCountAlone: false,
    place: there,
    options,
    sent: {},
  };
}

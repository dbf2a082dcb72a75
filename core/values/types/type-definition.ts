/**
 * Everything about one type of column. Each type is one object of this form (`column-types.ts` has them all), and code
 * that treats types differently asks that object: no other file of core lists types.
 */
import type { Column, ColumnType } from "./column.ts";
import type { JsonSchema } from "../json-schema.ts";
import type { Json } from "../json.ts";
import type { Scalar } from "../scalar.ts";

/** A value in the form of its column, or a sentence about what it must be, shown for the field. */
export type Accepted =
  | { readonly ok: true; readonly value: Scalar }
  | { readonly ok: false; readonly message: string };

export const accepted = (value: Scalar): Accepted => ({ ok: true, value });
export const refused = (message: string): Accepted => ({ ok: false, message });

/**
 * `decimals` of project.json: whether numbers that may be long are shown as numbers where that is exact, or always as
 * text.
 */
export type Decimals = "number" | "string";

/** A cell of a spreadsheet that holds something. */
export type FilledCell = string | number | boolean;

/** What can be computed with the values of a type. */
export interface Arithmetic {
  /** Every digit is preserved: formulas and totals of documents accept no other columns. */
  readonly isExact: boolean;
  /** There are no digits after the decimal point. */
  readonly isWhole: boolean;
  /** Digits that are always preserved, if the column itself sets no limit; null = all. */
  readonly digitsKept: number | null;
  /** The smallest and largest value that the column holds, as canonical digits; null = no limit known. */
  readonly rangeOf: (column: Column) => { readonly min: string; readonly max: string } | null;
  /** Canonical digits in the form that statements carry. */
  readonly fromDigits: (digits: string) => Scalar;
}

/** The cells of a spreadsheet in which a person writes values of a column. */
export interface CellForm {
  /** What a cell is to hold, as the beginning of a sentence: `Whole number from 0 to 255`. */
  readonly words: string;
  /**
   * Their number format, as Excel writes it: it keeps what is typed, and shows it in the usual way. Null: Excel
   * decides.
   */
  readonly format: string | null;
  /** Characters of a usual value. */
  readonly width: number;
}

/** The format of cells that store a text as typed, with its leading zeros. */
export const textFormat = "@";

/** A type of OData's Entity Data Model. `facets`: attributes of a property, as CSDL writes them. */
export interface EdmType {
  readonly name: `Edm.${string}`;
  readonly facets: Readonly<Record<string, string>>;
}

/** `edmType` of types without facets. */
export const edm =
  (name: EdmType["name"]): TypeDefinition["edmType"] =>
  () => ({ name, facets: {} });

export const lengthFacet = (length: number | null): EdmType["facets"] =>
  length === null ? {} : { MaxLength: String(length) };

/** The values that the constraint `strict` accepts, for a type that also has other forms. */
export interface StrictForm {
  readonly jsonType: "string" | "number" | "boolean";
  readonly holds: (value: unknown) => boolean;
  /** Follows "must be". */
  readonly expected: string;
}

export interface TypeDefinition {
  /**
   * The value of a JSON document, never null, for a column of this type. What the column cannot hold exactly is
   * refused.
   */
  readonly accept: (column: Column, value: unknown) => Accepted;
  /** What answers show of the values that `accept` makes. Without null. */
  readonly shownSchema: (column: Column, decimals: Decimals) => JsonSchema;
  /** The schema of allowed values in a body: it refuses nothing that `accept` accepts. Without null. */
  readonly acceptedSchema: (column: Column) => JsonSchema;
  /** The form in statements of a value that an answer showed (a key that a client sends back). */
  readonly fromShown: (shown: Json) => Scalar;
  /** As OData knows the column. */
  readonly edmType: (column: Column) => EdmType;

  /** Names of the type in `fieldValidation`; empty = no rule can use it. */
  readonly ruleNames: readonly string[];
  /** What `strict` accepts; null = there is only one JSON form. */
  readonly strict: StrictForm | null;
  /** What `min` and `max` of a rule of this type are. */
  readonly bounds: "number" | "date" | "time";
  /** Converts a value for a column of this type, after the different type of its rule accepted it as `typed`. */
  readonly fromOther: (sent: unknown, typed: Scalar) => unknown;
  /** The value of a spreadsheet cell, for the rules to check; undefined = the cell is empty. */
  readonly fromCell: (cell: FilledCell, column: Column) => unknown;
  /** How a template of an import describes its cells. */
  readonly cellForm: (column: Column) => CellForm;
  /** In spreadsheets its values are words: yes, no, and those that the export writes. */
  readonly hasWords: boolean;
  /**
   * A text from a grid's filter, in a form that `accept` accepts: pickers send other forms, and the text may be half
   * typed.
   */
  readonly fromFilter: (text: string) => string;
  /** How export files show it; null = each value in its own form. */
  readonly exportedAs: "text" | "number" | "boolean" | "date" | "datetime" | null;

  /** What tables for people (exports, csv) show of a value that answers show; null = the same. */
  readonly inTables: ((shown: Json) => Json) | null;

  /** Conditions compare it with values in every way; false = only as `fromMember` allows. */
  readonly isCompared: boolean;
  /** Whether the first value, in the form of statements, is greater. */
  readonly isAbove: (left: Scalar, right: Scalar) => boolean;
  /** Lists can be sorted by it. */
  readonly isSorted: boolean;
  /** Aggregate can make groups of equal values. */
  readonly isGrouped: boolean;
  /** Aggregate can group it by spans of time: of days, or also of hours; null = it is no time. */
  readonly spans: "days" | "hours" | null;
  /** Aggregate can give its smallest and largest value. */
  readonly hasExtremes: boolean;
  /** What sums, averages, formulas and adjust need; null = not a type of numbers. */
  readonly arithmetic: Arithmetic | null;
  /** Two columns of it can be compared with each other on every engine, as joins do. */
  readonly isJoined: boolean;
  /** Its values have a text: to be searched in, and to be the label of a lookup. */
  readonly hasText: boolean;
  /**
   * For types whose values contain others: which value to look for in a stored one, from the member that a condition
   * names. Such values are compared as a whole; patterns and searches are refused. Null: they contain none.
   */
  readonly fromMember: ((member: unknown) => unknown) | null;
  /**
   * For values without text: the words, in lower case, by which a grid's searches find each value; null = they are not
   * found.
   */
  readonly wordsOf: ReadonlyMap<Scalar, readonly string[]> | null;
  /** An import can find rows by it. */
  readonly findsRows: boolean;

  /** Its values are texts, the empty one among them. */
  readonly isText: boolean;
  /** Its values are instants: a bare date means a whole day, and the service writes the time of changes with it. */
  readonly isInstant: boolean;
  /** Only the database can read its texts: it may refuse one that `accept` accepted. */
  readonly isForeign: boolean;
  /** Some database takes two of its values for one in sorting, by case, accents or blanks at the end. */
  readonly isFolded: boolean;
  /** A new key is a UUID that the service makes. */
  readonly takesNewId: boolean;
  /** A stored value is shown as it was given, so it need not be read back. */
  readonly isShownAsGiven: boolean;
}

/** As `Record<ColumnType, TypeDefinition>`, for the file that has them all. */
export type TypeDefinitions = Readonly<Record<ColumnType, TypeDefinition>>;

/** The members that each type defines itself. */
type Own = "accept" | "shownSchema" | "acceptedSchema" | "ruleNames" | "cellForm";

/** All the rest, as several types have it. */
export type TypeDefaults = Omit<TypeDefinition, Own>;

/** A type by what differs from the defaults. */
export const defineType = (
  defaults: TypeDefaults,
  own: Pick<TypeDefinition, Own> & Partial<TypeDefinition>,
): TypeDefinition => ({ ...defaults, ...own });

/** `fromOther` and `fromFilter` of types that change nothing. */
export const asItIs = <Value>(value: Value): Value => value;

/** `fromCell` of types that ignore blanks around a text; `read` gets the trimmed text, never empty. */
export const trimmedCell =
  (read: (cell: FilledCell, column: Column) => unknown): TypeDefinition["fromCell"] =>
  (cell, column) => {
    const value = typeof cell === "string" ? cell.trim() : cell;
    return value === "" ? undefined : read(value, column);
  };

/** Values that statements carry as the text that answers show. They can be compared, sorted and searched. */
export const usual: TypeDefaults = {
  fromShown: String,
  edmType: edm("Edm.String"),
  strict: null,
  bounds: "number",
  fromOther: asItIs,
  fromCell: trimmedCell(asItIs),
  hasWords: false,
  fromFilter: asItIs,
  exportedAs: "text",
  inTables: null,
  isCompared: true,
  isAbove: (left, right) => left! > right!,
  isSorted: true,
  isGrouped: true,
  spans: null,
  hasExtremes: true,
  arithmetic: null,
  isJoined: true,
  hasText: true,
  fromMember: null,
  wordsOf: null,
  findsRows: true,
  isText: false,
  isInstant: false,
  isForeign: false,
  isFolded: false,
  takesNewId: false,
  isShownAsGiven: false,
};

/** Values that lists are neither sorted by nor searched in. */
export const opaque: TypeDefaults = {
  ...usual,
  exportedAs: null,
  isSorted: false,
  isGrouped: false,
  hasExtremes: false,
  isJoined: false,
  hasText: false,
  findsRows: false,
};

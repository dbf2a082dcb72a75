/**
 * What there is to say of a type of column. Each type is one object of this form (`column-types.ts` has them all), and
 * whoever treats types differently asks that object: no other file of core lists types.
 */
import type { Column, ColumnType } from "./column.ts";
import type { JsonSchema } from "./json-schema.ts";
import type { Json } from "./json.ts";
import type { Scalar } from "./scalar.ts";

/** A value in the form of its column, or a plain sentence about what it must be, to stand under the field's name. */
export type Accepted =
  | { readonly ok: true; readonly value: Scalar }
  | { readonly ok: false; readonly message: string };

export const accepted = (value: Scalar): Accepted => ({ ok: true, value });
export const refused = (message: string): Accepted => ({ ok: false, message });

/** `decimals` of project.json: whether numbers that may be long are shown as numbers where that is exact, or always as text. */
export type Decimals = "number" | "string";

/** A cell of a spreadsheet that holds something. */
export type FilledCell = string | number | boolean;

/** What can be computed with the values of a type. */
export interface Arithmetic {
  /** Every digit is kept: formulas and totals of documents take no other columns. */
  readonly isExact: boolean;
  /** There are no digits after the decimal point. */
  readonly isWhole: boolean;
  /** Digits that are kept whatever they are, where the column itself says nothing of them; null = all. */
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
  /** Their number format, as Excel writes it: it keeps what is typed, and shows it as people do. Null: Excel decides. */
  readonly format: string | null;
  /** Characters of a usual value. */
  readonly width: number;
}

/** The format of cells that keep a text as it is typed, with the zeros at its beginning. */
export const textFormat = "@";

/** What the constraint `strict` takes of a type that also takes other forms. */
export interface StrictForm {
  readonly jsonType: "string" | "number" | "boolean";
  readonly holds: (value: unknown) => boolean;
  /** Goes behind "must be". */
  readonly expected: string;
}

export interface TypeDefinition {
  /** The value of a JSON document, never null, for a column of this type. What the column cannot hold exactly is refused. */
  readonly accept: (column: Column, value: unknown) => Accepted;
  /** What answers show of the values that `accept` makes. Without null. */
  readonly shownSchema: (column: Column, decimals: Decimals) => JsonSchema;
  /** What a body may hold: it refuses nothing that `accept` takes. Without null. */
  readonly acceptedSchema: (column: Column) => JsonSchema;
  /** The form in statements of a value that an answer shows (a key on its way back). */
  readonly fromShown: (shown: Json) => Scalar;

  /** What `fieldValidation` calls the type; none = no rule can ask for it. */
  readonly ruleNames: readonly string[];
  /** What `strict` takes; null = there is one JSON form only. */
  readonly strict: StrictForm | null;
  /** What `min` and `max` of a rule of this type are. */
  readonly bounds: "number" | "date" | "time";
  /** What a column of this type takes of a value that the type of its rule, which is another one, has accepted as `typed`. */
  readonly fromOther: (sent: unknown, typed: Scalar) => unknown;
  /** The value that a cell of a spreadsheet stands for, for the rules to judge; undefined = the cell is empty. */
  readonly fromCell: (cell: FilledCell, column: Column) => unknown;
  /** What a template of an import says of its cells. */
  readonly cellForm: (column: Column) => CellForm;
  /** In spreadsheets its values are words: yes, no, and those that the export writes. */
  readonly hasWords: boolean;
  /** A text from a grid's filter, as `accept` takes it: pickers send other forms, and a person may still be typing. */
  readonly fromFilter: (text: string) => string;
  /** How files of exports show it; null = each value as what it is. */
  readonly exportedAs: "text" | "number" | "boolean" | "date" | "datetime" | null;

  /** Conditions compare it with values in every way; false = as `fromMember` says. */
  readonly isCompared: boolean;
  /** Whether one value, in the form of statements, comes after another. */
  readonly isAbove: (left: Scalar, right: Scalar) => boolean;
  /** Lists can be sorted by it. */
  readonly isSorted: boolean;
  /** Aggregate can make groups of equal values. */
  readonly isGrouped: boolean;
  /** Aggregate can give its smallest and largest value. */
  readonly hasExtremes: boolean;
  /** What sums, averages, formulas and adjust need; null = it holds no numbers. */
  readonly arithmetic: Arithmetic | null;
  /** Two columns of it can be compared with each other on every engine, as joins do. */
  readonly isJoined: boolean;
  /** Its values have a text: to be searched in, and to be the label of a lookup. */
  readonly hasText: boolean;
  /**
   * Where its values hold others: of which value to ask whether it is part of a stored one, from the member that a condition looks for. Such
   * values are compared as a whole; patterns and searches are refused. Null: they hold none.
   */
  readonly fromMember: ((member: unknown) => unknown) | null;
  /** Where values have no text: the words, in lower case, by which a grid's searches find each value; null = they are not found. */
  readonly wordsOf: ReadonlyMap<Scalar, readonly string[]> | null;
  /** An import can find rows by it. */
  readonly findsRows: boolean;

  /** Its values are texts, the empty one among them. */
  readonly isText: boolean;
  /** Its values are moments: a bare date means a whole day, and the service stamps changes with it. */
  readonly isInstant: boolean;
  /** Only the database can read its texts: it may refuse one that `accept` took. */
  readonly isForeign: boolean;
  /** Some database takes two of its values for one, by case, accents or blanks at the end. */
  readonly isFolded: boolean;
  /** A new key is a UUID that the service makes. */
  readonly takesNewId: boolean;
  /** A stored value is shown as it was given: nobody has to read it back. */
  readonly isShownAsGiven: boolean;
}

/** As `Record<ColumnType, TypeDefinition>`, for the file that has them all. */
export type TypeDefinitions = Readonly<Record<ColumnType, TypeDefinition>>;

/** `isAbove` of types whose form in statements is in order by nature. */
export const isAboveByNature = (left: Scalar, right: Scalar): boolean => left! > right!;

/** `fromOther` and `fromFilter` of types that change nothing. */
export const asItIs = <Value>(value: Value): Value => value;

/** `fromShown` of types whose form in statements is the text that is shown. */
export const textOfShown = (shown: Json): Scalar => String(shown);

/** `fromCell` of types for which blanks around a text say nothing; `read` gets the rest of it, never empty. */
export const trimmedCell =
  (read: (cell: FilledCell, column: Column) => unknown): TypeDefinition["fromCell"] =>
  (cell, column) => {
    const value = typeof cell === "string" ? cell.trim() : cell;
    return value === "" ? undefined : read(value, column);
  };

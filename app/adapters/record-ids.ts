/**
 * react-admin and Refine know a record by its `id`. With a key of one column, the id is its value. With several, it is a
 * text of all of them, as `A1,2`: whatever is not a letter, a digit, `_`, `.` or `-` becomes the hexadecimal number of
 * the character between two `~`. So an id needs no escapes in an address, which routers take back differently.
 */

// oxlint-disable-next-line no-explicit-any -- only the project knows the shape of its records
export type Fields = Record<string, any>;

/** A record for a page, which gives it a type of its own. */
// oxlint-disable-next-line no-explicit-any -- that type is a parameter of the frameworks' interfaces
export type ShownRecord = any;

/** The columns that name a record, of an endpoint of this name. */
export interface Keyed {
  readonly name: string;
  readonly key: readonly string[];
}

export type FieldCondition = Group | { key: string; operator: string; [member: string]: unknown };

/** `where` as read takes it. */
export interface Group {
  logic?: "AND" | "OR";
  conditions: FieldCondition[];
}

/** Throws an Error where the record has no key, or the caller does not see it. */
export function idOf(record: Fields, { name, key }: Keyed): string | number {
  const absent = key.filter((column) => (record[column] ?? null) === null);
  if (key.length === 0 || absent.length > 0) {
    const reason = absent.length > 0 ? `came without ${absent.join(", ")}` : "has no key";
    throw new Error(
      `A record of ${name} ${reason}; keys can name the columns that tell them apart`,
    );
  }
  const [value] = key.map((column) => record[column]);
  return key.length === 1 ? value : key.map((column) => escaped(String(record[column]))).join(",");
}

/** The values of the key; of several columns, all are texts. Throws an Error for an id that cannot be one. */
export function keyOfId(id: unknown, { name, key }: Keyed): Fields {
  const values = key.length === 1 ? [id] : String(id).split(",").map(unescaped);
  if (values.length === key.length)
    return Object.fromEntries(key.map((column, at) => [column, values[at]]));
  throw new Error(`"${String(id)}" is no id of ${name}, whose key is ${key.join(", ")}`);
}

export function conditionOnIds(ids: readonly unknown[], keyed: Keyed): FieldCondition {
  const [only = ""] = keyed.key;
  if (keyed.key.length === 1) return { key: only, operator: "IN", value: [...ids] };
  const conditions = ids.map((id) => ({
    logic: "AND" as const,
    conditions: keyConditions(id, keyed),
  }));
  return { logic: "OR", conditions };
}

export const keyConditions = (
  id: unknown,
  keyed: Keyed,
): { key: string; operator: "="; value: unknown }[] =>
  Object.entries(keyOfId(id, keyed)).map(([key, value]) => ({ key, operator: "=", value }));

const escaped = (text: string): string =>
  text.replace(/[^\w.-]/gu, (character) => `~${character.codePointAt(0)!.toString(16)}~`);

const unescaped = (text: string): string =>
  text.replace(/~([\da-f]{1,6})~/g, (_, digits: string) =>
    String.fromCodePoint(Math.min(Number.parseInt(digits, 16), 0x10_ff_ff)),
  );

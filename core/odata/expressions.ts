/**
 * The language of `$filter`, `$orderby` and keys: a text -> a tree. Names are not looked up here. What the service does
 * not offer is refused with `notImplemented` and its name, a text that is no expression with Invalid parameter.
 */
import { AppError, invalidParameter } from "../values/errors.ts";
import { limits } from "../values/limits.ts";

/** A value as the columns' types read it: numbers keep their digits. */
export type Literal =
  | { readonly kind: "literal"; readonly form: "null" }
  | { readonly kind: "literal"; readonly form: "boolean"; readonly value: boolean }
  | {
      readonly kind: "literal";
      readonly form: "text" | "number" | "date" | "instant" | "time" | "guid" | "binary";
      readonly value: string;
    };

export interface PathExpression {
  readonly kind: "path";
  readonly segments: readonly string[];
}

export interface CallExpression {
  readonly kind: "call";
  readonly name: string;
  readonly operands: readonly Expression[];
}

export const comparisonNames = ["eq", "ne", "gt", "ge", "lt", "le"] as const;
export type ComparisonName = (typeof comparisonNames)[number];

export type Expression =
  | Literal
  | PathExpression
  | CallExpression
  | { readonly kind: "and" | "or"; readonly members: readonly Expression[] }
  | { readonly kind: "not"; readonly of: Expression }
  | {
      readonly kind: "compare";
      readonly operator: ComparisonName;
      readonly left: Expression;
      readonly right: Expression;
    }
  | { readonly kind: "in"; readonly of: Expression; readonly values: readonly Literal[] }
  | {
      readonly kind: "any" | "all";
      readonly path: PathExpression;
      /** Empty: there is no condition. */
      readonly variable: string;
      readonly where: Expression | null;
    };

/** `what`: as it stands in the request. */
export const notOffered = (what: string): AppError =>
  new AppError("notImplemented", `${what} is not supported`);

/** A whole condition. `option`: the name of the query option, for messages. */
export function readExpression(text: string, option: string): Expression {
  const reader = new Reader(text, option);
  const expression = reader.either();
  reader.end();
  return expression;
}

/** `name desc, customer/city/name`. */
export function readOrder(
  text: string,
  option: string,
): { readonly path: PathExpression; readonly isDescending: boolean }[] {
  const reader = new Reader(text, option);
  const terms: { path: PathExpression; isDescending: boolean }[] = [];
  do {
    const path = reader.primary();
    if (path.kind === "call") throw notOffered(`${path.name} in ${option}`);
    if (path.kind !== "path") throw reader.fault();
    const direction = reader.word("asc", "desc");
    terms.push({ path, isDescending: direction === "desc" });
  } while (reader.takes(","));
  reader.end();
  return terms;
}

/** `5`, or `order_no='A1',line=2`: the values by name; that of a lone value is empty. */
export function readKeyValues(text: string): Map<string, Literal> {
  const reader = new Reader(text, "the key");
  const values = new Map<string, Literal>();
  do {
    const first = reader.primary();
    if (first.kind === "literal") {
      if (values.size > 0) throw reader.fault();
      values.set("", first);
      continue;
    }
    if (first.kind !== "path" || first.segments.length !== 1 || !reader.takes("="))
      throw reader.noValue(first);
    const value = reader.primary();
    const [name] = first.segments as [string];
    if (value.kind !== "literal") throw reader.noValue(value);
    if (values.has(name)) throw reader.fault();
    values.set(name, value);
  } while (reader.takes(","));
  reader.end();
  if (values.has("") && values.size > 1) throw reader.fault();
  return values;
}

const name =
  /[\p{L}\p{Nl}_$][\p{L}\p{Nl}\p{Nd}\p{Mn}\p{Mc}\p{Cf}_]*(?:\.[\p{L}\p{Nl}_][\p{L}\p{Nl}\p{Nd}\p{Mn}\p{Mc}\p{Cf}_]*)*/uy;

/** Literals without quotes; longer forms come before those that they begin with. */
const literals: readonly (readonly [Exclude<Literal["form"], "null" | "boolean">, RegExp])[] = [
  ["guid", /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/iy],
  // A plus sign that was not encoded has become a blank.
  ["instant", /\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,12})?)?(?:Z|[-+ ]\d\d:\d\d)?/iy],
  ["date", /\d{4}-\d\d-\d\d/y],
  ["time", /\d\d:\d\d(?::\d\d(?:\.\d{1,12})?)?/y],
  ["number", /[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?[mdfl]?(?![\p{L}\p{Nd}_])/iuy],
];

/** Literals that say their type, as older clients write them all. */
const typed: ReadonlyMap<string, Exclude<Literal["form"], "null" | "boolean">> = new Map([
  ["binary", "binary"],
  ["x", "binary"],
  ["guid", "guid"],
  ["date", "date"],
  ["datetime", "instant"],
  ["datetimeoffset", "instant"],
  ["timeofday", "time"],
] as const);

const arithmetic: ReadonlySet<string> = new Set([
  "add",
  "sub",
  "mul",
  "div",
  "divby",
  "mod",
  "has",
]);

class Reader {
  readonly text: string;
  readonly option: string;
  #at = 0;
  #depth = 0;

  constructor(text: string, option: string) {
    this.text = text;
    this.option = option;
  }

  fault(): AppError {
    const rest = this.text.slice(this.#at, this.#at + 40);
    return invalidParameter(
      rest === ""
        ? `${this.option} ends too early`
        : `${this.option} cannot be read from ${JSON.stringify(rest.toWellFormed())} on`,
    );
  }

  /** The expression, which was just read, stands where a value must: usually a text without quotation marks. */
  noValue(found: Expression): AppError {
    if (found.kind !== "path") return this.fault();
    const text = found.segments.join("/").slice(0, 40).toWellFormed();
    return invalidParameter(
      `${JSON.stringify(text)} in ${this.option} is no value; texts stand in quotation marks: '${text}'`,
    );
  }

  end(): void {
    this.#skip();
    if (this.#at < this.text.length) throw this.fault();
  }

  /** Whether the sign is next; it is passed over then. */
  takes(sign: string): boolean {
    this.#skip();
    if (!this.text.startsWith(sign, this.#at)) return false;
    this.#at += sign.length;
    return true;
  }

  /** The word of these that is next; null: none of them is. */
  word<Word extends string>(...words: readonly Word[]): Word | null {
    const begin = this.#at;
    const found = this.#match(name);
    if (found !== null && (words as readonly string[]).includes(found)) return found as Word;
    this.#at = begin;
    return null;
  }

  either(): Expression {
    if (++this.#depth > limits.jsonDepthMax)
      throw invalidParameter(`${this.option} is nested too deeply`);
    const members = [this.#both()];
    while (this.word("or") !== null) members.push(this.#both());
    this.#depth--;
    return members.length === 1 ? members[0]! : { kind: "or", members };
  }

  #both(): Expression {
    const members = [this.#negated()];
    while (this.word("and") !== null) members.push(this.#negated());
    return members.length === 1 ? members[0]! : { kind: "and", members };
  }

  #negated(): Expression {
    if (this.word("not") === null) return this.#comparison();
    if (++this.#depth > limits.jsonDepthMax)
      throw invalidParameter(`${this.option} is nested too deeply`);
    const of = this.#negated();
    this.#depth--;
    return { kind: "not", of };
  }

  #comparison(): Expression {
    const left = this.primary();
    if (this.word("in") !== null) return { kind: "in", of: left, values: this.#list() };
    const operator = this.word(...comparisonNames);
    if (operator === null) {
      const other = this.word(...arithmetic);
      if (other !== null) throw notOffered(`${other} in ${this.option}`);
      return left;
    }
    const right = this.primary();
    return { kind: "compare", operator, left, right };
  }

  #list(): Literal[] {
    if (!this.takes("(")) throw this.fault();
    const values: Literal[] = [];
    if (this.takes(")")) return values;
    do {
      const value = this.primary();
      if (value.kind !== "literal") throw this.noValue(value);
      values.push(value);
    } while (this.takes(","));
    if (!this.takes(")")) throw this.fault();
    return values;
  }

  primary(): Expression {
    if (this.takes("(")) {
      const inner = this.either();
      if (!this.takes(")")) throw this.fault();
      return inner;
    }
    const literal = this.#literal();
    if (literal !== null) return literal;
    if (this.takes("@")) throw notOffered(`A parameter alias in ${this.option}`);
    const first = this.#match(name);
    if (first === null)
      throw this.text[this.#at] === "-" ? notOffered("A minus sign") : this.fault();
    if (this.text.startsWith("(", this.#at)) return this.#call(first);
    if (first.includes(".")) throw notOffered(`The type ${first} in ${this.option}`);
    return this.#path(first);
  }

  #call(called: string): CallExpression {
    this.takes("(");
    const operands: Expression[] = [];
    if (this.takes(")")) return { kind: "call", name: called, operands };
    do operands.push(this.either());
    while (this.takes(","));
    if (!this.takes(")")) throw this.fault();
    return { kind: "call", name: called, operands };
  }

  #path(first: string): Expression {
    const segments = first === "$it" ? [] : [first];
    if (first.startsWith("$") && first !== "$it") throw notOffered(`${first} in ${this.option}`);
    while (this.takes("/")) {
      const next = this.#match(name);
      if (next === null) throw this.fault();
      if (next.startsWith("$")) throw notOffered(`${next} in ${this.option}`);
      if (next.includes(".")) throw notOffered(`The type ${next} in ${this.option}`);
      if (this.text.startsWith("(", this.#at)) {
        if (next !== "any" && next !== "all") throw notOffered(`${next} in ${this.option}`);
        return this.#quantified(next, { kind: "path", segments });
      }
      segments.push(next);
    }
    if (segments.length === 0) throw this.fault();
    return { kind: "path", segments };
  }

  #quantified(kind: "any" | "all", path: PathExpression): Expression {
    this.takes("(");
    if (this.takes(")")) {
      if (kind === "all") throw invalidParameter(`all in ${this.option} needs a condition`);
      return { kind, path, variable: "", where: null };
    }
    const variable = this.#match(name);
    if (variable === null || !this.takes(":")) throw this.fault();
    const where = this.either();
    if (!this.takes(")")) throw this.fault();
    return { kind, path, variable, where };
  }

  #literal(): Literal | null {
    const text = this.#quoted();
    if (text !== null) return { kind: "literal", form: "text", value: text };
    for (const [form, pattern] of literals) {
      const found = this.#match(pattern);
      if (found === null) continue;
      return { kind: "literal", form, value: plain(form, found) };
    }
    const begin = this.#at;
    const word = this.#match(name);
    const form = word === null ? undefined : typed.get(word.toLowerCase());
    if (word === "null") return { kind: "literal", form: "null" };
    if (word === "true" || word === "false")
      return { kind: "literal", form: "boolean", value: word === "true" };
    if (form !== undefined && this.text[this.#at] === "'") {
      const value = this.#quoted()!;
      return { kind: "literal", form, value: plain(form, value) };
    }
    if (word === "duration" && this.text[this.#at] === "'") throw notOffered("A duration");
    this.#at = begin;
    return null;
  }

  /** A text in quotation marks, of which two stand for one. */
  #quoted(): string | null {
    this.#skip();
    if (this.text[this.#at] !== "'") return null;
    let value = "";
    for (let from = this.#at + 1; ;) {
      const end = this.text.indexOf("'", from);
      if (end < 0) throw invalidParameter(`A text in ${this.option} does not end`);
      value += this.text.slice(from, end);
      if (this.text[end + 1] !== "'") {
        this.#at = end + 1;
        return value;
      }
      value += "'";
      from = end + 2;
    }
  }

  #match(pattern: RegExp): string | null {
    this.#skip();
    pattern.lastIndex = this.#at;
    const [found] = pattern.exec(this.text) ?? [];
    if (found === undefined) return null;
    this.#at += found.length;
    return found;
  }

  #skip(): void {
    while (this.text[this.#at] === " " || this.text[this.#at] === "\t") this.#at++;
  }
}

/** As columns accept the value. */
function plain(form: Literal["form"], found: string): string {
  if (form === "number") return found.replace(/[mdfl]$/i, "").replace(/^\+/, "");
  if (form === "instant") return found.replace(" ", "+");
  return found;
}

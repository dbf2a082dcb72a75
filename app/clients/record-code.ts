/** The part of a generated client that infers what an answer shows of records from what the request asks for. */
import type { OpenApiDocument } from "../../core/openapi/describe.ts";
import type { Json } from "../../core/values/json.ts";
import { arrayIn, memberOf, resolved, textOf } from "./document-operations.ts";

/** The signature of a call: what its body has beside, and its answer, made of the one that follows from the body. */
function signature(beside: string, answerOf: (answer: string) => string): string {
  const answer = answerOf("AnswerOf<Types, Select, Expand, Versions>");
  return `<
    const Select extends AskedIn<Types["body"], "select"> | undefined = undefined,
    const Expand extends AskedIn<Types["body"], "expand"> | undefined = undefined,
    const Versions extends boolean | null | undefined = undefined,
  >(
    body: BodyOf<Types, Select, Expand, Versions>${beside},
    options?: CallOptions<Types["headers"]>,
  ): Promise<Result<${answer}, Types["errors"]>>;`;
}

/**
 * `AnsweredRecord` depends on the literal names in `select` and `expand`. Where they are only known while the program runs, a
 * record is what the document says: each member may be absent.
 */
export const recordRuntime = `/** What the answers of an action are made of: its body, its answer, its errors, and the relations that records have. */
interface RecordTypes {
  readonly body: object;
  readonly answer: { data?: unknown };
  readonly errors: string;
  readonly headers: string;
  /** Null: the answer does not follow from the body. */
  readonly related: string | null;
}

type BodyOf<Types extends RecordTypes, Select, Expand, Versions> = Omit<
  Types["body"],
  "select" | "expand" | "versions"
> & { select?: Select; expand?: Expand; versions?: Versions };

type AskedIn<Body, Name extends string> = Body extends { [Member in Name]?: infer Value } ? Value : never;

/** The names in a list; "*" without one; null if they are not known when the program is compiled. */
type NamesIn<List> = List extends readonly []
  ? "*"
  : List extends readonly string[]
  ? number extends List["length"]
    ? null
    : List[number]
  : "*";

/** The same, as editors show it best. */
type Plain<Type> = { [Member in keyof Type]: Type[Member] };

/** The columns, each present. */
type Columns<Row, Name> = {
  [Column in keyof Row as string extends Column
    ? never
    : "*" extends Name
      ? Column
      : Extract<Column, Name>]-?: Row[Column];
};

type Beyond<Name, Relation> = Relation extends string
  ? Name extends \`\${Relation}.\${infer Column}\`
    ? Column
    : never
  : never;

/** Null: it is not expanded. */
type OptionsFor<Expand, Relation> = Expand extends readonly string[]
  ? Relation extends Expand[number]
    ? { select?: undefined }
    : null
  : Relation extends keyof Expand
    ? Expand[Relation]
    : null;

type ExpandedNames<Options> = Options extends null
  ? never
  : Options extends { select?: infer Select }
    ? NamesIn<Select>
    : "*";

type WithNested<Options> = Options extends { expand: infer Nested }
  ? { [Name in Nested extends readonly string[] ? Nested[number] : keyof Nested]: unknown }
  : unknown;

type RelatedRecords<Records, Options, Name> = Records extends readonly (infer Row)[]
  ? Options extends { operations: readonly unknown[] }
    ? never
    : (Columns<Row, Name> & WithNested<Options>)[]
  : Records extends null
    ? null
    : Options extends { operations: readonly unknown[] }
      ? Records
      : Columns<Records, Name> & WithNested<Options>;

/** Figures are the second form of a relation to many. */
type RelatedValue<Records, Options, Name> = Extract<Records, readonly unknown[]> extends never
  ? RelatedRecords<Records, Options, Name>
  : Options extends { operations: readonly unknown[] }
    ? Exclude<Records, readonly unknown[]>
    : RelatedRecords<Extract<Records, readonly unknown[]>, Options, Name>;

type RelatedNames<Names, Expand, Relation> =
  | Beyond<Names, Relation>
  | ExpandedNames<OptionsFor<Expand, Relation>>;

type Relations<Row, Related, Names, Expand> = {
  [Relation in keyof Row & Related as [RelatedNames<Names, Expand, Relation>] extends [never]
    ? never
    : Relation]-?: RelatedValue<
    Exclude<Row[Relation], undefined>,
    OptionsFor<Expand, Relation>,
    RelatedNames<Names, Expand, Relation>
  >;
};

type IsUnknown<Select, Expand> = null extends NamesIn<Select> | NamesIn<Expand> ? true : false;

/** A record as the answer shows it. */
export type AnsweredRecord<Row, Related, Select, Expand, Versions> =
  IsUnknown<Select, Expand> extends true
    ? Row
    : Plain<
        Columns<Omit<Row, (Related & string) | "_version">, NamesIn<Select>> &
          Relations<Row, Related, NamesIn<Select>, Expand> &
          (Versions extends true ? { _version: string } : unknown)
      >;

type ShownData<Data, Related, Select, Expand, Versions> = Data extends readonly (infer Row)[]
  ? AnsweredRecord<Row, Related, Select, Expand, Versions>[]
  : Data extends null
    ? null
    : AnsweredRecord<Data, Related, Select, Expand, Versions>;

type AnswerOf<Types extends RecordTypes, Select, Expand, Versions> = null extends Types["related"]
  ? Types["answer"]
  : {
      [Member in keyof Types["answer"]]: Member extends "data"
        ? ShownData<Types["answer"]["data"], Types["related"], Select, Expand, Versions>
        : Types["answer"][Member];
    };

export interface RecordCall<Types extends RecordTypes> {
  ${signature("", (answer) => answer)}
}

const recordCall =
  <Types extends RecordTypes>(client: ClientOptions, sent: Sent): RecordCall<Types> =>
  (body: unknown, options?: CallOptions<Types["headers"]>) =>
    call<never, Types["errors"]>(client, { ...sent, body, options });
`;

/** The part for lists with pages; the names are those of the types of their pagination. */
export const pagedRuntime = (
  numbered: string,
  byCursor: string,
): string => `/** With \`page\` the answer is a page by its number, with \`cursor\` one behind a cursor, and else it has no pagination. */
export interface PagedCall<Types extends RecordTypes> {
  ${signature(" & { page: number; cursor?: false | null }", (answer) => `${answer} & { pagination: ${numbered} }`)}
  ${signature(" & { cursor: true | string; page?: null }", (answer) => `${answer} & { pagination: ${byCursor} }`)}
  ${signature(" & { page?: null; cursor?: false | null }", (answer) => `Omit<${answer}, "pagination">`)}
  ${signature("", (answer) => answer)}
}

const pagedCall =
  <Types extends RecordTypes>(client: ClientOptions, sent: Sent): PagedCall<Types> =>
  (body: unknown, options?: CallOptions<Types["headers"]>) =>
    call<never, Types["errors"]>(client, { ...sent, body, options });
`;

/** The names of the relations that a body takes in `expand`; null: its answer does not depend on `select`. */
export function relationsIn(document: OpenApiDocument, body: Json): readonly string[] | null {
  const members = memberOf(resolved(document, body), "properties");
  const expand = memberOf(members, "expand");
  if (expand === undefined || memberOf(members, "select") === undefined) return null;
  const forms = arrayIn(memberOf(resolved(document, expand), "anyOf"));
  return forms.flatMap((form) => arrayIn(memberOf(memberOf(form, "items"), "enum")).map(textOf));
}

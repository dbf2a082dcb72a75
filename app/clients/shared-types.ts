/**
 * Finds an object type that occurs in several types of a client, and gives it a name: `ConditionPart<"id" | "price">`.
 * The occurrences can differ in enum texts and in names of other types, which become parameters.
 */

export interface NamedType {
  readonly name: string;
  /** As TypeScript, without indentation. */
  readonly text: string;
}

/** The types in their order, after those that they share. `taken`: the names in use; the new ones are added. */
export function shareTypes(types: readonly NamedType[], taken: Set<string>): NamedType[] {
  const names = new Set(types.map(({ name }) => name));
  const shared: NamedType[] = [];
  let rest = [...types];
  for (let round = 0; round < roundsMax; round++) {
    const found = shapesIn([...rest, ...shared], names);
    const replacements = new Map<string, string>();
    for (const blocks of found.values()) {
      const shape = shapeOf(blocks, taken);
      if (shape === null) continue;
      if (shape.declared !== null) shared.push({ name: shape.declared, text: shape.text });
      for (const [block, use] of shape.uses) replacements.set(block, use);
    }
    if (replacements.size === 0) break;
    rest = rest.map(({ name, text }) => ({
      name,
      text: text.replace(innermost, (block) => {
        const use = replacements.get(block) ?? block;
        // A record type keeps its fields in its own declaration.
        return block === text && isRecord(block) && !use.includes("<") ? block : use;
      }),
    }));
  }
  return [...shared.toReversed(), ...rest];
}

/** Each round finds the types that enclose those of the round before. */
const roundsMax = 12;
const linesMin = 3;
const usesMin = 3;
const parametersMax = 6;

const innermost = /\{\n[^{}]*\n\}/g;

/** Comments and keys stay; a union of texts, or a name, can become a parameter. */
const tokens =
  /\/\*\*.*?\*\/|"(?:[^"\\]|\\.)*"\??:|"(?:[^"\\]|\\.)*"(?: \| "(?:[^"\\]|\\.)*")*|\b[A-Za-z_]\w*\b(?!\??:)/g;

/** Whether the block has more fields than a type of parameters. */
const isRecord = (block: string): boolean => block.split("\n").length > 6;

interface Block {
  readonly text: string;
  readonly owner: string;
  /** Whether it is the whole type of its owner. */
  readonly isWhole: boolean;
  /** In the order of their places. */
  readonly values: readonly string[];
  /** The texts between the places. */
  readonly between: readonly string[];
}

/** Blocks that differ only in their parameters, by what they have in common. */
function shapesIn(types: readonly NamedType[], names: ReadonlySet<string>): Map<string, Block[]> {
  const found = new Map<string, Block[]>();
  for (const { name: owner, text } of types) {
    // A bracket inside a text or a comment would be mistaken for one of a type.
    if (/"[^"\n]*[{}][^"\n]*"|\/\*\*.*[{}].*\*\//.test(text) || owner.endsWith(">")) continue;
    for (const [block] of text.matchAll(innermost)) {
      if (block.split("\n").length < linesMin) continue;
      const values: string[] = [];
      const between: string[] = [];
      let end = 0;
      for (const { 0: token, index } of block.matchAll(tokens)) {
        const isText = token.startsWith('"') && !token.endsWith(":");
        if (!isText && !names.has(token)) continue;
        between.push(block.slice(end, index));
        values.push(token);
        end = index + token.length;
      }
      between.push(block.slice(end));
      // A type cannot be its own parameter.
      if (values.includes(owner)) continue;
      const key = between.join("\0");
      const isWhole = block === text;
      found.set(key, [...(found.get(key) ?? []), { text: block, owner, isWhole, values, between }]);
    }
  }
  return found;
}

interface Shape {
  /** With its parameters. Null: one of the types is the shape. */
  readonly declared: string | null;
  readonly text: string;
  /** The replacement of each block. */
  readonly uses: ReadonlyMap<string, string>;
}

/** Null if the shape would save nothing, or have too many parameters. */
function shapeOf(blocks: readonly Block[], taken: Set<string>): Shape | null {
  const [first] = blocks;
  if (first === undefined || blocks.length < 2) return null;
  /** The value of each place in all blocks. */
  const columns = first.values.map((_, at) => blocks.map(({ values }) => values[at]!));
  const parameters: string[] = [];
  const places = columns.map((column) => {
    if (new Set(column).size === 1) return column[0]!;
    const key = column.join("\0");
    if (!parameters.includes(key)) parameters.push(key);
    return letterOf(parameters.indexOf(key));
  });
  const known = blocks.find(({ isWhole, text }) => isWhole && isRecord(text));
  if (parameters.length === 0 && known !== undefined) {
    const uses = new Map([[known.text, known.owner]]);
    return blocks.every(({ isWhole }) => isWhole) ? null : { declared: null, text: "", uses };
  }
  if (parameters.length > parametersMax || blocks.length < usesMin) return null;
  const name = freeName(`${commonEnd(blocks.map(({ owner }) => owner))}Part`, taken);
  const text = first.between.map((piece, at) => piece + (places[at] ?? "")).join("");
  const used = (of: (key: string, at: number) => string): string =>
    parameters.length === 0 ? name : `${name}<${parameters.map(of).join(", ")}>`;
  return {
    declared: used((_, at) => letterOf(at)),
    text,
    uses: new Map(
      blocks.map((block, at) => [block.text, used((key) => key.split("\0")[at]!)] as const),
    ),
  };
}

const letterOf = (at: number): string => String.fromCharCode(65 + at);

/** The words with which all names end: `Condition` of `OrderCondition` and `PartyCondition`. */
function commonEnd(names: readonly string[]): string {
  const [first = ""] = names;
  const words = first.split(/(?=[A-Z])/);
  const ends = words.map((_, at) => words.slice(at).join(""));
  return ends.slice(1).find((end) => names.every((name) => name.endsWith(end))) ?? "";
}

function freeName(wanted: string, taken: Set<string>): string {
  let name = wanted;
  for (let number = 2; taken.has(name); number++) name = `${wanted}${number}`;
  taken.add(name);
  return name;
}

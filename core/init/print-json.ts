/** JSON as a person would lay it out: what fits on a line stands on one. */

const widthMax = 100;

/** Ends with a line break. The members of the outermost object each begin a line. */
export const printJson = (value: object): string => `${printed(value, "", false)}\n`;

function printed(value: unknown, indent: string, mayBeInline = true): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const inline = inlined(value);
  if (mayBeInline && indent.length + inline.length <= widthMax) return inline;
  const inner = `${indent}  `;
  const isList = Array.isArray(value);
  const lines = Object.entries(value).map(([name, member]) => {
    const start = isList ? inner : `${inner}${JSON.stringify(name)}: `;
    // Switches are easier to find one below the other.
    const text = printed(member, inner, name !== "action" || isList);
    const isTooLong = !text.includes("\n") && start.length + text.length >= widthMax;
    return start + (isTooLong ? printed(member, inner, false) : text);
  });
  if (lines.length === 0) return isList ? "[]" : "{}";
  const [open, close] = isList ? ["[", "]"] : ["{", "}"];
  return `${open}\n${lines.join(",\n")}\n${indent}${close}`;
}

function inlined(value: unknown): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(inlined).join(", ")}]`;
  const members = Object.entries(value).map(
    ([name, member]) => `${JSON.stringify(name)}: ${inlined(member)}`,
  );
  return members.length === 0 ? "{}" : `{ ${members.join(", ")} }`;
}

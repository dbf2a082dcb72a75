/** A body in jQuery's encoding, which the grid in a page uses: brackets for names, texts for values, no empty lists. */
export function bracketed(body: object): string {
  return pairsOf(body, "")
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
    .join("&");
}

function pairsOf(value: unknown, name: string): [string, string][] {
  if (value === undefined) return [];
  if (typeof value !== "object" || value === null)
    return [[name, value === null ? "" : String(value as string | number | boolean)]];
  return Object.entries(value).flatMap(([key, member]) =>
    pairsOf(member, name === "" ? key : `${name}[${key}]`),
  );
}

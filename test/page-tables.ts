/** Tables of the pages in docs/. */

/** The cells of the first table below the heading, without its head. */
export function rowsUnder(heading: string, page: string): string[][] {
  const lines = (page.split(`${heading}\n`)[1] ?? "").split("\n");
  const table = lines.slice(lines.findIndex((line) => line.startsWith("|")));
  const end = table.findIndex((line) => !line.startsWith("|"));
  return table
    .slice(0, end)
    .slice(2)
    .map((row) =>
      row
        .slice(1, -1)
        .split("|")
        .map((cell) => cell.trim()),
    );
}

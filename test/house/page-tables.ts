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

/** A line of the comment below a table, ``first cell of the row | file: title``. */
export interface TestOfRow {
  readonly row: string;
  /** Under test/contract, without `.test.ts`. */
  readonly file: string;
  readonly title: string;
}

/** Each table of the page: the first cells of its rows, and the tests that the comment below it names, in order. */
export function testedTablesOf(page: string): { rows: string[]; tests: TestOfRow[] }[] {
  const tables = page.matchAll(
    /^((?:\|.*\n)+)(?:\n<!-- Tests of the rows above, in their order:\n([^]*?)\n-->\n)?/gm,
  );
  return [...tables].map(([, table = "", comment = ""]) => {
    const rows = table.trimEnd().split("\n").slice(2);
    return {
      rows: rows.map((row) => row.split("|")[1]!.trim()),
      tests: comment.split("\n").map(testOfRow),
    };
  });
}

function testOfRow(line: string): TestOfRow {
  const [, row = "", file = "", title = ""] = /^(.*) \| ([\w-]+): (.+)$/.exec(line) ?? [];
  return { row, file, title };
}

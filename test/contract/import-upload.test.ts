/**
 * Input of import-upload, valid and invalid: hostile multipart bodies, and workbooks that cannot be imported.
 * `test/workbook` tests all kinds of damaged workbooks; here are a few examples.
 */
import { gzipSync } from "node:zlib";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { workbookParts, textRow, zipOf } from "../workbook/zip-of.ts";
import { checkEnvelope } from "./cases.ts";
import { type Answer, openForTests } from "./harness.ts";
import { type Importer, importerOf, workbookOf } from "./imports.ts";
import { openJobFixture } from "./job-places.ts";

const action = { import: true };
const things = {
  tableName: "things",
  action,
  hiddenFields: ["secret"],
  readOnlyFields: ["secret"],
  fieldLabels: { name: "Thing", qty: "Quantity" },
  importConfig: { upsertKeys: ["code"], requiredFields: ["name"] },
};

let imports: Importer;
let good: Uint8Array<ArrayBuffer>;
const shop = openForTests(openJobFixture, "in the service", {
  tables: [
    {
      name: "things",
      columns: {
        id: "identity",
        code: { type: "text(20)", unique: true },
        name: "text(40)",
        qty: "integer",
        secret: "text(10)",
        created_at: "timestamp",
      },
    },
  ],
  endpoints: {
    things,
    small: { ...things, importConfig: { ...things.importConfig, maxFileSize: 2_000 } },
  },
  project: { jobs: { previewRows: 2, maxUploadMb: 1 } },
});
beforeAll(async () => {
  imports = importerOf(shop);
  good = await workbookOf([
    ["code", "Thing", "Quantity"],
    ["A", "One", 1],
    ["B", "Two", 2],
    ["C", "Three", 3],
  ]);
});

const type = "multipart/form-data; boundary=edge";
const post = (
  body: string | Uint8Array<ArrayBuffer> | undefined,
  contentType: string | null = type,
): Promise<Answer> =>
  shop.request("/api/test/things/import-upload", {
    method: "POST",
    ...(body === undefined
      ? {}
      : { body: typeof body === "string" ? Buffer.from(body, "latin1") : body }),
    headers: contentType === null ? {} : { "Content-Type": contentType },
  });

/** A body with one part of these headers; the file is a good one. */
const bodyWith = (headers: string, { before = "", after = "--edge--\r\n" } = {}): string =>
  `${before}--edge\r\n${headers}\r\n\r\n${Buffer.from(good).toString("latin1")}\r\n${after}`;
const disposition = 'Content-Disposition: form-data; name="file"; filename="rows.xlsx"';

/** A part that is no file. */
const text = (name: string, value = "y"): string =>
  `--edge\r\nContent-Disposition: form-data; name=${name}\r\n\r\n${value}\r\n`;

describe("import-upload answers", () => {
  test("the upload, the number of its rows, and the first of them", async () => {
    const answer = await imports.sendFile("things", good);
    checkEnvelope(answer);
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      success: true,
      upload_id: expect.stringMatching(/^upload-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
      total_rows: 3,
      preview: [
        { code: "A", Thing: "One", Quantity: 1 },
        { code: "B", Thing: "Two", Quantity: 2 },
      ],
      timestamp: expect.any(String),
    });
  });

  test("the headings that it knows nothing about", async () => {
    const file = await workbookOf([
      ["code", "name", "Remark", "secret", "created_at"],
      ["A", "One", "x", "y", "z"],
    ]);
    const { body } = await imports.sendFile("things", file);
    expect(body.ignored_columns).toEqual(["Remark", "secret", "created_at"]);
  });

  test("no rows for a workbook with headings alone", async () => {
    const { body } = await imports.sendFile("things", await workbookOf([["code", "name"]]));
    expect([body.total_rows, body.preview]).toEqual([0, []]);
  });

  test("long texts cut, so that the answer stays small", async () => {
    const { body } = await imports.sendFile(
      "things",
      await workbookOf([
        ["code", "name"],
        ["A", "x".repeat(30_000)],
      ]),
    );
    expect(body.preview[0].name).toHaveLength(1_001);
  });
});

describe("import-upload takes", () => {
  test.each([
    ["headings by name", ["code", "name"]],
    ["headings by label", ["code", "Thing"]],
    ["headings in any case, with blanks around", [" CODE ", "thing"]],
    ["headings in any order", ["qty", "name", "code"]],
  ])("%s", async (_, headings) => {
    const answer = await imports.sendFile("things", await workbookOf([headings]));
    expect([answer.status, answer.body.ignored_columns]).toEqual([200, undefined]);
  });

  test.each([
    ["a plain part", bodyWith0(disposition)],
    [
      "a part with a media type",
      bodyWith0(`${disposition}\r\nContent-Type: application/octet-stream`),
    ],
    ["headers in any case", bodyWith0(disposition.toLowerCase())],
    ["text before the first part", bodyWith0(disposition, "ignore me\r\n")],
    [
      "a name without quotes",
      bodyWith0("Content-Disposition: form-data; name=file; filename=rows.xlsx"),
    ],
    ["a file name that is a path", bodyWith0(disposition.replace("rows", "../../../etc/rows"))],
    ["a file name with quotes", bodyWith0(disposition.replace("rows", 'a\\"; name=\\"b'))],
    ["a file name of 4,000 characters", bodyWith0(disposition.replace("rows", "x".repeat(4_000)))],
    ["a file name that is no UTF-8", bodyWith0(disposition.replace("rows", "\xff\xfe"))],
    [
      "a workbook's type where the name says nothing",
      bodyWith0(
        `${disposition.replace("rows.xlsx", "rows")}\r\ncontent-type: application/vnd.openxmlformats-officedocument.spreadsheetml.sheet`,
      ),
    ],
    ["a file name in capitals", bodyWith0(disposition.replace("rows.xlsx", "ROWS.XLSX"))],
    ["texts before the file", bodyWith0(disposition, text("note") + text("x", "").repeat(49))],
    [
      "texts behind the file",
      () => bodyWith(disposition, { after: `${text("note").repeat(50)}--edge--\r\n` }),
    ],
  ])("%s", async (_, make) => {
    const answer = await post(make());
    expect([answer.status, answer.body.total_rows]).toEqual([200, 3]);
  });

  test("a body in pieces that cut its marks anywhere", async () => {
    const whole = Buffer.from(bodyWith(disposition), "latin1");
    for (const size of [1, 7, 1_024]) {
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          for (let at = 0; at < whole.length; at += size)
            controller.enqueue(whole.subarray(at, at + size));
          controller.close();
        },
      });
      const answer = await shop.request("/api/test/things/import-upload", {
        method: "POST",
        body,
        headers: { "Content-Type": type },
        duplex: "half",
      } as RequestInit);
      expect([answer.status, answer.body.total_rows]).toEqual([200, 3]);
    }
  });
});

/** Made when the test runs: the file is there by then. */
function bodyWith0(headers: string, before = ""): () => string {
  return () => bodyWith(headers, { before });
}

describe("import-upload refuses", () => {
  const refusals: readonly (readonly [
    string,
    () => string | undefined,
    string | null,
    number,
    string,
  ])[] = [
    ["no body", () => undefined, type, 400, "Invalid payload"],
    ["an empty body", () => "", type, 400, "Invalid payload"],
    ["no media type", () => "x", null, 415, "Unsupported media type"],
    ["JSON", () => "{}", "application/json", 415, "Unsupported media type"],
    [
      "a form in another encoding",
      () => "file=1",
      "application/x-www-form-urlencoded",
      415,
      "Unsupported media type",
    ],
    [
      "another multipart type",
      () => bodyWith(disposition),
      "multipart/mixed; boundary=edge",
      415,
      "Unsupported media type",
    ],
    ["no boundary", () => bodyWith(disposition), "multipart/form-data", 400, "Invalid payload"],
    [
      "an empty boundary",
      () => bodyWith(disposition),
      'multipart/form-data; boundary=""',
      400,
      "Invalid payload",
    ],
    [
      "a boundary that is too long",
      () => "x",
      `multipart/form-data; boundary="${"x".repeat(80)}"`,
      400,
      "Invalid payload",
    ],
    [
      "a boundary that does not come",
      () => bodyWith(disposition),
      "multipart/form-data; boundary=other",
      400,
      "Invalid payload",
    ],
    ["no part", () => "--edge--\r\n", type, 400, "Invalid payload"],
    [
      "a part of another name",
      () => bodyWith(disposition.replace('"file"', '"upload"')),
      type,
      400,
      "Invalid payload",
    ],
    [
      "a part without a name",
      () => bodyWith('Content-Disposition: form-data; filename="rows.xlsx"'),
      type,
      400,
      "Invalid payload",
    ],
    [
      "a part of an object's own name",
      () => bodyWith(disposition.replace('"file"', '"__proto__"')),
      type,
      400,
      "Invalid payload",
    ],
    [
      "a part that is a field, not a file",
      () => bodyWith('Content-Disposition: form-data; name="file"'),
      type,
      400,
      "Invalid payload",
    ],
    [
      "a part without headers",
      () => "--edge\r\n\r\nx\r\n--edge--\r\n",
      type,
      400,
      "Invalid payload",
    ],
    [
      "headers that do not end",
      () => `--edge\r\n${"X: y\r\n".repeat(10_000)}`,
      type,
      400,
      "Invalid payload",
    ],
    [
      "text without an end before the first part",
      () => "x".repeat(100_000),
      type,
      400,
      "Invalid payload",
    ],
    [
      "two parts",
      () => bodyWith(disposition, { after: bodyWith(disposition) }),
      type,
      400,
      "Invalid payload",
    ],
    ...(
      [
        ["a second file under another name", text("x; filename=a.txt"), ""],
        ["a text named like the file, before it", "", text("file")],
        ["more than fifty texts before the file", "", text("x").repeat(51)],
        ["more than fifty texts behind the file", text("x").repeat(51), ""],
        ["a text of more than 16 KB", "", text("x", "y".repeat(100_000))],
      ] as const
    ).map(
      ([title, after, before]) =>
        [
          title,
          () => bodyWith(disposition, { before, after: `${after}--edge--\r\n` }),
          type,
          400,
          "Invalid payload",
        ] as const,
    ),
    [
      "a body without its end",
      () => bodyWith(disposition, { after: "" }),
      type,
      400,
      "Invalid payload",
    ],
    [
      "a body that ends within the last boundary",
      () => bodyWith(disposition, { after: "--edg" }),
      type,
      400,
      "Invalid payload",
    ],
    [
      "a body that ends within the file",
      () => bodyWith(disposition).slice(0, 500),
      type,
      400,
      "Invalid payload",
    ],
    [
      "much text behind the last part",
      () => bodyWith(disposition, { after: `--edge--\r\n${"x".repeat(100_000)}` }),
      type,
      400,
      "Invalid payload",
    ],
    [
      "a workbook under the name of a csv file",
      () => bodyWith(disposition.replace("rows.xlsx", "rows.csv")),
      type,
      400,
      "Invalid file",
    ],
    [
      "an old workbook's name",
      () => bodyWith(disposition.replace("rows.xlsx", "rows.xls")),
      type,
      400,
      "Invalid file",
    ],
    [
      "a name without an extension, and a type of something else",
      () => bodyWith(`${disposition.replace("rows.xlsx", "rows")}\r\nContent-Type: image/png`),
      type,
      400,
      "Invalid file",
    ],
    [
      "an empty file name",
      () => bodyWith(disposition.replace("rows.xlsx", "")),
      type,
      400,
      "Invalid file",
    ],
  ];
  test.each(refusals)("%s", async (_, make, contentType, status, error) => {
    const answer = await post(make(), contentType);
    checkEnvelope(answer);
    expect([answer.status, answer.body.error], answer.body.message).toEqual([status, error]);
  });

  test("a compressed body", async () => {
    const answer = await shop.request("/api/test/things/import-upload", {
      method: "POST",
      headers: { "Content-Type": type, "Content-Encoding": "gzip" },
      body: gzipSync(bodyWith(disposition)),
    });
    checkEnvelope(answer);
    expect([answer.status, answer.body.message]).toEqual([
      415,
      "The body is compressed with gzip; send it without Content-Encoding",
    ]);
  });

  const xml = (rows: string) => new Uint8Array(zipOf(workbookParts({ rows })));
  test.each([
    ["an empty file", async () => new Uint8Array()],
    ["a text under a workbook's name", async () => new TextEncoder().encode("code,name\nA,One\n")],
    [
      "an encrypted or old workbook",
      async () =>
        new Uint8Array([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1, ...Array(600).fill(0)]),
    ],
    [
      "an archive that is no workbook",
      async () => new Uint8Array(zipOf([{ name: "a.txt", content: "x" }])),
    ],
    ["a workbook that is cut off", async () => good.slice(0, good.length / 2)],
    [
      "a workbook with a flipped byte",
      async () => good.map((byte, at) => (at === 80 ? byte ^ 0xff : byte)),
    ],
    ["a sheet without rows", async () => xml("")],
    ["the same heading twice", async () => xml(textRow(1, "code", "name", "code"))],
    ["two headings for one field", async () => workbookOf([["code", "name", "Thing"]])],
    ["a heading in two cases", async () => workbookOf([["code", "name", "NAME"]])],
    [
      "no heading that it knows",
      async () =>
        workbookOf([
          ["cod", "nam"],
          ["A", "One"],
        ]),
    ],
    ["no column for the key", async () => workbookOf([["name"], ["One"]])],
    ["no column for a field that every row must fill", async () => workbookOf([["code"], ["A"]])],
    [
      "a sheet that inflates beyond all measure",
      async () => xml(textRow(1, "code", "name") + " ".repeat(80_000_000)),
    ],
    [
      "a row number beyond the last",
      async () => xml(`${textRow(1, "code", "name")}<row r="4294967296"><c><v>1</v></c></row>`),
    ],
  ])("as Invalid file %s", async (_, make) => {
    const answer = await imports.sendFile("things", (await make()) as Uint8Array<ArrayBuffer>);
    checkEnvelope(answer);
    expect([answer.status, answer.body.error], answer.body.message).toEqual([400, "Invalid file"]);
  });

  test("a file above maxUploadMb", async () => {
    const answer = await imports.sendFile("things", new Uint8Array(1024 ** 2 + 1));
    checkEnvelope(answer);
    expect([answer.status, answer.body.error]).toEqual([413, "Payload too large"]);
  });

  test("a file above maxFileSize", async () => {
    const answer = await imports.sendFile("small", good);
    checkEnvelope(answer);
    expect([answer.status, answer.body.error]).toEqual([413, "Payload too large"]);
  });

  test("and keeps nothing of what it refused", async () => {
    const folder = shop.filesFolder;
    const before = await uploadsIn(folder);
    await imports.sendFile("things", new Uint8Array(1024 ** 2 + 1));
    await imports.sendFile(
      "things",
      new TextEncoder().encode("no workbook") as Uint8Array<ArrayBuffer>,
    );
    await post(bodyWith(disposition).slice(0, 500));
    expect(await uploadsIn(folder)).toEqual(before);
  });
});

const uploadsIn = async (folder: string): Promise<string[]> =>
  (await readdir(join(folder, "uploads/test"))).toSorted();

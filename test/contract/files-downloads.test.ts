/** file-download and the names and types of files: what is answered to whom, hostile files among them. */
import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { FileEntry } from "../../core/values/types/file-type.ts";
import { apiKeysOf } from "./api-keys.ts";
import { connect } from "./agents.ts";
import { check, record } from "./cases.ts";
import { download, pdf, png, stored, upload, uploaded } from "./files.ts";
import { openFixture, openForTests } from "./harness.ts";

/** Unique per run: another run can use the same Redis. */
const run = randomUUID().slice(0, 8);
const apiKey = apiKeysOf(run);
const key = (id: string) => ({ "x-api-key": `key of ${id}` });

const fixture = openForTests(openFixture, {
  tables: [
    {
      name: "papers",
      columns: { id: "identity", tenant: "text(10)", scan: "json", photos: "longtext" },
    },
  ],
  setUp: (engine) => {
    const quote = (name: string) => (engine === "mysql" ? `\`${name}\`` : `"${name}"`);
    return [
      `CREATE VIEW ${quote("seen_papers")} AS SELECT ${["id", "tenant", "scan", "photos"].map(quote).join(", ")} FROM ${quote("papers")}`,
    ];
  },
  endpoints: {
    papers: {
      tableName: "papers",
      action: { create: true, read: true, first: true, update: true, delete: true },
      files: { scan: {}, photos: { multiple: true } },
      access: {
        clerk: ["create", "read", "first", "update", "delete"],
        reader: ["read"],
        blind: ["first"],
        remover: ["delete"],
      },
      rowScope: { clerk: { tenant: "{{claims.tenant}}" } },
      hiddenFields: { blind: ["photos"] },
      readOnlyFields: { clerk: ["photos"] },
    },
    seen: {
      tableName: "papers",
      viewName: "seen_papers",
      action: { read: true, first: true, create: true },
      files: { scan: {}, photos: { multiple: true } },
      access: { clerk: ["first", "create"], reader: ["first"] },
      rowScope: { clerk: { tenant: "{{claims.tenant}}" } },
    },
  },
  project: {
    mcp: { endpoints: ["papers"], write: ["papers"] },
    auth: {
      apiKeys: [
        apiKey("admin", ["admin"]),
        apiKey("ann", ["clerk"], { tenant: "a" }),
        apiKey("amy", ["clerk"], { tenant: "a" }),
        apiKey("bob", ["clerk"], { tenant: "b" }),
        apiKey("reader"),
        apiKey("blind"),
        apiKey("remover"),
      ],
    },
  },
});

const ann = key("ann");
const create = (fields: object, headers = ann) => fixture.post("papers/create", fields, headers);
/** A record of Ann's with this file, and the query of its download. */
async function withScan(
  ...[sent]: [object?]
): Promise<{ id: string; file: FileEntry; query: Record<string, string> }> {
  const file = await uploaded(fixture, "papers", sent, ann);
  const { id } = record(await create({ scan: { id: file.id } }));
  return { id: String(id), file, query: { id: String(id), field: "scan", file_id: file.id } };
}

describe("file-download", () => {
  test("streams the file with what a client needs to keep it", async () => {
    const { file, query } = await withScan({ name: "Ännex 1.pdf" });
    const answer = await download(fixture, "papers", query, ann);
    expect(answer.status).toBe(200);
    expect(await answer.text()).toBe(pdf());
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      "content-type": "application/pdf",
      "content-length": String(pdf().length),
      "content-disposition": `inline; filename="_nnex 1.pdf"; filename*=UTF-8''%C3%84nnex%201.pdf`,
      etag: `"${file.sha256}"`,
      "accept-ranges": "bytes",
      "x-content-type-options": "nosniff",
      "cache-control": "private, no-cache",
    });
    const etag = `"${file.sha256}"`;
    const ask = (headers: Record<string, string>) =>
      download(fixture, "papers", query, { ...ann, ...headers });
    for (const sent of [etag, `W/${etag}`, `"other", ${etag}`, "*"])
      expect((await ask({ "if-none-match": sent })).status, sent).toBe(304);
    expect((await ask({ "if-none-match": '"other"' })).status).toBe(200);
    const part = await ask({ range: "bytes=1-3" });
    expect([part.status, await part.text()]).toEqual([206, "PDF"]);
    expect(part.headers.get("content-range")).toBe(`bytes 1-3/${pdf().length}`);
    expect((await ask({ range: "bytes=-3" })).status).toBe(206);
    expect((await ask({ range: "bytes=99-" })).status).toBe(416);
    expect((await ask({ range: "bytes=1-3", "if-range": etag })).status).toBe(206);
    expect((await ask({ range: "bytes=1-3", "if-range": '"other"' })).status).toBe(200);
  });

  test("answers HEAD as GET without the body, and without ranges", async () => {
    const { file, query } = await withScan();
    const path = `/api/test/papers/file-download?${new URLSearchParams(query)}`;
    const ask = (headers: Record<string, string>) =>
      fixture.fetch(path, { method: "HEAD", headers });
    for (const headers of [ann, { ...ann, range: "bytes=1-3" }]) {
      const answer = await ask(headers);
      expect([answer.status, await answer.text()]).toEqual([200, ""]);
      expect(answer.headers.get("content-length")).toBe(String(pdf().length));
      expect(answer.headers.get("etag")).toBe(`"${file.sha256}"`);
    }
    expect((await ask({ ...ann, "if-none-match": `"${file.sha256}"` })).status).toBe(304);
    expect((await ask({})).status).toBe(401);
    expect((await ask(key("bob"))).status).toBe(404);
    const create = await fixture.fetch("/api/test/papers/create", { method: "HEAD", headers: ann });
    expect([create.status, create.headers.get("allow")]).toEqual([405, "POST"]);
  });

  test("needs no id where the field has one file, and reads through a view", async () => {
    const { id } = await withScan();
    for (const endpoint of ["papers", "seen"])
      expect((await download(fixture, endpoint, { id, field: "scan" }, ann)).status).toBe(200);
    const { body } = await fixture.post("seen/first", { where: [{ key: "id", value: id }] }, ann);
    expect(body.data.scan).toMatchObject({ name: "scan.pdf" });
  });

  test.each([
    ["another tenant's record", key("bob"), {}],
    ["another file's id", ann, { file_id: randomUUID() }],
    ["an id that is none", ann, { file_id: "../../etc/passwd" }],
    ["another record", ann, { id: "999999" }],
    ["another field of the record", ann, { field: "photos" }],
  ])("answers 404 for %s", async (_, headers, asked) => {
    const { query } = await withScan();
    const answer = await download(fixture, "papers", { ...query, ...asked }, headers);
    const { error } = (await answer.json()) as { error: string };
    expect([answer.status, error]).toEqual([404, "Not found"]);
  });

  test.each([
    ["a field without files", { field: "tenant" }, 400],
    ["a misspelled field", { field: "scam" }, 400],
    ["no field", { field: "" }, 400],
    ["a key of another type", { id: "x" }, 400],
  ])("answers %s", async (_, asked, status) => {
    const { query } = await withScan();
    const answer = await download(fixture, "papers", { ...query, ...asked }, ann);
    expect(answer.status).toBe(status);
  });

  test("is for those who may see the column of the record, and for no one else", async () => {
    const photo = await uploaded(
      fixture,
      "papers",
      { field: "photos", bytes: png },
      key("admin"),
    ).catch(() => null);
    // The clerks may not write photos, and nobody else may create.
    expect(photo).toBeNull();
    const { query } = await withScan();
    const status = async (id: string, asked = query) =>
      (await download(fixture, "papers", asked, key(id))).status;
    expect(await status("amy")).toBe(200);
    expect(await status("reader")).toBe(200);
    expect(await status("blind")).toBe(200);
    expect(await status("remover")).toBe(403);
    expect(await status("blind", { ...query, field: "photos" })).toBe(400);
    expect((await download(fixture, "papers", query)).status).toBe(401);
  });

  test("shows nothing of a deleted record", async () => {
    const { id, query } = await withScan();
    check(await fixture.post("papers/delete", { where: [{ key: "id", value: id }] }, ann), {
      status: 200,
    });
    expect((await download(fixture, "papers", query, ann)).status).toBe(404);
  });
});

test("agents see descriptions of files, and give claims to records", async () => {
  const agent = await connect(fixture, "ann");
  const { content } = await agent.call("describe", { endpoint: "papers" });
  expect(JSON.stringify(content)).toContain("scan");
  const file = await uploaded(fixture, "papers", {}, ann);
  const write = (fields: object) =>
    agent.call("write", { endpoint: "papers", action: "create", body: fields });
  const made = await write({ scan: { id: file.id } });
  expect(made.isError, made.text).toBe(false);
  const where = { key: "id", value: made.content.data.id };
  const found = await agent.call("first", { endpoint: "papers", where });
  expect(found.content.data).toMatchObject({ scan: file });
  const conditions = { conditions: [{ ...where, operator: "=" }] };
  const read = await agent.call("read", { endpoint: "papers", where: conditions });
  expect(read.content.data).toMatchObject([{ scan: file }]);
  expect(await write({ scan: { id: file.id } })).toMatchObject({ isError: true });
});

describe("claims", () => {
  test("are their uploader's alone", async () => {
    const { id } = await uploaded(fixture, "papers", {}, ann);
    for (const other of [key("amy"), key("bob")])
      check(await create({ scan: { id } }, other), { status: 400, error: "Validation failed" });
    check(await create({ scan: { id } }), { status: 201 });
  });

  test.each([
    ["may not write records", "reader", {}, 403],
    ["may not write the field", "ann", { field: "photos" }, 400],
  ])("are not for callers who %s", async (_, id, sent, status) => {
    const before = await stored(fixture);
    expect((await upload(fixture, "papers", sent, key(id))).status).toBe(status);
    expect(await stored(fixture)).toEqual(before);
  });
});

describe("a file", () => {
  test.each([
    ["a page", "x.pdf", "<!DOCTYPE html><p>hi", "text/html", "attachment"],
    [
      "a page behind a comment",
      "x.txt",
      "<!-- -->\n<ScRiPt>x()</script>",
      "text/html",
      "attachment",
    ],
    [
      "an image with scripts",
      "x.png",
      '<svg xmlns="x" onload="x()"/>',
      "image/svg+xml",
      "attachment",
    ],
    [
      "an image that is a page too",
      "x.html",
      Buffer.concat([png, Buffer.from("<html>")]),
      "image/png",
      "inline",
    ],
    ["a text", "x.exe", "hello", "text/plain; charset=utf-8", "inline"],
    ["a table", "x.csv", "a;b\n1;2", "text/csv; charset=utf-8", "attachment"],
    [
      "an archive",
      "x.docx",
      Buffer.from("PK\x03\x04" + "\0".repeat(26) + "word/document.xml", "latin1"),
      "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
      "attachment",
    ],
    [
      "a program",
      "x.jpg",
      Buffer.from("MZ\x90\0", "latin1"),
      "application/x-msdownload",
      "attachment",
    ],
    ["bytes", "x", Buffer.from([1, 2, 3]), "application/octet-stream", "attachment"],
    ["nothing", "empty.bin", "", "text/plain; charset=utf-8", "inline"],
  ])("that is %s has the type of its content", async (_, name, bytes, type, shown) => {
    const { query } = await withScan({ name, bytes });
    const answer = await download(fixture, "papers", query, ann);
    expect(Buffer.from(await answer.arrayBuffer())).toEqual(Buffer.from(bytes));
    expect(answer.headers.get("content-type")).toBe(type);
    expect(answer.headers.get("content-disposition")).toMatch(new RegExp(`^${shown};`));
  });

  test.each([
    ["comments", "<!---->".repeat(26)],
    ["blanks", " ".repeat(65_000)],
  ])("that begins with many %s is looked at in no time", async (_, start) => {
    const startedMs = performance.now();
    const { status } = await upload(fixture, "papers", { name: "x.txt", bytes: `${start}x` }, ann);
    expect(status).toBe(201);
    expect(performance.now() - startedMs).toBeLessThan(800);
  });

  test.each([
    ["../../etc/passwd", "passwd"],
    ["C:\\Users\\x\\scan.pdf", "scan.pdf"],
    ["a\u0000b\r\nSet-Cookie: x.pdf", "abSet-Cookie: x.pdf"],
    ["invoice\u202efdp.exe", "invoicefdp.exe"],
    ["...", "file"],
    [`${"x".repeat(300)}.pdf`, `${"x".repeat(196)}.pdf`],
    ['say "hi".pdf', 'say "hi".pdf'],
    ["請求書 📄.pdf", "請求書 📄.pdf"],
  ])("that is called %j is called %j", async (name, shown) => {
    const form = new FormData();
    form.append("field", "scan");
    form.append("file", new File([pdf()], name));
    const file = await uploaded(fixture, "papers", { name }, ann);
    expect(file.name).toBe(shown);
  });

  test("whose upload breaks off leaves nothing", async () => {
    const before = await stored(fixture);
    const head = `--edge\r\nContent-Disposition: form-data; name="field"\r\n\r\nscan\r\n--edge\r\nContent-Disposition: form-data; name="file"; filename="a.pdf"\r\n\r\n%PDF-1.7`;
    const send = (body: string) =>
      fixture.request("/api/test/papers/file-upload", {
        method: "POST",
        body,
        headers: { ...ann, "content-type": "multipart/form-data; boundary=edge" },
      });
    for (const rest of ["", "\r\n--edge\r\n"])
      check(await send(head + rest), { status: 400, error: "Invalid payload" });
    const fileFirst = head.replace(/--edge[\s\S]*?scan\r\n/, "");
    check(await send(`${fileFirst}\r\n--edge--`), { status: 400, error: "Invalid payload" });
    expect(await stored(fixture)).toEqual(before);
  });
});

/**
 * Where files are kept, in a folder and in a bucket: large ones, those of processes that died, those of callers who
 * upload without end, and what exports and imports make of them.
 */
import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { fileKey, noteArrival } from "../../core/files/file-ledger.ts";
import { check, record } from "./cases.ts";
import { download, ledgerRow, letExpire, openKeeper, pdf, upload, uploaded } from "./files.ts";
import { importerOf, workbookOf } from "./imports.ts";
import { longTestPlaces, openJobFixture } from "./job-places.ts";
import { openForTests } from "./harness.ts";

describe.each(longTestPlaces)("%s", (place) => {
  const shop = openForTests(openJobFixture, place, {
    tables: [
      {
        name: "papers",
        columns: { paper_id: "key", title: "text(40)", scan: "longtext", photos: "json" },
      },
    ],
    endpoints: {
      papers: {
        tableName: "papers",
        action: {
          create: true,
          read: true,
          first: true,
          update: true,
          delete: true,
          export: true,
          import: true,
        },
        files: { scan: { maxMb: 20 }, photos: { multiple: true } },
        importConfig: { upsertKeys: ["title"] },
      },
    },
    project: { requests: { unknown: "refuse" } },
  });

  const create = async (fields: object) =>
    record(await shop.post("papers/create", { title: randomUUID().slice(0, 30), ...fields }));
  const bytesOf = async (response: Response) => Buffer.from(await response.arrayBuffer());

  test("a large file comes back byte for byte, and in parts", async () => {
    const bytes = new Uint8Array(12_000_000).map((_, at) => at * 31 + (at >> 8));
    const { id } = await uploaded(shop, "papers", { name: "large.bin", bytes });
    const { paper_id } = await create({ scan: { id } });
    const query = { paper_id: String(paper_id), field: "scan" };
    expect((await bytesOf(await download(shop, "papers", query))).equals(bytes)).toBe(true);
    const part = await download(shop, "papers", query, { range: "bytes=11999990-" });
    expect((await bytesOf(part)).equals(bytes.subarray(11_999_990))).toBe(true);
    const more = new Uint8Array(20 * 1024 ** 2 + 1);
    check(await upload(shop, "papers", { bytes: more }), {
      status: 413,
      error: "Payload too large",
    });
  });

  test("exports and csv show names, and imports leave files as they are", async () => {
    const scan = await uploaded(shop, "papers", { name: "=1.pdf" });
    const photos = [
      await uploaded(shop, "papers", { field: "photos", name: "a.txt", bytes: "a" }),
      await uploaded(shop, "papers", { field: "photos", name: "b, c.txt", bytes: "b" }),
    ];
    const { paper_id, title } = await create({ scan, photos });
    const where = [{ key: "paper_id", value: paper_id }];
    const conditions = { conditions: [{ ...where[0]!, operator: "=" }] };
    const csv = await shop.exported("papers", { format: "csv", where: conditions });
    expect(csv).toBe(
      `paper_id,title,scan,photos\r\n${paper_id},${title},'=1.pdf,"a.txt, b, c.txt"\r\n`,
    );
    const lines = await shop.exported("papers", { format: "jsonl", where: conditions });
    expect(JSON.parse(lines)).toMatchObject({ scan, photos });
    const page = await shop.post("papers/read", { where: conditions }, { accept: "text/csv" });
    expect(page.body).toContain(`'=1.pdf,"a.txt, b, c.txt"`);
    const imports = importerOf(shop);
    const file = await workbookOf([
      ["title", "scan"],
      [title!, "other.pdf"],
    ]);
    expect((await imports.sendFile("papers", file)).body.ignored_columns).toEqual(["scan"]);
    const done = await imports.committed("papers", file);
    expect(done.body.result).toMatchObject({ failed: 0, inserted: 0 });
    expect((await shop.post("papers/first", { where })).body.data).toMatchObject({ scan, photos });
  });

  test("what a process left that died is removed, at whichever moment it died", async () => {
    const keeper = await openKeeper(shop);
    try {
      const { storage, open } = keeper;
      const table = (await ledgerRow(shop, (await uploaded(shop, "papers")).id))!["table_name"];
      const leave = async (isWritten: boolean): Promise<string> => {
        const id = randomUUID();
        const place = { id, project: "test" };
        const column = { table: String(table), column: "scan", name: "x" };
        const at = { now: "2020-01-01T00:00:00.000Z", expiresAt: "2020-01-02T00:00:00.000Z" };
        await noteArrival(await open(), { ...place, ...column, ...at });
        if (isWritten) await storage.write(fileKey(place), [Buffer.from(pdf())]);
        return id;
      };
      // Before the file, before the claim, and between the removal of the file and that of its row.
      const ids = [await leave(false), await leave(true)];
      const gone = await uploaded(shop, "papers");
      await letExpire(shop, gone.id);
      await storage.remove(fileKey({ project: "test", id: gone.id }));
      for (const id of ids)
        check(await shop.post("papers/create", { scan: { id } }), {
          status: 400,
          error: "Validation failed",
          errors: ["scan"],
        });
      await keeper.sweep();
      for (const id of [...ids, gone.id]) {
        expect(await ledgerRow(shop, id)).toBeNull();
        expect(await storage.info(fileKey({ project: "test", id }))).toBeNull();
      }
    } finally {
      await keeper.close();
    }
  });

  test("a file that cannot be removed is tried again", async () => {
    const keeper = await openKeeper(shop);
    try {
      const { id } = await uploaded(shop, "papers");
      await letExpire(shop, id);
      const { storage } = keeper;
      const { remove } = storage;
      storage.remove = () => Promise.reject(new Error("away"));
      await expect(keeper.sweep()).rejects.toThrow("away");
      expect(await ledgerRow(shop, id)).not.toBeNull();
      storage.remove = remove;
      await keeper.sweep();
      expect(await ledgerRow(shop, id)).toBeNull();
      expect(await storage.info(fileKey({ project: "test", id }))).toBeNull();
    } finally {
      await keeper.close();
    }
  });

  test("has a limit for each caller", async () => {
    const { id } = await uploaded(shop, "papers");
    const row = (await ledgerRow(shop, id))!;
    const values = Array.from(
      { length: 1_000 },
      () =>
        `('${randomUUID()}', 'test', 'x', 'scan', '${String(row["owner_hash"])}', 'x', '2020-01-01 00:00:00', '2100-01-01 00:00:00')`,
    );
    await shop.sql(
      `INSERT INTO rowgate_files (file_id, project, table_name, column_name, owner_hash, name, created_at, expires_at) VALUES ${values.join(", ")}`,
    );
    check(await upload(shop, "papers"), { status: 429, error: "Too many requests" });
    await shop.sql("DELETE FROM rowgate_files WHERE table_name = 'x'");
    check(await upload(shop, "papers"), { status: 201 });
  });
});

/** Exports and imports started in workerd and run by `rowgate worker` on Node, with files in a shared bucket. */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Importer, importerOf, workbookOf } from "../contract/imports.ts";
import { startWorkerProcess, type WorkerProcess } from "../jobs/worker-process.ts";
import { type OwnBucket, startBucket } from "../storage/own-bucket.ts";
import { openEdge, type EdgePlace, redisUrl } from "./edge-place.ts";
import { endpoints, tables } from "./edge-visits.ts";

describe.each(["postgres", "mysql"] as const)("in workerd over %s", (engine) => {
  let bucket: OwnBucket;
  let edge: EdgePlace;
  let worker: WorkerProcess;
  let importer: Importer;

  beforeAll(async () => {
    bucket = await startBucket();
    const env = { REDIS_URL: redisUrl(), JOBS_QUEUE: `edge-${randomUUID()}`, ...bucket.env };
    const { goods } = endpoints;
    edge = await openEdge({
      engine,
      tables,
      endpoints: {
        goods: {
          ...goods,
          action: { ...goods.action, export: true, import: true },
          importConfig: { upsertKeys: ["id"] },
        },
      },
      bindings: env,
    });
    worker = await startWorkerProcess({ files: edge.files, env: { ...env, SHOP: edge.url } });
    importer = importerOf(edge);
    for (const id of ["a", "b", "c"])
      await edge.post("goods/create", { id, name: `good ${id}`, stock: 1 });
  }, 60_000);
  afterAll(async () => {
    await worker?.stop();
    await edge?.close();
    await bucket?.stop();
  });

  async function exported(body: object): Promise<string> {
    const started = await edge.post("goods/export", body);
    expect(started.status, JSON.stringify(started.body)).toBe(200);
    const id = started.body.job_id as string;
    const status = async () =>
      (await edge.request(`/api/test/goods/export-status?job_id=${id}`)).body.status;
    await expect.poll(status, { timeout: 20_000, interval: 100 }).toBe("completed");
    return id;
  }

  test("an export is started, finished by the worker, and downloaded whole and in part", async () => {
    const id = await exported({
      format: "csv",
      sort_columns: [{ column: "id", direction: "ASC" }],
    });
    const path = `/api/test/goods/export-download?job_id=${id}`;
    const response = await edge.fetch(path);
    expect(response.status).toBe(200);
    const bytes = await response.arrayBuffer();
    expect(new TextDecoder().decode(bytes)).toContain("good a");
    expect(response.headers.get("Content-Length")).toBe(String(bytes.byteLength));
    const part = await edge.fetch(path, { headers: { Range: "bytes=0-1" } });
    expect([part.status, (await part.arrayBuffer()).byteLength]).toEqual([206, 2]);
  });

  test("a workbook is looked through, and committed by the worker", async () => {
    const rows = Array.from({ length: 2_000 }, (_, at) => [`row-${at}`, `imported ${at}`, at]);
    const bytes = await workbookOf([["id", "name", "stock"], ...rows]);
    const upload = await importer.sendFile("goods", bytes);
    expect(upload.status, JSON.stringify(upload.body)).toBe(200);
    expect(upload.body.total_rows).toBe(2_000);
    const { upload_id } = upload.body;
    const preview = await edge.post("goods/import-preview", { upload_id });
    const preview_job_id = preview.body.job_id as string;
    const seen = await importer.ended("goods", preview_job_id);
    expect(seen.body, JSON.stringify(seen.body)).toMatchObject({ status: "preview_ok" });
    const done = await importer.commit("goods", preview_job_id);
    expect(done.body, JSON.stringify(done.body)).toMatchObject({ status: "completed" });
    const read = await edge.post("goods/read", { page: 1 });
    expect(read.body.pagination.total_records).toBe(2_003);
  });

  test("what is no workbook is refused, and not kept", async () => {
    const { status, body } = await importer.sendFile(
      "goods",
      new TextEncoder().encode("PK nothing"),
    );
    expect({ status, error: body.error }).toEqual({ status: 400, error: "Invalid file" });
  });

  test("the empty workbook has the headings of an import", async () => {
    const response = await edge.fetch("/api/test/goods/import-template");
    expect(response.status).toBe(200);
    const template = new Uint8Array(await response.arrayBuffer());
    expect(String.fromCharCode(...template.subarray(0, 2))).toBe("PK");
  });
});

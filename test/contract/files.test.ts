/** `files`: who may give which file to a record, in every way in which a record is written, and when files go. */
import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { HookContext } from "../../core/plans/hook.ts";
import type { Row } from "../../core/values/row.ts";
import type { FileEntry } from "../../core/values/types/file-type.ts";
import { check, record } from "./cases.ts";
import {
  download,
  ledgerRow,
  letExpire,
  openKeeper,
  pdf,
  png,
  stored,
  upload,
  uploaded,
} from "./files.ts";
import { type Answer, openFixture, openForTests } from "./harness.ts";

const action = {
  create: true,
  read: true,
  first: true,
  update: true,
  delete: true,
  "bulk-create": true,
  "bulk-update": true,
  "bulk-delete": true,
  upsert: true,
};
const composites = { "create-composite": true, "update-composite": true };
const files = {
  scan: { types: ["application/pdf", "image/*"], maxMb: 1 },
  photos: { multiple: true },
};

/** Handlers that refuse papers of this title. */
const refusing =
  (title: string) =>
  ({ data, reject }: HookContext): void => {
    if (data["title"] === title) reject(title);
  };

const fixture = openForTests(openFixture, {
  tables: [
    {
      name: "papers",
      columns: {
        paper_id: "key",
        title: { type: "text(40)", unique: true },
        scan: "json",
        photos: "longtext",
        other: "json",
        pages: { type: "integer", check: "pages > 0" },
        is_deleted: { type: "boolean", default: "false" },
      },
    },
    {
      name: "sheets",
      columns: {
        id: "identity",
        paper_id: {
          type: "text(36)",
          references: { table: "papers", column: "paper_id", onDelete: "CASCADE" },
        },
        scan: "longtext",
      },
    },
    {
      name: "notes",
      columns: { note_id: "key", scan: "json", is_deleted: { type: "boolean", notNull: true } },
    },
  ],
  endpoints: {
    papers: {
      tableName: "papers",
      action: { ...action, ...composites },
      files: { ...files, other: {} },
      history: true,
      components: {
        onBeforeInsert: ["components/probe.ts#before"],
        onAfterInsert: ["components/probe.ts#after"],
      },
      masterDetail: { detailTable: "sheets", foreignKey: "paper_id" },
      relations: { sheets: { endpoint: "sheets", foreignColumn: "paper_id" } },
    },
    // The rule is the table's.
    "papers-too": { tableName: "papers", action },
    sheets: { tableName: "sheets", action, files: { scan: {} } },
    notes: {
      tableName: "notes",
      action: { ...action, restore: true },
      softDelete: true,
      files: { scan: {} },
    },
  },
  components: {
    "components/probe.ts": { before: refusing("refused before"), after: refusing("refused after") },
  },
  project: { batch: { enabled: true }, fileKeepDays: 7 },
});

const invalid = { status: 400, error: "Validation failed" };
const duplicate = { status: 409, error: "Duplicate entry" };
const paper = (fields: object = {}) => ({ title: randomUUID(), ...fields });
const created = async (fields: object = {}) =>
  record(await fixture.post("papers/create", paper(fields)));
const first = async (paper_id: unknown, endpoint = "papers") =>
  (await fixture.post(`${endpoint}/first`, { where: [{ key: "paper_id", value: paper_id }] })).body
    .data;

describe("file-upload", () => {
  test("answers what it stored", async () => {
    const answer = await upload(fixture, "papers", { name: "A b.pdf" });
    expect(answer.status).toBe(201);
    expect(answer.body).toEqual({
      success: true,
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name: "A b.pdf",
      type: "application/pdf",
      bytes: pdf().length,
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      timestamp: expect.any(String),
    });
  });

  test("takes the field behind the file too, and gives the file to that field", async () => {
    const scan = await uploaded(fixture, "papers", { isLate: true });
    expect(await ledgerRow(fixture, scan.id)).toMatchObject({ column_name: "scan" });
    expect(await created({ scan: { id: scan.id } })).toMatchObject({ scan });
    const text = { isLate: true, field: "photos", name: "b.txt", bytes: "text" };
    const photo = await uploaded(fixture, "papers", text);
    const wrong = await fixture.post("papers/create", paper({ scan: { id: photo.id } }));
    expect(wrong.status).toBe(400);
  });

  test.each([
    ["no field at all", { field: null }, 400, "Invalid payload"],
    ["an unknown field behind it", { field: "scann", isLate: true }, 400, "Invalid parameter"],
    [
      "a type that the field behind it does not take",
      { bytes: "plain text", isLate: true },
      400,
      "Invalid file",
    ],
    [
      "more bytes than the field behind it takes",
      { bytes: pdf("x".repeat(1024 ** 2)), isLate: true },
      413,
      "Payload too large",
    ],
    ["a field that takes no files", { field: "title" }, 400, "Invalid parameter"],
    ["an unknown field", { field: "scann" }, 400, "Invalid parameter"],
    ["no field", { field: "" }, 400, "Invalid payload"],
    ["a type that the field does not take", { bytes: "plain text" }, 400, "Invalid file"],
    ["a page that calls itself pdf", { bytes: "<html><script>x()</script>" }, 400, "Invalid file"],
    [
      "more bytes than the field takes",
      { bytes: pdf("x".repeat(1024 ** 2)) },
      413,
      "Payload too large",
    ],
  ])("refuses %s, and keeps nothing", async (_, sent, status, error) => {
    const before = await stored(fixture);
    check(await upload(fixture, "papers", sent), { status, error });
    expect(await stored(fixture)).toEqual(before);
  });
});

describe("a record", () => {
  test("has the file from then on, and shows what is known of it", async () => {
    const scan = await uploaded(fixture, "papers", { name: "größe.pdf" });
    const photos = [
      await uploaded(fixture, "papers", { field: "photos", name: "a.png", bytes: png }),
      await uploaded(fixture, "papers", { field: "photos", name: "b.txt", bytes: "text" }),
    ];
    const made = await created({ scan: { id: scan.id }, photos: photos.map(({ id }) => ({ id })) });
    expect(made).toMatchObject({ scan, photos });
    expect(await first(made["paper_id"])).toMatchObject({ scan, photos });
    expect((await first(made["paper_id"], "papers-too")).photos).toEqual(photos);
    expect(await ledgerRow(fixture, scan.id)).toMatchObject({ expires_at: null, owner_hash: null });
    const [one, other] = photos as [FileEntry, FileEntry];
    // What was shown is sent back, in another order and with one less.
    const { body } = await fixture.post("papers/update", {
      paper_id: made["paper_id"],
      scan,
      photos: [other],
    });
    expect(body.data).toMatchObject({ scan, photos: [other] });
    expect((await ledgerRow(fixture, one.id))?.["expires_at"]).not.toBeNull();
    expect((await ledgerRow(fixture, other.id))?.["expires_at"]).toBeNull();
  });

  test.each([
    ["a text", "x", 'must be a file: {"id": …}, with the id that file-upload answered'],
    [
      "a list",
      [{ id: randomUUID() }],
      'must be a file: {"id": …}, with the id that file-upload answered',
    ],
    ["no id", {}, "must have an id that file-upload answered"],
    ["another id", { id: "../../etc/passwd" }, "must have an id that file-upload answered"],
    [
      "a misspelled member",
      { id: randomUUID(), nam: 1 },
      'must not have a member "nam"; did you mean "name"?',
    ],
  ])("refuses %s", async (_, scan, message) => {
    check(await fixture.post("papers/create", paper({ scan })), {
      ...invalid,
      errors: { scan: [message] },
    });
  });

  const notYours =
    "must name files that you uploaded for this field within a day and that no record has, or those of the record";
  const refused = async (fields: object, name = "scan", endpoint = "papers") =>
    check(await fixture.post(`${endpoint}/create`, paper(fields)), {
      ...invalid,
      errors: { [name]: [notYours] },
    });

  test("gets no unknown, used, expired file, nor one of another field or table", async () => {
    await refused({ scan: { id: randomUUID() } });
    const scan = { id: (await uploaded(fixture, "papers")).id };
    await refused({ other: scan }, "other");
    await refused({ photos: [scan] }, "photos");
    const { id } = await uploaded(fixture, "sheets");
    await refused({ scan: { id } });
    await created({ scan });
    await refused({ scan }, "scan", "papers-too");
    const late = { id: (await uploaded(fixture, "papers")).id };
    await letExpire(fixture, late.id);
    await refused({ scan: late });
  });

  test("does not take the file of another one, nor of another of its own fields", async () => {
    const scan = { id: (await uploaded(fixture, "papers")).id };
    const owner = await created({ scan });
    const thief = await created();
    const update = (paper_id: unknown, fields: object) =>
      fixture.post("papers/update", { paper_id, ...fields });
    check(await update(thief["paper_id"], { scan }), { ...invalid, errors: ["scan"] });
    check(await update(owner["paper_id"], { other: scan }), { ...invalid, errors: ["other"] });
    check(await update(owner["paper_id"], { scan }), { status: 200 });
  });

  test.each<[string, (scan: object, taken: Row) => Promise<Answer>, object]>([
    [
      "a dry run",
      (scan) => fixture.post("papers/create", paper({ scan }), { prefer: "tx=rollback" }),
      { status: 201 },
    ],
    [
      "a dry run that would be undone anyway",
      (scan, { title }) =>
        fixture.post("papers/create", { title, scan }, { prefer: "tx=rollback" }),
      duplicate,
    ],
    [
      "a dry run of a batch",
      (scan) => {
        const step = { endpoint: "papers", action: "create", body: paper({ scan }) };
        return fixture.post("_batch", { steps: [step] }, { prefer: "tx=rollback" });
      },
      { status: 200 },
    ],
    [
      "a write that is refused for another field",
      (scan) => fixture.post("papers/create", { title: "x".repeat(41), scan }),
      invalid,
    ],
    [
      "a write that is refused for another file",
      (scan) => fixture.post("papers/create", paper({ scan, other: { id: randomUUID() } })),
      invalid,
    ],
    [
      "a write that is refused for a line",
      (scan) =>
        fixture.post("papers/create-composite", {
          papers: paper({ scan, sheets: [{ scan: { id: randomUUID() } }] }),
        }),
      invalid,
    ],
    [
      "a write that is refused for another record",
      (scan) => fixture.post("papers/bulk-create", { data: [paper({ scan }), paper({ scan })] }),
      invalid,
    ],
    [
      "a write that a handler refuses before it begins",
      (scan) => fixture.post("papers/create", { scan, title: "refused before" }),
      { status: 422, error: "Rejected by hook" },
    ],
    [
      "a change of a record that is not there",
      (scan) => fixture.post("papers/update", { paper_id: randomUUID(), scan }),
      { status: 404, error: "Not found" },
    ],
    [
      "a change of a record that is another by now",
      (scan, { paper_id }) =>
        fixture.post("papers/update", { paper_id, scan }, { "if-match": '"other"' }),
      { status: 412, error: "Precondition failed" },
    ],
  ])("leaves the claim to the caller after %s", async (_, write, answer) => {
    const scan = { id: (await uploaded(fixture, "papers")).id };
    const got = await write(scan, await created());
    check(got, answer);
    expect(JSON.stringify(got.body)).not.toContain("removed_files");
    expect((await ledgerRow(fixture, scan.id))?.["owner_hash"]).not.toBeNull();
    await created({ scan });
  });

  const create = (body: object) => ({ endpoint: "papers", action: "create", body });
  test.each<[string, (scan: object, taken: Row) => Promise<Answer>, object]>([
    [
      "a constraint refuses",
      (scan, { title }) => fixture.post("papers/create", { title, scan }),
      duplicate,
    ],
    [
      "the database refuses for a field",
      (scan) => fixture.post("papers/create", paper({ scan, pages: -1 })),
      invalid,
    ],
    [
      "a constraint refuses as a change",
      async (scan, { title }) => {
        const { paper_id } = await created();
        return fixture.post("papers/update", { paper_id, title, scan });
      },
      duplicate,
    ],
    [
      "a handler refuses afterwards",
      (scan) => fixture.post("papers/create", { scan, title: "refused after" }),
      { status: 422, error: "Rejected by hook" },
    ],
    [
      "is one of many of which one is refused",
      (scan, { title }) =>
        fixture.post("papers/bulk-create", { data: [paper({ scan }), { title }] }),
      duplicate,
    ],
    [
      "is one of many of which the database refuses one for a field",
      (scan) =>
        fixture.post("papers/bulk-create", {
          data: [paper({ scan }), paper({ pages: -1 }), paper()],
        }),
      invalid,
    ],
    [
      "is a step before one that a constraint refuses",
      (scan, { title }) =>
        fixture.post("_batch", { steps: [create(paper({ scan })), create({ title })] }),
      duplicate,
    ],
    [
      "is a step before one whose fields are refused",
      (scan) =>
        fixture.post("_batch", {
          steps: [create(paper({ scan })), create({ title: "x".repeat(41) })],
        }),
      invalid,
    ],
  ])("is removed with the write that %s", async (_, write, answer) => {
    const { id } = await uploaded(fixture, "papers");
    const got = await write({ id }, await created());
    check(got, answer);
    expect(got.body.data).toEqual({ removed_files: [id] });
    expect(await stored(fixture)).not.toContain(id);
    expect(await ledgerRow(fixture, id)).toBeNull();
    await refused({ scan: { id } });
  });

  test("of each record is removed with this record, where others are stored", async () => {
    const [a, b] = [await uploaded(fixture, "papers"), await uploaded(fixture, "papers")];
    const { title } = await created();
    const data = [paper({ scan: { id: a.id } }), { title, scan: { id: b.id } }];
    const { status } = await fixture.post("papers-too/bulk-create", { data, mode: "each" });
    expect(status).toBe(207);
    expect(await stored(fixture)).toContain(a.id);
    expect(await stored(fixture)).not.toContain(b.id);
    expect(await ledgerRow(fixture, b.id)).toBeNull();
  });

  test("of another record stays where a write that wanted it is undone", async () => {
    const { id } = await uploaded(fixture, "papers");
    const { title } = await created();
    const answers = await Promise.all(
      [paper(), { title }, paper(), { title }].map((body) =>
        fixture.post("papers/create", { ...body, scan: { id } }),
      ),
    );
    const isTaken = answers.some(({ status }) => status === 201);
    expect((await stored(fixture)).includes(id)).toBe(isTaken);
    expect((await ledgerRow(fixture, id)) !== null).toBe(isTaken);
  });

  test("is one of two writers that want the same claim", async () => {
    const scan = { id: (await uploaded(fixture, "papers")).id };
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => fixture.post("papers/create", paper({ scan }))),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 400, 400, 400, 400, 400]);
  });
});

describe("every way to write", () => {
  const claim = async () => ({ id: (await uploaded(fixture, "papers")).id });

  test("bulk-create: each record has its own, and the fault of one names it", async () => {
    const [a, b] = [await claim(), await claim()];
    const good = await fixture.post("papers-too/bulk-create", {
      data: [paper({ scan: a }), paper({ scan: b }), paper()],
    });
    expect(good.body.data.map((one: { scan: FileEntry | null }) => one.scan?.id)).toEqual([
      a.id,
      b.id,
      undefined,
    ]);
    const c = await claim();
    const twice = { data: [paper({ scan: c }), paper({ scan: c })] };
    check(await fixture.post("papers-too/bulk-create", twice), {
      ...invalid,
      errors: ["[1].scan"],
    });
    const { status, body } = await fixture.post("papers-too/bulk-create", {
      ...twice,
      mode: "each",
    });
    expect([status, body.summary]).toEqual([207, { succeeded: 1, failed: 1 }]);
  });

  test("bulk-update: by record, and the same for all only where one record is meant", async () => {
    const [one, two] = [await created(), await created()];
    const [a, b] = [await claim(), await claim()];
    const { paper_id } = one;
    const answer = await fixture.post("papers/bulk-update", {
      data: [
        { paper_id, scan: a },
        { paper_id: two["paper_id"], scan: b },
      ],
    });
    expect(answer.body.data.map(({ scan }: { scan: FileEntry }) => scan.id)).toEqual([a.id, b.id]);
    const c = await claim();
    const set = (ids: unknown[], expect: number) =>
      fixture.post("papers/bulk-update", {
        where: { conditions: [{ key: "paper_id", operator: "IN", value: ids }] },
        set: { scan: c },
        expect,
      });
    check(await set([paper_id, two["paper_id"]], 2), invalid);
    check(await set([paper_id], 1), { status: 200 });
    expect((await first(paper_id)).scan.id).toBe(c.id);
    expect((await ledgerRow(fixture, a.id))?.["expires_at"]).not.toBeNull();
  });

  test("upsert: as create and as update", async () => {
    const [a, b] = [await claim(), await claim()];
    const data = paper({ scan: a });
    const send = (scan: object) =>
      fixture.post("papers/upsert", { data: { ...data, scan }, by: ["title"] });
    expect((await send(a)).body.data[0].scan.id).toBe(a.id);
    expect((await send(a)).body.data[0].scan.id).toBe(a.id);
    expect((await send(b)).body.data[0].scan.id).toBe(b.id);
    check(await send(a), invalid);
  });

  test("_batch: each step has its own", async () => {
    const [a, b] = [await claim(), await claim()];
    const create = (scan: object) => ({
      endpoint: "papers",
      action: "create",
      body: paper({ scan }),
    });
    check(await fixture.post("_batch", { steps: [create(a), create(a)] }), invalid);
    const c = await claim();
    check(await fixture.post("_batch", { steps: [create(b), create(c)] }), { status: 200 });
    expect(await stored(fixture)).toEqual(expect.arrayContaining([b.id, c.id]));
  });

  test("composites: the header and its lines have files", async () => {
    const line = async () => ({ id: (await uploaded(fixture, "sheets")).id });
    const [head, one, two, three] = [await claim(), await line(), await line(), await line()];
    const sheets = [{ scan: one }, { scan: two }, {}];
    const made = await fixture.post("papers/create-composite", {
      papers: paper({ scan: head, sheets }),
    });
    check(made, { status: 201, data: { scan: head } });
    const { paper_id, sheets: lines } = made.body.data;
    expect(lines.map(({ scan }: { scan: FileEntry | null }) => scan?.id)).toEqual([
      one.id,
      two.id,
      undefined,
    ]);
    const query = { id: String(lines[0].id), field: "scan" };
    expect((await download(fixture, "sheets", query)).status).toBe(200);
    const change = (operations: object) =>
      fixture.post("papers/update-composite", { papers: { paper_id, sheets: operations } });
    // A line cannot have the file of the header, nor of another line.
    for (const scan of [head, two])
      check(await change({ update: [{ id: lines[0].id, scan }] }), {
        ...invalid,
        errors: ["sheets[0].scan"],
      });
    const changed = await change({
      update: [{ id: lines[0].id, scan: three }],
      delete: [{ id: lines[1].id }],
    });
    check(changed, { status: 200 });
    for (const { id } of [one, two])
      expect((await ledgerRow(fixture, id))?.["expires_at"]).not.toBeNull();
    for (const { id } of [head, three])
      expect((await ledgerRow(fixture, id))?.["expires_at"]).toBeNull();
  });
});

describe("files go", () => {
  test("some days after they were replaced, or their record deleted, also by a cascade", async () => {
    const keeper = await openKeeper(fixture);
    try {
      const [a, b] = [await uploaded(fixture, "papers"), await uploaded(fixture, "papers")];
      const c = await uploaded(fixture, "sheets");
      const unclaimed = await uploaded(fixture, "papers");
      const { paper_id } = await created({ scan: a });
      await fixture.post("papers/update", { paper_id, scan: b });
      record(await fixture.post("sheets/create", { paper_id, scan: c }));
      const days = async (id: string) => {
        const { expires_at: at } = (await ledgerRow(fixture, id)) ?? {};
        const time = at instanceof Date ? at : at && new Date(`${String(at).replace(" ", "T")}Z`);
        return time ? Math.round((Number(time) - Date.now()) / 86_400_000) : at;
      };
      expect([await days(a.id), await days(b.id), await days(c.id)]).toEqual([7, null, null]);
      for (const { id } of [a, b, c]) await letExpire(fixture, id);
      await keeper.sweep();
      expect((await stored(fixture)).includes(a.id)).toBe(false);
      expect(await ledgerRow(fixture, a.id)).toBeNull();
      for (const { id } of [b, c, unclaimed]) expect(await stored(fixture)).toContain(id);
      check(
        await fixture.post("papers/delete", { where: [{ key: "paper_id", value: paper_id }] }),
        { status: 200 },
      );
      expect([await days(b.id), await days(c.id)]).toEqual([7, 7]);
      for (const { id } of [b, c, unclaimed]) await letExpire(fixture, id);
      await keeper.sweep();
      for (const { id } of [b, c, unclaimed]) expect(await stored(fixture)).not.toContain(id);
    } finally {
      await keeper.close();
    }
  });

  test("not while their record is only marked, and restore shows them again", async () => {
    const scan = await uploaded(fixture, "notes");
    const { note_id } = record(await fixture.post("notes/create", { scan }));
    const where = [{ key: "note_id", value: note_id }];
    await fixture.post("notes/delete", { where });
    const query = { note_id: String(note_id), field: "scan" };
    expect((await download(fixture, "notes", query)).status).toBe(404);
    expect((await ledgerRow(fixture, scan.id))?.["expires_at"]).toBeNull();
    check(await fixture.post("notes/restore", { where }), { status: 200 });
    expect((await download(fixture, "notes", query)).status).toBe(200);
  });

  test("unless history brings them back before", async () => {
    const [a, b] = [await uploaded(fixture, "papers"), await uploaded(fixture, "papers")];
    const { paper_id } = await created({ scan: a });
    await fixture.post("papers/update", { paper_id, scan: b });
    const changes = async () =>
      (await fixture.post("papers/history", { paper_id })).body.data as {
        change_id: string;
        changes: object;
      }[];
    const [last] = await changes();
    expect(last!.changes).toEqual({ scan: { from: a, to: b } });
    const revert = (change_id: string) => fixture.post("papers/revert", { change_id });
    check(await revert(last!.change_id), { status: 200, data: { scan: a } });
    expect((await ledgerRow(fixture, a.id))?.["expires_at"]).toBeNull();
    expect((await ledgerRow(fixture, b.id))?.["expires_at"]).not.toBeNull();
    await fixture.post("papers/delete", { where: [{ key: "paper_id", value: paper_id }] });
    const [deletion] = await changes();
    check(await revert(deletion!.change_id), { status: 201 });
    expect((await first(paper_id)).scan).toEqual(a);
    expect((await ledgerRow(fixture, a.id))?.["expires_at"]).toBeNull();
    // The other one has expired meanwhile.
    await letExpire(fixture, b.id);
    const replaced = (await changes()).find((one) =>
      JSON.stringify(one.changes).includes(`"from":{"id":"${b.id}`),
    );
    check(await revert(replaced!.change_id), { ...invalid, errors: ["scan"] });
  });
});

test.each([
  ["first", { where: [{ key: "scan", value: { id: randomUUID() } }] }, 400],
  ["first", { where: [{ key: "scan", value: null }] }, 200],
  ["read", { where: { conditions: [{ key: "scan", operator: "=", value: "x" }] } }, 400],
  ["read", { where: { conditions: [{ key: "scan", operator: "LIKE", value: "%" }] } }, 400],
  ["read", { where: { conditions: [{ key: "photos", operator: "NOT LIKE", value: "%" }] } }, 400],
  ["read", { where: { conditions: [{ key: "scan", operator: "CONTAINS", value: "x" }] } }, 400],
  ["read", { where: { conditions: [{ key: "scan", operator: "IS NOT NULL" }] } }, 200],
  ["read", { search_value: "scan.pdf", search_by: "scan" }, 400],
  ["read", { sort_columns: [{ column: "scan", order: "asc" }] }, 400],
  ["read", { search_value: "scan.pdf" }, 200],
])("%s with %j asks a field of files only whether it has one", async (name, body, status) => {
  const answer = await fixture.post(`papers/${name}`, body);
  expect(answer.status, JSON.stringify(answer.body)).toBe(status);
  if (status === 400 && !("sort_columns" in body))
    expect(answer.body.message).toMatch(
      /^Column "(?:scan|photos)" holds files: it takes IS NULL and IS NOT NULL$/,
    );
});

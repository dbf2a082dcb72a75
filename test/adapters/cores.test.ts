/**
 * The providers through the cores of react-admin and Refine, over a service on each engine: ra-core checks the form of
 * what a provider answers, and the hooks of both keep, change and show it.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { dataProvider as forReactAdmin } from "../../app/adapters/react-admin.ts";
import {
  auditLogProvider,
  dataProvider as forRefine,
  liveProvider,
} from "../../app/adapters/refine.ts";
import { openAdminPages, recordingFetch, type SentRequest } from "../contract/admin-pages.ts";
import type { Fixture } from "../contract/harness.ts";
import { loadPackages, type Package, renderHooks } from "./rendered.ts";

const packages = await loadPackages();
const { react, ra, refine } = packages;
const element = react.createElement;

let fixture: Fixture;
let sent: SentRequest[] = [];
const rendered: { end(): void }[] = [];
const providerOptions = () => ({
  baseUrl: "http://localhost",
  project: "test",
  versions: true,
  fetch: recordingFetch(fixture, sent),
});

/** A component in react-admin that calls these hooks. */
function inReactAdmin(hooks: () => Package): { readonly last: Package } {
  const probe = renderHooks<Package>(packages, {
    hooks,
    around(inner) {
      const parts = { dataProvider: forReactAdmin(providerOptions()) };
      return element(ra.TestMemoryRouter, null, element(ra.CoreAdminContext, parts, inner));
    },
  });
  rendered.push(probe);
  return probe;
}

/** A component in Refine that calls these hooks. */
function inRefine(hooks: () => Package): { readonly last: Package } {
  const probe = renderHooks<Package>(packages, {
    hooks,
    around(inner) {
      const parts = {
        dataProvider: forRefine(providerOptions()),
        liveProvider: liveProvider(providerOptions()),
        auditLogProvider: auditLogProvider(providerOptions()),
        options: { disableTelemetry: true },
      };
      return element(refine.Refine, parts, inner);
    },
  });
  rendered.push(probe);
  return probe;
}

const page = { pagination: { page: 1, perPage: 10 }, sort: { field: "id", order: "ASC" } };
const namesOf = (records: Package) => records?.map((one: Package) => one.order_no ?? one.name);

// ra-core prints every refusal, and the renderer that it is deprecated.
const printed = vi.spyOn(console, "error").mockReturnValue();
afterAll(() => printed.mockRestore());

describe.each(["sqlite", "postgres", "mysql"] as const)("on %s", (engine) => {
  beforeAll(async () => {
    fixture = await openAdminPages({ engine });
  });
  afterAll(() => fixture?.close());
  beforeEach(() => {
    sent = [];
  });
  afterEach(() => {
    for (const probe of rendered.splice(0)) probe.end();
  });

  describe("react-admin", () => {
    /** The provider behind the checks of ra-core. */
    async function checked(): Promise<Package> {
      const probe = inReactAdmin(() => ra.useDataProvider());
      await expect.poll(() => probe.last).toBeDefined();
      return probe.last;
    }

    test("takes every answer of the provider", async () => {
      const provider = await checked();
      expect((await provider.getList("orders", { ...page, filter: {} })).total).toBe(4);
      const uncounted = { ...page, filter: {}, meta: { count: "none" } };
      expect((await provider.getList("orders", uncounted)).pageInfo.hasNextPage).toBe(false);
      expect((await provider.getOne("orders", { id: "2" })).data.order_no).toBe("A/2");
      expect((await provider.getMany("customers", { ids: ["a", "c"] })).data).toHaveLength(2);
      const lines = { ...page, filter: {}, target: "order_no", id: "A-1" };
      expect((await provider.getManyReference("order-lines", lines)).total).toBe(2);
      const made = await provider.create("orders", { data: { order_no: "N-1", amount: 1 } });
      const { id } = made.data;
      const previousData = made.data;
      const changed = await provider.update("orders", { id, data: { amount: 2 }, previousData });
      expect(changed.data.amount).toBe(2);
      await provider.updateMany("orders", { ids: [id], data: { amount: 3 } });
      await expect(provider.delete("orders", { id, previousData })).rejects.toMatchObject({
        status: 412,
      });
      expect((await provider.delete("orders", { id })).data.amount).toBe(3);
      const more = await provider.create("orders", { data: { order_no: "N-2" } });
      expect(await provider.deleteMany("orders", { ids: [more.data.id] })).toEqual({
        data: [more.data.id],
      });
    });

    test("shows a list by a related name, and the customers that its orders refer to", async () => {
      const probe = inReactAdmin(() => ({
        list: ra.useGetList("orders", { ...page, sort: { field: "customer.name", order: "DESC" } }),
        // Together: ra-core makes one getMany of them.
        customers: ["a", "b", "c"].map((id) => ra.useReference({ reference: "customers", id })),
      }));
      await expect
        .poll(() => namesOf(probe.last?.list.data))
        .toEqual(["50%_x", "A-1", "A/2", "A-4"]);
      expect(probe.last.list.total).toBe(4);
      const customers = () => probe.last.customers.map((one: Package) => one.referenceRecord?.name);
      await expect.poll(customers).toEqual(["Ada", "Bob", "Cid"]);
      expect(sent.filter(({ path }) => path === "customers/read")).toHaveLength(1);
    });

    test("edits a record whose key has several columns, and gets the messages of its fields", async () => {
      const id = "A-1,2";
      const probe = inReactAdmin(() =>
        ra.useEditController({
          resource: "order-lines",
          id,
          mutationMode: "pessimistic",
          redirect: false,
        }),
      );
      await expect.poll(() => probe.last?.record?.goods).toBe("Ink");
      const { record } = probe.last;
      const errors = await probe.last.save({ ...record, qty: "many" });
      expect(errors).toEqual({
        qty: expect.any(String),
        root: { serverError: expect.any(String) },
      });
      expect(await probe.last.save({ ...record, qty: 8 })).toBeUndefined();
      await expect.poll(() => probe.last.record.qty).toBe(8);
      expect(probe.last.record._version).not.toBe(record._version);
      expect(sent.at(-1)!.body).not.toHaveProperty("goods");
      await probe.last.save({ ...probe.last.record, qty: 1 });
    });

    test("aborts a request that nobody waits for any more", async () => {
      const signals: (AbortSignal | null | undefined)[] = [];
      const held = forReactAdmin({
        ...providerOptions(),
        async fetch(input, init) {
          if (String(input).endsWith("/read")) {
            signals.push(init?.signal);
            return new Promise(() => {});
          }
          return recordingFetch(fixture, [])(input, init);
        },
      });
      const probe = renderHooks<Package>(packages, {
        hooks: () => ra.useGetList("orders", page),
        around: (inner) =>
          element(
            ra.TestMemoryRouter,
            null,
            element(ra.CoreAdminContext, { dataProvider: held }, inner),
          ),
      });
      await expect.poll(() => signals.length).toBe(1);
      expect(signals[0]?.aborted).toBe(false);
      probe.end();
      await expect.poll(() => signals[0]?.aborted).toBe(true);
    });
  });

  describe("Refine", () => {
    test("shows a list by a related name, one record and many", async () => {
      const probe = inRefine(() => ({
        table: refine.useTable({
          resource: "orders",
          sorters: { initial: [{ field: "customer.name", order: "desc" }] },
          filters: { permanent: [{ field: "amount", operator: "gte", value: 20 }] },
          pagination: { pageSize: 2 },
          syncWithLocation: false,
        }),
        one: refine.useOne({ resource: "order-lines", id: "A~2f~2,1" }),
        many: refine.useMany({ resource: "customers", ids: ["b", "c"] }),
      }));
      await expect.poll(() => namesOf(probe.last?.table.result.data)).toEqual(["50%_x", "A/2"]);
      expect([probe.last.table.result.total, probe.last.table.pageCount]).toEqual([3, 2]);
      await expect.poll(() => probe.last.one.result?.goods).toBe("Pad");
      await expect
        .poll(() => namesOf(probe.last.many.result.data)?.toSorted())
        .toEqual(["Bob", "Cid"]);
    });

    test("shows what somebody else changes, and who changed it", async () => {
      const meta = { id: "2" };
      const probe = inRefine(() => ({
        one: refine.useOne({ resource: "orders", id: "2", liveMode: "auto" }),
        log: refine.useLogList({ resource: "orders", meta }),
      }));
      await expect.poll(() => probe.last?.one.result?.amount).toBe(20);
      const logged = probe.last.log.data?.length ?? 0;
      const somebody = forRefine({ ...providerOptions(), versions: false });
      let amount = 20;
      const change = () =>
        somebody.update({ resource: "orders", id: 2, variables: { amount: ++amount } });
      // The stream tells of what follows its beginning.
      await expect
        .poll(
          async () => {
            if (probe.last.one.result.amount === 20) await change();
            return probe.last.one.result.amount;
          },
          { timeout: 10_000, interval: 300 },
        )
        .toBeGreaterThan(20);
      await probe.last.log.refetch();
      await expect
        .poll(() => [probe.last.log.data[0].action, probe.last.log.data.length > logged])
        .toEqual(["update", true]);
      await somebody.update({ resource: "orders", id: 2, variables: { amount: 20 } });
    });

    test("writes with its mutations, and gets the messages of fields", async () => {
      const probe = inRefine(() => ({
        create: refine.useCreate(),
        createMany: refine.useCreateMany(),
        update: refine.useUpdate(),
        updateMany: refine.useUpdateMany(),
        remove: refine.useDelete(),
        removeMany: refine.useDeleteMany(),
        custom: refine.useCustomMutation(),
        url: refine.useApiUrl(),
      }));
      await expect.poll(() => probe.last).toBeDefined();
      const call = (name: string, params: object) =>
        (probe.last[name].mutateAsync ?? probe.last[name].mutation.mutateAsync)({
          resource: "orders",
          ...params,
        });
      const refused = call("create", { values: { order_no: "", amount: -1 } });
      await expect(refused).rejects.toMatchObject({
        statusCode: 400,
        errors: { order_no: [expect.any(String)], amount: [expect.any(String)] },
      });
      const { data } = await call("create", { values: { order_no: "R-1" } });
      const values = { amount: 2, _version: data._version };
      expect((await call("update", { id: data.id, values })).data.amount).toBe(2);
      await expect(call("update", { id: data.id, values })).rejects.toMatchObject({
        statusCode: 412,
      });
      const made = await call("createMany", { values: [{ order_no: "R-2" }, { order_no: "R-3" }] });
      const ids = [data.id, ...made.data.map((one: Package) => one.id)];
      await call("updateMany", { ids, values: { amount: 9 } });
      const url = `${probe.last.url}/orders/first`;
      const found = await call("custom", {
        url,
        method: "post",
        values: { where: { key: "id", value: ids[2] } },
      });
      expect(found.data.data).toMatchObject({ order_no: "R-3", amount: 9 });
      await call("remove", { id: ids[0] });
      await call("removeMany", { ids: ids.slice(1) });
      expect(await fixture.sql("SELECT order_no FROM orders WHERE order_no LIKE 'R-%'")).toEqual(
        [],
      );
    });
  });
});

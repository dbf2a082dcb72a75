/** OData 4: sets, records and what they lead to, on related records and callers who see only some of them. */
import { describe, expect, test } from "vitest";
import { odataOver, pathIn } from "./odata.ts";
import { openTrade } from "./trade.ts";
import { openForTests } from "./harness.ts";

const trade = openForTests(openTrade, { odata: true, limits: { maxOffset: 1_500 } });

const get = odataOver(() => trade);
const as = (role?: string): Record<string, string> =>
  role === undefined ? {} : { "x-role": role };
const root = "http://localhost/odata/test/";

/** The values of one property of a list. */
const column = async (path: string, property: string, role?: string): Promise<unknown[]> => {
  const { status, body } = await get(path, as(role));
  expect(status, JSON.stringify(body)).toBe(200);
  return body.value.map((record: Record<string, unknown>) => record[property]);
};

describe("the service document and the metadata", () => {
  test("name the sets that the caller may read, also those without lists", async () => {
    const { body, headers } = await get("");
    expect(headers.get("odata-version")).toBe("4.0");
    expect(headers.get("content-type")).toBe(
      "application/json;odata.metadata=minimal;charset=utf-8",
    );
    expect(body["@odata.context"]).toBe(`${root}$metadata`);
    expect(body.value).toContainEqual({
      name: "order_lines",
      kind: "EntitySet",
      url: "order_lines",
    });
    const names = body.value.map(({ name }: { name: string }) => name);
    expect(names).toContain("residents");
    // Lookup and datatables alone show no records.
    expect(names).not.toContain("buyers");
    expect((await trade.request("/odata/test")).body).toEqual(body);
  });

  test("leave out what the caller may not read, and relations to it", async () => {
    const { body } = await get("", as("outsider"));
    expect(body.value.map(({ name }: { name: string }) => name)).not.toContain("customers");
    const { body: metadata } = await get("$metadata", as("outsider"));
    expect(metadata).not.toContain("customersRecord");
    expect(metadata).not.toContain('NavigationProperty Name="customer"');
    const { body: blind } = await get("$metadata", as("blind"));
    const [, customers = ""] =
      /<EntityType Name="customersRecord">([^]*?)<\/EntityType>/.exec(blind) ?? [];
    expect(customers).toContain('Name="region"');
    expect(customers).not.toContain('Name="email"');
  });

  test("describe types, keys and relations", async () => {
    const { body, headers } = await get("$metadata");
    expect(headers.get("content-type")).toBe("application/xml; charset=utf-8");
    expect(headers.get("odata-version")).toBe("4.0");
    for (const part of [
      '<Key><PropertyRef Name="product_id"/><PropertyRef Name="tag_id"/></Key>',
      '<Property Name="amount" Type="Edm.Decimal" Precision="10" Scale="2"/>',
      '<Property Name="placed_on" Type="Edm.Date"/>',
      '<NavigationProperty Name="customer" Type="rowgate.customersRecord"><ReferentialConstraint Property="customer_id" ReferencedProperty="id"/></NavigationProperty>',
      // A key can be referenced, another unique column cannot.
      '<NavigationProperty Name="writer" Type="rowgate.customersRecord"/>',
      '<NavigationProperty Name="lines" Type="Collection(rowgate.order_linesRecord)"/>',
      '<NavigationPropertyBinding Path="lines" Target="order_lines"/>',
      '<EntitySet Name="residents" EntityType="rowgate.residentsRecord"><Annotation Term="Org.OData.Capabilities.V1.ReadRestrictions">',
      "<String>contains</String>",
    ])
      expect(body).toContain(part);
  });
});

describe("a set", () => {
  test("shows its records, how many there are, and the selected properties", async () => {
    const { body } = await get("orders?$select=order_no,amount&$count=true&$top=2&$skip=1");
    expect(body).toEqual({
      "@odata.context": `${root}$metadata#orders(order_no,amount)`,
      "@odata.count": 5,
      value: [
        { order_no: "A2", amount: 20 },
        { order_no: "A3", amount: 5 },
      ],
    });
  });

  const filters: [filter: string, found: string[]][] = [
    ["amount gt 10", ["A1", "A2", "A5"]],
    ["amount ge 20.00 and amount lt 30", ["A2"]],
    ["10.5 eq amount", ["A1"]],
    ["20 le amount", ["A2", "A5"]],
    ["amount eq 10.50 or order_no eq 'A3' or order_no eq 'A4'", ["A1", "A3", "A4"]],
    ["amount lt 6 or amount gt 6 and order_no eq 'A5'", ["A3", "A5"]],
    ["(amount lt 6 or amount gt 6) and order_no eq 'A5'", ["A5"]],
    ["order_no in ('A1','A5','A9')", ["A1", "A5"]],
    ["customer_email in (null,'ada@a.no')", ["A1", "A2", "A4", "A5"]],
    ["not (order_no in ('A1','A5'))", ["A2", "A3", "A4"]],
    ["order_no in ()", []],
    // eq, ne and the others are true or false, also for null.
    ["placed_on eq null", ["A3"]],
    ["placed_on ne null", ["A1", "A2", "A4", "A5"]],
    ["placed_on gt null", []],
    ["placed_on ne 2026-02-01", ["A1", "A3", "A4", "A5"]],
    ["not (placed_on eq 2026-02-01)", ["A1", "A3", "A4", "A5"]],
    ["not (placed_on gt 2026-02-01)", ["A1", "A2", "A3"]],
    ["not (customer_email in ('ada@a.no'))", ["A2", "A3", "A4", "A5"]],
    ["not not (placed_on lt 2026-02-01)", ["A1"]],
    ["placed_on ge 2026-02-01T00:00:00Z and placed_on lt 2026-03-01T00:00:00.000Z", ["A2", "A4"]],
    // Functions are null for null.
    ["contains(customer_email,'@A.')", ["A1"]],
    ["not contains(customer_email,'@A.')", ["A3"]],
    ["contains(customer_email,'@a.') eq false", ["A3"]],
    ["contains(customer_email,'@a.') ne true", ["A2", "A3", "A4", "A5"]],
    ["not (contains(customer_email,'@a.') eq true)", ["A2", "A3", "A4", "A5"]],
    ["indexof(customer_email,'@a.') eq -1", ["A3"]],
    ["indexof(customer_email,'@a.') ge 0", ["A1"]],
    ["startswith(customer_email,'BOB') eq true", ["A3"]],
    ["endswith(customer_email,'.no') or endswith(customer_email,'.at')", ["A1", "A3"]],
    ["contains(order_no,'%25') or contains(order_no,'_')", []],
    ["tolower(customer_email) eq 'ada@a.no'", ["A1"]],
    ["tolower(customer_email) eq 'Ada@a.no'", []],
    ["tolower(customer_email) ne 'ada@a.no'", ["A2", "A3", "A4", "A5"]],
    ["toupper(customer_email) in ('ADA@A.NO','BOB@B.AT')", ["A1", "A3"]],
    ["contains(tolower(customer_email),tolower('ADA'))", ["A1"]],
    ["contains(tolower(customer_email),'ADA')", []],
    // Paths of relations to one; a deleted or missing record has no properties.
    ["customer/name eq 'Ada'", ["A1", "A5"]],
    ["customer/city/country eq 'Austria'", ["A2"]],
    ["customer/name ne 'Ada'", ["A2", "A3", "A4"]],
    ["not (customer/name eq 'Ada')", ["A2", "A3", "A4"]],
    ["customer eq null", ["A3", "A4"]],
    ["customer ne null", ["A1", "A2", "A5"]],
    ["customer/boss/name eq 'Ada'", ["A2"]],
    // any and all
    ["lines/any()", ["A1", "A2", "A5"]],
    ["not lines/any()", ["A3", "A4"]],
    ["lines/any(l: l/qty gt 1)", ["A1", "A5"]],
    ["not lines/any(l: l/qty gt 1)", ["A2", "A3", "A4"]],
    ["lines/all(l: l/qty ge 1)", ["A1", "A3", "A4", "A5"]],
    ["not lines/all(l: l/qty ge 1)", ["A2"]],
    ["lines/all(x:x/qty gt 1)", ["A3", "A4", "A5"]],
    ["not lines/all(l: contains(l/note,'t'))", ["A1", "A2"]],
    ["lines/any(l: l/product/name eq 'Pen' and l/qty eq 2)", ["A1"]],
    ["lines/any(l: l/product/tags/any(t: t/name eq 'red'))", ["A1", "A2"]],
    ["customer/orders/any(o: o/amount eq 30)", ["A1", "A5"]],
    ["customer/staff/any(s: s/name eq 'Bob') and amount gt 20", ["A5"]],
    ["true", ["A1", "A2", "A3", "A4", "A5"]],
    ["not true", []],
    ["$it/order_no eq 'A1'", ["A1"]],
    ["order_no eq 'it''s'", []],
  ];
  test.each(filters)("is filtered by %s", async (filter, found) => {
    expect(await column(`orders?$filter=${filter}&$orderby=order_no`, "order_no")).toEqual(found);
  });

  test.each([
    ["$filter=not lines/any()", "2"],
    ["$filter=customer/name eq 'Ada'&$search=A1", "1"],
    ["$search=nowhere", "0"],
  ])("is counted by %s", async (query, count) => {
    const { body, headers } = await get(`orders/$count?${query}`);
    expect(body).toBe(count);
    expect(headers.get("content-type")).toBe("text/plain; charset=utf-8");
  });

  const orders: [order: string, found: string[]][] = [
    ["amount desc", ["A5", "A2", "A1", "A4", "A3"]],
    ["customer/name,order_no desc", ["A4", "A3", "A5", "A1", "A2"]],
    ["placed_on asc", ["A3", "A1", "A2", "A4", "A5"]],
  ];
  test.each(orders)("is sorted by %s", async (order, found) => {
    expect(await column(`orders?$orderby=${order}`, "order_no")).toEqual(found);
  });

  const searches: [search: string, found: string[]][] = [
    ["a2", ["A2"]],
    ["A1 ada", ["A1"]],
    ["A1 AND bob", []],
    ["A1 OR bob", ["A1", "A3"]],
    ['"ada@a.no"', ["A1"]],
  ];
  test.each(searches)("is searched for %s", async (search, found) => {
    expect(await column(`orders?$search=${search}`, "order_no")).toEqual(found);
  });

  test("goes on by @odata.nextLink, with the rest of $top", async () => {
    const seen: unknown[] = [];
    const links: string[] = [];
    const prefer = { prefer: "odata.maxpagesize=2" };
    let answer = await get("orders?$orderby=amount&$select=order_no&$top=5&$count=true", prefer);
    expect(answer.headers.get("preference-applied")).toBe("odata.maxpagesize=2");
    for (;;) {
      expect(answer.body["@odata.count"]).toBe(5);
      seen.push(...answer.body.value.map(({ order_no }: { order_no: string }) => order_no));
      const next = answer.body["@odata.nextLink"];
      if (next === undefined) break;
      links.push(next);
      answer = await trade.request(pathIn(next), { headers: prefer });
    }
    expect(seen).toEqual(["A3", "A4", "A1", "A2", "A5"]);
    expect(links).toHaveLength(2);
    expect(links.every((link) => link.startsWith(`${root}orders?`))).toBe(true);
    expect(new URL(links[1]!).searchParams.get("$top")).toBe("1");
    // Behind the beginning, a record that was added before the place does not move the page.
    expect(new URL(links[0]!).searchParams.get("$skiptoken")).toMatch(/^2\..+/);
  });

  test("goes on by number where records show no key, or the key is not unique", async () => {
    const prefer = { prefer: "maxpagesize=4" };
    const seen: unknown[] = [];
    let answer = await get("clients?$orderby=name&$select=name", prefer);
    for (;;) {
      seen.push(...answer.body.value.map(({ name }: { name: string }) => name));
      const next = answer.body["@odata.nextLink"];
      if (next === undefined) break;
      answer = await trade.request(pathIn(next), { headers: { prefer: "maxpagesize=1" } });
    }
    expect(seen).toEqual(["Ada", "Ada", "Bob", "Bob", "Dan", "Dan", "Eve", "Eve"]);
  });

  test("shows nothing for $top=0 but the count", async () => {
    const { body } = await get("orders?$top=0&$count=true");
    expect(body).toMatchObject({ "@odata.count": 5, value: [] });
    expect(body).not.toHaveProperty("@odata.nextLink");
  });

  test("shows other records after a write", async () => {
    const names = () => column("customers?$filter=region eq 'west'&$count=true", "name");
    expect(await names()).toEqual([]);
    expect((await trade.post("customers/create", { name: "Fay", region: "west" })).status).toBe(
      201,
    );
    expect(await names()).toEqual(["Fay"]);
    await trade.post("customers/delete", { where: [{ key: "name", value: "Fay" }] });
    expect(await names()).toEqual([]);
    expect((await get("customers/$count?$filter=region eq 'west'")).body).toBe("0");
  });
});

describe("$expand", () => {
  test("nests records to one and to many, with options", async () => {
    const { body } = await get(
      "orders?$select=order_no&$filter=order_no le 'A2'&$orderby=order_no" +
        "&$expand=customer($select=name;$expand=city($select=name)),lines($select=id;$orderby=id desc;$count=true;$top=1)",
    );
    expect(body["@odata.context"]).toBe(
      `${root}$metadata#orders(order_no,customer(name,city(name)),lines(id))`,
    );
    expect(body.value).toEqual([
      {
        order_no: "A1",
        customer: { name: "Ada", city: { name: "Oslo" } },
        "lines@odata.count": 2,
        lines: [{ id: "l2" }],
      },
      {
        order_no: "A2",
        customer: { name: "Bob", city: { name: "Wien" } },
        "lines@odata.count": 1,
        lines: [{ id: "l3" }],
      },
    ]);
  });

  const cases: [expand: string, order: string, shown: object][] = [
    ["lines($filter=qty gt 1;$select=id)", "A1", { lines: [{ id: "l1" }] }],
    ["lines($skip=1;$select=id)", "A1", { lines: [{ id: "l2" }] }],
    [
      "lines($skip=1;$top=1;$count=true;$select=id)",
      "A1",
      { "lines@odata.count": 2, lines: [{ id: "l2" }] },
    ],
    ["lines($top=0;$count=true)", "A1", { "lines@odata.count": 2, lines: [] }],
    ["lines/$count", "A1", { "lines@odata.count": 2 }],
    ["lines/$count($filter=qty gt 1)", "A1", { "lines@odata.count": 1 }],
    ["lines/$count", "A3", { "lines@odata.count": 0 }],
    ["customer", "A3", { customer: null }],
    [
      "customer($select=name;$expand=orders($select=order_no;$orderby=order_no))",
      "A1",
      { customer: { name: "Ada", orders: [{ order_no: "A1" }, { order_no: "A5" }] } },
    ],
    [
      "lines($select=qty;$expand=product($select=name))",
      "A5",
      { lines: [{ qty: 5, product: { name: "Ink" } }] },
    ],
    [
      "customer($select=name;$expand=orders/$count)",
      "A1",
      { customer: { name: "Ada", "orders@odata.count": 2 } },
    ],
  ];
  test.each(cases)("%s of %s", async (expand, order, shown) => {
    const { body } = await get(
      `orders?$filter=order_no eq '${order}'&$select=order_no&$expand=${expand}`,
    );
    expect(body.value, JSON.stringify(body)).toEqual([{ order_no: order, ...shown }]);
  });

  test("counts in texts for clients that ask for long numbers in texts", async () => {
    const counted = "orders?$filter=order_no eq 'A1'&$select=order_no&$expand=lines/$count";
    const { body } = await get(counted, { accept: "application/json;IEEE754Compatible=true" });
    expect(body.value).toEqual([{ order_no: "A1", "lines@odata.count": "2" }]);
  });

  test("of * shows every relation", async () => {
    const { body } = await get("orders('o1')?$expand=*&$select=order_no");
    expect(Object.keys(body)).toEqual([
      "@odata.context",
      "@odata.etag",
      "order_no",
      "customer",
      "writer",
      "lines",
    ]);
  });

  test("gives the address of the rest of a list that was cut", async () => {
    const rows = Array.from(
      { length: 1_003 },
      (_, at) => `('m${String(at).padStart(4, "0")}', 'o4', 'p1', ${at}, null)`,
    );
    await trade.sql(`INSERT INTO order_lines VALUES ${rows.join(", ")}`);
    const { body } = await get(
      "orders('o4')?$select=order_no&$expand=lines($filter=qty ge 1;$select=id)",
    );
    expect(body.lines).toHaveLength(1_000);
    const rest = body["lines@odata.nextLink"];
    const { body: further } = await trade.request(pathIn(rest));
    expect(further.value).toEqual([{ id: "m1001" }, { id: "m1002" }]);
    // With $top nothing is cut.
    const { body: some } = await get("orders('o4')?$expand=lines($top=1)");
    expect(some).not.toHaveProperty("lines@odata.nextLink");
    await trade.sql("DELETE FROM order_lines WHERE order_id = 'o4'");
  });
});

describe("a record", () => {
  const found: [path: string, shown: object][] = [
    [
      "orders('o1')?$select=order_no",
      { "@odata.context": `${root}$metadata#orders(order_no)/$entity`, order_no: "A1" },
    ],
    ["orders(id='o1')?$select=order_no", { order_no: "A1" }],
    ["product_tags(product_id='p1',tag_id='t1')", { product_id: "p1", tag_id: "t1" }],
    ["product_tags(tag_id='t1',product_id='p1')", { product_id: "p1", tag_id: "t1" }],
    [
      "orders('o1')/customer?$select=name",
      { "@odata.context": `${root}$metadata#customers(name)/$entity`, name: "Ada" },
    ],
    [
      "orders('o1')/customer?$select=name&$expand=city($select=name)",
      { name: "Ada", city: { name: "Oslo" } },
    ],
    [
      "customers('b')/orders?$select=order_no",
      { "@odata.context": `${root}$metadata#orders(order_no)`, value: [{ order_no: "A2" }] },
    ],
    [
      "products('p1')/tags?$select=name&$orderby=name desc&$count=true",
      { "@odata.count": 2, value: [{ name: "red" }, { name: "new" }] },
    ],
    [
      "orders('o1')/lines?$filter=qty gt 1&$select=id&$expand=product($select=name)",
      { value: [{ id: "l1", product: { name: "Pen" } }] },
    ],
    ["orders('o1')/lines?$filter=product/name eq 'Ink'&$select=id", { value: [{ id: "l2" }] }],
    ["orders('o3')/lines", { value: [] }],
  ];
  test.each(found)("%s", async (path, shown) => {
    const { status, body } = await get(path);
    expect(status).toBe(200);
    expect(body).toMatchObject(shown);
  });

  test("has the ETag that If-Match takes", async () => {
    const { body, headers } = await get("customers('e')");
    const etag = headers.get("etag")!;
    expect(body["@odata.etag"]).toBe(etag);
    const { status } = await trade.post(
      "customers/update",
      { id: "e", name: "Eve" },
      { "if-match": etag },
    );
    expect(status).toBe(200);
  });

  test.each([
    ["orders('o1')/lines/$count", "2"],
    ["orders('o1')/lines/$count?$filter=qty gt 1", "1"],
    ["products('p1')/tags/$count", "2"],
    ["orders('o3')/lines/$count", "0"],
  ])("counts %s", async (path, count) => {
    const { body, headers } = await get(path);
    expect(body).toBe(count);
    expect(headers.get("content-type")).toBe("text/plain; charset=utf-8");
  });

  test("goes on with its related records page by page", async () => {
    const { body } = await get("customers('a')/orders?$select=order_no", {
      prefer: "odata.maxpagesize=1",
    });
    expect(body.value).toEqual([{ order_no: "A1" }]);
    const { body: next } = await trade.request(pathIn(body["@odata.nextLink"]));
    expect(next.value).toEqual([{ order_no: "A5" }]);
    expect(next).not.toHaveProperty("@odata.nextLink");
    const token = new URL(body["@odata.nextLink"]).searchParams.get("$skiptoken");
    expect((await get(`customers('a')/staff?$skiptoken=${token}`)).status).toBe(400);
  });

  test("answers 204 where a relation leads to no record", async () => {
    const { status, body, headers } = await get("orders('o3')/customer");
    expect([status, body, headers.get("odata-version")]).toEqual([204, "", "4.0"]);
  });
});

describe("a caller", () => {
  const seen: [role: string, path: string, property: string, found: unknown[]][] = [
    ["north", "customers?$orderby=id", "id", ["a", "e"]],
    ["north", "orders?$filter=customer/name eq 'Bob'", "order_no", []],
    ["north", "orders?$filter=customer ne null&$orderby=id", "order_no", ["A1", "A5"]],
    ["north", "customers('e')/orders", "order_no", []],
    ["north", "products('p1')/tags", "name", ["new"]],
    ["north", "products('p2')/tags", "name", []],
    ["north", "cities('c1')/residents", "name", ["Eve"]],
    ["operator", "cities('c1')/residents?$orderby=name", "name", ["Ada", "Eve"]],
    ["north", "cities('c1')/patrons?$orderby=name", "name", ["Ada", "Eve"]],
  ];
  test.each(seen)("%s finds in %s only own records", async (role, path, property, found) => {
    expect(await column(path, property, role)).toEqual(found);
  });

  const refused: [role: string, path: string, status: number, message: RegExp][] = [
    ["north", "customers('b')", 404, /^customers has no such record$/],
    ["north", "customers('b')/orders", 404, /^customers has no such record$/],
    ["operator", "customers('d')", 404, /^customers has no such record$/],
    ["operator", "customers('nobody')", 404, /^customers has no such record$/],
    ["operator", "residents", 403, /^You may not list residents/],
    ["operator", "residents/$count", 403, /^You may not list residents/],
    ["outsider", "customers", 404, /^Unknown entity set$/],
    ["outsider", "customers('a')", 404, /^Unknown entity set$/],
    ["outsider", "customerz", 404, /^Unknown entity set$/],
    ["operator", "customerz", 404, /^Unknown entity set "customerz"; did you mean "customers"\?$/],
    ["outsider", "orders?$expand=customer", 400, /^Unknown property "customer" in \$expand$/],
    ["outsider", "orders?$expand=custome", 400, /^Unknown property "custome" in \$expand$/],
    [
      "outsider",
      "orders?$filter=customer/name eq 'Ada'",
      400,
      /^Unknown property "customer" in \$filter$/,
    ],
    [
      "outsider",
      `orders?$expand=${"customer($expand=orders($expand=".repeat(550)}x${"))".repeat(550)}`,
      400,
      /^\$expand is nested too deeply$/,
    ],
    [
      "operator",
      "orders?$expand=customer($select=name;$select=city_id)",
      400,
      /^\$select stands in the options of "customer" twice$/,
    ],
    ["outsider", "orders('o1')/customer", 400, /^Unknown property "customer" in the address$/],
    ["untagged", "products('p1')/tags", 400, /^Unknown property "tags"/],
    ["untagged", "products?$filter=tags/any()", 400, /^Unknown property "tags" in \$filter$/],
    [
      "blind",
      "customers?$filter=email eq 'ada@a.no'",
      400,
      /^Unknown property "email" in \$filter$/,
    ],
    [
      "blind",
      "customers?$filter=emaik eq 'ada@a.no'",
      400,
      /^Unknown property "emaik" in \$filter$/,
    ],
    ["blind", "customers?$orderby=email", 400, /^Unknown property "email"/],
    ["blind", "customers?$select=email", 400, /^Unknown property "email"/],
    ["blind", "orders?$filter=customer/email eq 'x'", 400, /^Unknown property "customer\/email"/],
    ["blind", "orders?$expand=customer($select=email)", 400, /^Unknown property "email"/],
    ["blind", "orders?$expand=writer", 400, /^Unknown property "writer"/],
  ];
  test.each(refused)("%s is refused %s with %i", async (role, path, status, message) => {
    const answer = await get(path, as(role));
    expect([answer.status, answer.body.error?.message]).toEqual([
      status,
      expect.stringMatching(message),
    ]);
    expect(answer.headers.get("odata-version")).toBe("4.0");
  });

  test("does not see hidden columns", async () => {
    const { body } = await get("customers('a')", as("blind"));
    expect(body).not.toHaveProperty("email");
    const { body: nested } = await get("orders?$expand=customer", as("blind"));
    expect(
      JSON.stringify(nested.value.map(({ customer }: { customer: unknown }) => customer)),
    ).not.toContain("email");
    expect(await column("customers?$search=ada@a", "name", "blind")).toEqual([]);
    expect(await column("customers?$search=ada@a", "name")).toEqual(["Ada"]);
  });
});

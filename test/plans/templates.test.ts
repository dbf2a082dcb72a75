/** Texts with variables: how they are taken apart, and what hostile values become in URLs and bodies. */
import { describe, expect, test } from "vitest";
import { ExactNumber } from "../../core/values/json.ts";
import {
  fillJson,
  fillUrl,
  hasDotSegment,
  type JsonTemplate,
  parseTemplate,
  type Template,
  type TemplateValues,
} from "../../core/plans/templates.ts";

const columns = ["code", "total", "note", "doc", "active", "price"];

const values = (more: Record<string, unknown> = {}): TemplateValues => ({
  change: {
    id: "o1",
    newStatus: "posted",
    oldStatus: null,
    remarks: null,
    tableName: "orders",
    user_id: null,
    timestamp: "2026-01-31T10:00:00.000Z",
  },
  record: { code: "a b", total: 12.5, note: null, doc: { a: [1, null] }, active: true },
  requestData: JSON.parse(JSON.stringify({ status: "posted" })),
  ...more,
});

function templateOf(text: string): Template {
  const parsed = parseTemplate(text, columns);
  if (!parsed.ok) throw new Error(parsed.found);
  return parsed.template;
}

const url = (text: string, given = values()) => fillUrl(templateOf(text), given);
const json = (text: string, given = values()): unknown =>
  JSON.parse(fillJson({ kind: "text", template: templateOf(text) }, given));
const sent = (value: unknown) => values({ requestData: { x: value } });

describe("a text is taken apart", () => {
  test.each([
    ["plain", ["plain"]],
    ["", []],
    ["{{id}}", [{ from: "change", name: "id" }]],
    ["{{ id }}", [{ from: "change", name: "id" }]],
    ["a{{record.code}}b", ["a", { from: "record", name: "code" }, "b"]],
    ["{{requestData.a.b}}", [{ from: "requestData", name: "a.b" }]],
    ['{"a":{"b":1}}', ['{"a":{"b":1}}']],
    ["}} {", ["}} {"]],
  ])("%s", (text, parts) => {
    expect(parseTemplate(text, columns)).toEqual({ ok: true, template: parts });
  });

  test.each([
    ["{{id", "{{ without }}", null],
    ["{{id}} {{", "{{ without }}", null],
    ["{{}}", "the unknown variable {{}}", null],
    ["{{newStatu}}", "the unknown variable {{newStatu}}", "newStatus"],
    ["{{record.cod}}", "the unknown variable {{record.cod}}", "record.code"],
    ["{{record.secret}}", "the unknown variable {{record.secret}}", null],
    ["{{record.__proto__}}", "the unknown variable {{record.__proto__}}", null],
    ["{{record.}}", "the unknown variable {{record.}}", null],
    ["{{requestData.}}", "the unknown variable {{requestData.}}", null],
    ["{{requestData}}", "the unknown variable {{requestData}}", null],
    ["{{constructor}}", "the unknown variable {{constructor}}", null],
    ["{{{id}}}", "the unknown variable {{{id}}", null],
  ])("but not %s", (text, found, near) => {
    const parsed = parseTemplate(text, columns);
    expect(parsed).toMatchObject({ ok: false, found });
    if (near !== null) expect(parsed).toMatchObject({ near });
  });
});

describe("in a URL", () => {
  test.each([
    ["a blank and an umlaut", "a ü", "a%20%C3%BC"],
    ["a slash", "../../admin", "..%2F..%2Fadmin"],
    ["a backslash", "..\\admin", "..%5Cadmin"],
    ["another host", "@evil.example/", "%40evil.example%2F"],
    ["another parameter", "1&admin=1#x?y", "1%26admin%3D1%23x%3Fy"],
    ["a variable", "{{record.code}}", "%7B%7Brecord.code%7D%7D"],
    ["an encoded segment", "%2e%2e", "%252e%252e"],
    ["a line break", "a\r\nHost: evil", "a%0D%0AHost%3A%20evil"],
    ["half a character", "a\ud800b", "a%EF%BF%BDb"],
    ["nothing", null, ""],
    ["a number", 1.5, "1.5"],
    ["digits that a double cannot hold", new ExactNumber("9007199254740993"), "9007199254740993"],
    ["an object", { a: 1 }, "%7B%22a%22%3A1%7D"],
    ["three points", "...", "..."],
  ])("%s stays a value", (_, value, encoded) => {
    const filled = url(
      "http://hooks.example/a/{{requestData.x}}/b?x={{requestData.x}}",
      sent(value),
    );
    expect(filled).toBe(`http://hooks.example/a/${encoded}/b?x=${encoded}`);
    expect(new URL(filled).host).toBe("hooks.example");
    expect(new URL(filled).pathname.split("/")).toHaveLength(4);
  });

  test.each([".", ".."])("a value of %s is refused where it would change the path", (value) => {
    expect(() => url("/api/a/{{requestData.x}}/b", sent(value))).toThrow("change the path");
    expect(url("/api/a?x={{requestData.x}}", sent(value))).toBe(`/api/a?x=${value}`);
    expect(url("/api/a-{{requestData.x}}", sent(value))).toBe(`/api/a-${value}`);
  });

  test.each([
    ["http://a/b/../c", true],
    ["http://a/b/%2E%2e", true],
    ["http://a/.%2e/c", true],
    ["http://a/b/./c", true],
    ["http://a/b/...", false],
    ["http://a/b?x=/../", false],
  ])("%s has a segment of points: %s", (text, is) => {
    expect(hasDotSegment(text)).toBe(is);
  });
});

describe("in a body", () => {
  test.each([
    ["{{id}}", "o1"],
    ["{{oldStatus}}", null],
    ["{{record.total}}", 12.5],
    ["{{record.note}}", null],
    ["{{record.active}}", true],
    ["{{record.doc}}", { a: [1, null] }],
    ["{{record.price}}", null],
    ["{{requestData.missing}}", null],
    ["{{requestData.toString}}", null],
    ["{{requestData.__proto__}}", null],
    ["{{requestData.status}}", "posted"],
    ["{{id}}{{id}}", "o1o1"],
    ["total {{record.total}}{{record.note}}!", "total 12.5!"],
    ["{{record.doc}} as text", '{"a":[1,null]} as text'],
    ["", ""],
  ])("%s becomes %j", (text, value) => {
    expect(json(text)).toEqual(value);
  });

  test.each([
    '"}, "admin": true, {"',
    "{{record.code}}",
    "{{",
    "\u0000\u2028\ud800",
    "$& $1 $$",
    "__proto__",
  ])("the text %j stays that text", (value) => {
    expect(json("{{requestData.x}}", sent(value))).toBe(value);
    expect(json("<{{requestData.x}}>", sent(value))).toBe(`<${value}>`);
  });

  test("digits that a double cannot hold stay as they are, at every depth", () => {
    const big = new ExactNumber("9007199254740993");
    const template: JsonTemplate = { kind: "text", template: templateOf("{{requestData.x}}") };
    expect(fillJson(template, sent(big))).toBe("9007199254740993");
    expect(fillJson(template, sent({ a: [big] }))).toBe('{"a":[9007199254740993]}');
  });

  test("objects and arrays keep their shape, with what is no text as it is", () => {
    const template: JsonTemplate = {
      kind: "object",
      members: [
        ["{{id}}", { kind: "array", items: [{ kind: "literal", json: "1" }] }],
        ["__proto__", { kind: "text", template: templateOf("{{id}}") }],
      ],
    };
    expect(fillJson(template, values())).toBe('{"{{id}}":[1],"__proto__":"o1"}');
  });
});

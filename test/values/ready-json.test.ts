/** Parts of an answer that are JSON already, as texts and as bytes. */
import { describe, expect, test } from "vitest";
import { asString, joined, jsonOf, parsed, ReadyJson } from "../../core/values/ready-json.ts";

const bytes = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text);

describe("jsonOf", () => {
  test.each(
    [null, 1, "a", [1], {}, { a: 1, b: undefined }, { a: { b: [] } }].map((value) => [value]),
  )("writes %j as JSON.stringify does", (value) =>
    expect(jsonOf(value)).toBe(JSON.stringify(value)),
  );

  test("puts texts between other members as they are", () => {
    const value = { 'q"': 1, none: undefined, data: new ReadyJson('[{"a": 1}]'), last: null };
    expect(jsonOf(value)).toBe('{"q\\"":1,"data":[{"a": 1}],"last":null}');
    expect(jsonOf({ data: new ReadyJson("[]") })).toBe('{"data":[]}');
  });

  test("is bytes where a member is", () => {
    const list = '[{"größe": "\u{1F600}"}]';
    const value = { first: "ä", data: new ReadyJson(bytes(list)), last: new ReadyJson("[]") };
    expect(jsonOf(value)).toEqual(bytes(`{"first":"ä","data":${list},"last":[]}`));
  });
});

test("joined gives bytes if one of the parts is", () => {
  expect(joined([])).toBe("");
  expect(joined(["a", "ß"])).toBe("aß");
  expect(joined(["ä", bytes("ö"), "", bytes("")])).toEqual(bytes("äö"));
});

test.each(["", "[1]", '"\uFEFFä"'])("asString gives %j back from its bytes", (text) => {
  expect(asString(bytes(text))).toBe(text);
  expect(asString(text)).toBe(text);
});

test("parsed reads both", () => {
  expect(parsed('{"a":["ä"]}')).toEqual({ a: ["ä"] });
  expect(parsed(bytes('{"a":["ä"]}'))).toEqual({ a: ["ä"] });
});

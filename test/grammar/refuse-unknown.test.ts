import { describe, expect, test } from "vitest";
import { object, whatever } from "../../core/grammar/grammar.ts";
import { refuseUnknown } from "../../core/calls/payload.ts";

describe("refuseUnknown", () => {
  test("names ten members, and looks at the value of none that is unknown", () => {
    const members = Object.fromEntries(Array.from({ length: 90_000 }, (_, at) => [`m${at}`, at]));
    let looks = 0;
    const sent = new Proxy(members, {
      get(target, name) {
        looks++;
        return Reflect.get(target, name);
      },
    });
    const names = Array.from({ length: 10 }, (_, at) => `"m${at}"`).join("; ");
    expect(() => refuseUnknown(object({ known: whatever }), sent, "payload")).toThrow(
      `Unknown members in the payload: ${names}`,
    );
    expect(looks).toBe(0);
  });
});

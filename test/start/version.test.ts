import { expect, test } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { version } from "../../app/start/opening/app-over.ts";

test("the service names the version of package.json", () => {
  expect(version).toBe(manifest.version);
});

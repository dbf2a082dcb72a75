/** The message for a driver that cannot be loaded: the package, and how to install it. */
import { expect, test } from "vitest";
import { connectFault } from "../../../db/engines/sqlite/connect-fault.ts";
import { enginesOf, openEngine } from "../../../db/open-engine.ts";
import { address as sqlite } from "../../../db/engines/sqlite/address.ts";
import { remoteRegistrations } from "../../../db/open-remote.ts";

const broken = enginesOf(
  [...remoteRegistrations, { address: sqlite }].map(({ address }) => ({
    address,
    load: () => Promise.reject(new Error("Cannot find package")),
  })),
);
const options = { decimals: "number", statementTimeoutMs: 0, connectionsMax: 1 } as const;

test.each([
  ["postgres://localhost/shop", "postgres", "postgres"],
  ["mysql://localhost/shop", "mysql2", "mysql"],
  ["sqlite:./shop.db", "better-sqlite3", "sqlite"],
])("%s without its driver names the package %s", async (url, driver, scheme) => {
  await expect(openEngine(broken, url, options)).rejects.toThrow(
    `The package ${driver}, the driver for ${scheme}: databases, cannot be loaded; run npm install ${driver}`,
  );
});

test.each(["MODULE_NOT_FOUND", "ERR_DLOPEN_FAILED"])(
  "a native part that cannot be loaded (%s) is not taken for a fault of the file",
  (code) => {
    expect(connectFault(Object.assign(new Error("dlopen"), { code }), "/shop.db")).toEqual({
      reason: `the native part of the package better-sqlite3 cannot be loaded on ${process.platform} ${process.arch}`,
      remedy: "delete node_modules and install the packages on this machine: npm install",
      isLasting: true,
    });
  },
);

/** Checks before each test file that it runs on the runtime that `contract-run.ts` asked for. */
const asked = process.env["TEST_RUNTIME"];
const { bun, deno, node } = process.versions;
const actual = bun ? "bun" : deno ? "deno" : "node";
if (asked !== undefined && asked !== `${actual} ${bun ?? deno ?? node}`)
  throw new Error(
    `These tests should run on ${asked}, and run on ${actual} ${bun ?? deno ?? node}`,
  );

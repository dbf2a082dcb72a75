/** Before each test file: that it really runs on the runtime that `contract-run.ts` asked for, and not on the one beside it. */
const asked = process.env["TEST_RUNTIME"];
const { bun, deno, node } = process.versions;
const actual = bun ? "bun" : deno ? "deno" : "node";
if (asked !== undefined && asked !== `${actual} ${bun ?? deno ?? node}`)
  throw new Error(
    `These tests should run on ${asked}, and run on ${actual} ${bun ?? deno ?? node}`,
  );

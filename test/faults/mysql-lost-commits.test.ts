import { testLostCommits } from "./lost-commits.ts";

/** The command that prepares a text: its answer is not that of the COMMIT. */
const prepare = 0x16;

testLostCommits("mysql", (_, sentLast) => sentLast[4] !== prepare);

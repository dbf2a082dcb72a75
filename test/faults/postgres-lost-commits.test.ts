import { testLostCommits } from "./lost-commits.ts";

testLostCommits("postgres", (fromServer) => fromServer.includes("COMMIT"));

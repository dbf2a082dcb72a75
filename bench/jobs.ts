/**
 * `npm run bench:jobs [-- export import api] [-- 100000 1000000] [-- sqlite postgres mysql]`: compares exports and
 * imports of the service and its worker to hand-written programs, with the memory of each process, and measures how an
 * export slows other requests. Without arguments it runs everything, in about ten minutes. Results are medians;
 * `BENCH_TURNS=3` sets the number of turns. `BENCH_PYTHON` names another python3.
 */
import { askedEngines, bench } from "./contest.ts";
import { compareApi } from "./job-api.ts";
import { compareExports } from "./job-export.ts";
import { compareImports } from "./job-import.ts";

const asked = process.argv.slice(2);
const sections = ["export", "import", "api"].filter((name) => asked.includes(name));
const isAsked = (name: string): boolean => sections.length === 0 || sections.includes(name);
const sizes = asked.map(Number).filter((size) => size > 0);
const rows = sizes.length === 0 ? [100_000, 1_000_000] : sizes;
const engines = askedEngines();

await bench(
  async (place) => {
    if (isAsked("export") && engines.includes("postgres")) await compareExports(place, rows);
    if (isAsked("import")) await compareImports(place, Math.min(...rows));
    if (isAsked("api")) await compareApi(place, Math.max(...rows));
  },
  { engines, needs: ["redis"] },
);

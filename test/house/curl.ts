/** The part of curl that the README's commands use (`-s`, `-H`, `-d`), for machines without curl. */
import { parseArgs } from "node:util";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    silent: { type: "boolean", short: "s" },
    header: { type: "string", short: "H", multiple: true },
    data: { type: "string", short: "d" },
  },
});
const headers = (values.header ?? []).map((line): [string, string] => {
  const colon = line.indexOf(":");
  return [line.slice(0, colon), line.slice(colon + 1).trim()];
});
const body = values.data === undefined ? {} : { method: "POST", body: values.data };
const response = await fetch(positionals[0]!, { headers, ...body });
process.stdout.write(await response.text());

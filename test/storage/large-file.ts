/**
 * A program that writes a large file into a bucket, reads it again, and prints its peak memory in megabytes. Usage:
 * `node large-file.ts <bucket's URL> <key> <megabytes>`.
 */
import { createBucketFiles } from "../../jobs/files/bucket-files.ts";

const [url = "", key = "", megabytes = ""] = process.argv.slice(2);
const keys = { accessKeyId: key, secretAccessKey: key };
const files = createBucketFiles({ url, region: "us-east-1", keys, prefix: "" });

function* pieces() {
  for (let at = 0; at < Number(megabytes); at++) yield new Uint8Array(1_000_000).fill(at % 256);
}

await files.write("large", pieces());
let bytes = 0;
for await (const piece of await files.read("large")) bytes += piece.byteLength;
if (bytes !== Number(megabytes) * 1_000_000) throw new Error(`${bytes} bytes came back`);
console.log(Math.round(process.resourceUsage().maxRSS / 1024));

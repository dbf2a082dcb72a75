/** The file of a multipart body, with any bytes in chunks of any size. For limits: `contract/import-upload.test.ts`. */
import { describe, expect, test } from "vitest";
import { readUpload } from "../../app/http/read-upload.ts";
import { createDeadlines } from "../../core/values/deadlines.ts";

/** The file that is read from a body which arrives in pieces of so many bytes. */
async function fileFrom(
  content: Uint8Array,
  { boundary, pieceBytes }: { boundary: string; pieceBytes: number },
): Promise<Buffer> {
  const disposition = 'Content-Disposition: form-data; name="file"; filename="rows.xlsx"';
  const whole = Buffer.concat([
    Buffer.from(`--${boundary}\r\n${disposition}\r\n\r\n`),
    content,
    Buffer.from(`\r\n--${boundary}--\r\n`),
  ]);
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (let at = 0; at < whole.length; at += pieceBytes)
        controller.enqueue(new Uint8Array(whole.subarray(at, at + pieceBytes)));
      controller.close();
    },
  });
  const headers = { "content-type": `multipart/form-data; boundary="${boundary}"` };
  const init = { method: "POST", headers, body, duplex: "half" as const };
  const { bytes } = await readUpload(new Request("http://localhost/", init), {
    fields: [],
    refusesUnknown: false,
    timeoutMs: 30_000,
    deadlines: createDeadlines(),
  });
  const pieces: Uint8Array[] = [];
  for await (const piece of bytes) pieces.push(piece);
  return Buffer.concat(pieces);
}

const dashes = "-".repeat(70);
const contents: readonly (readonly [string, string, string])[] = [
  ["line ends", "edge", "\r\n"],
  ["the first character of a line end", "edge", "\r"],
  ["the character that the boundary is made of", dashes, "-"],
  ["the beginning of the boundary", `${dashes.slice(1)}x`, `\r\n--${dashes.slice(1)}`],
  ["a boundary without its last character", "edge", "\r\n--edg"],
];

describe.each(contents)("a file of %s", (_, boundary, text) => {
  test("is read as it is, in pieces of any size", async () => {
    const content = Buffer.from(text.repeat(5));
    for (const pieceBytes of [1, 2, 3, 7, 64, 10_000])
      expect(await fileFrom(content, { boundary, pieceBytes })).toEqual(content);
  });

  test("does not hold up the thread", async () => {
    const content = Buffer.alloc(9 * 1024 ** 2, text);
    let leastUs = Infinity;
    for (let attempt = 0; attempt < 3; attempt++) {
      const before = process.cpuUsage();
      const file = await fileFrom(content, { boundary, pieceBytes: Infinity });
      leastUs = Math.min(leastUs, process.cpuUsage(before).user);
      expect(file.length).toBe(content.length);
    }
    // A loop over the bytes took 500,000.
    expect(leastUs).toBeLessThan(200_000);
  });
});

/** Valid and invalid values of STORAGE_URL. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parseStorageUrl } from "../../../core/jobs/storage-url.ts";

test("each bucket that docs/storage.md shows is one", () => {
  const text = readFileSync(join(import.meta.dirname, "../../../docs/storage.md"), "utf8");
  const shown = text.match(/s3:\/\/[^\s`']+/g) ?? [];
  expect(shown.length).toBeGreaterThan(3);
  for (const url of shown) expect(parseStorageUrl(url), url).toMatchObject({ kind: "bucket" });
});

describe("STORAGE_URL", () => {
  test.each([
    ["file:./data/files", "./data/files"],
    ["file:/srv/files", "/srv/files"],
    ["file:///srv/files", "/srv/files"],
    ["file://./files", "./files"],
    ["FILE:files", "files"],
  ])("%s is a folder", (text, path) => {
    expect(parseStorageUrl(text)).toEqual({ kind: "folder", path });
  });

  const aws = "amazonaws.com";
  test.each([
    ["s3://shop", `https://shop.s3.us-east-1.${aws}`, "us-east-1", ""],
    ["s3://shop/", `https://shop.s3.us-east-1.${aws}`, "us-east-1", ""],
    ["s3://shop?region=eu-central-1", `https://shop.s3.eu-central-1.${aws}`, "eu-central-1", ""],
    ["s3://shop/files", `https://shop.s3.us-east-1.${aws}`, "us-east-1", "files/"],
    ["s3://shop/a/b-2/", `https://shop.s3.us-east-1.${aws}`, "us-east-1", "a/b-2/"],
    ["s3://shop.test", `https://s3.us-east-1.${aws}/shop.test`, "us-east-1", ""],
    ["s3://shop?pathStyle=true", `https://s3.us-east-1.${aws}/shop`, "us-east-1", ""],
    ["s3://shop?endpoint=http://minio:9000", "http://minio:9000/shop", "us-east-1", ""],
    ["s3://shop?endpoint=https://s3.test/v1/", "https://s3.test/v1/shop", "us-east-1", ""],
    ["s3://shop?endpoint=https%3A%2F%2Fs3.test", "https://s3.test/shop", "us-east-1", ""],
    [
      "s3://shop?endpoint=https://s3.test:8443&pathStyle=false&region=auto",
      "https://shop.s3.test:8443",
      "auto",
      "",
    ],
  ])("%s is a bucket at %s", (text, url, region, prefix) => {
    expect(parseStorageUrl(text)).toEqual({ kind: "bucket", url, region, prefix });
  });

  test.each([
    ["", "must be a folder"],
    ["file:", "must be a folder"],
    ["data/files", "must be a folder"],
    ["http://shop", "must be a folder"],
    ["s3:shop", "must be a folder"],
    ["s3://", "must name a bucket"],
    ["s3://ab", "must name a bucket"],
    ["s3://Shop", "must name a bucket"],
    ["s3://my_shop", "must name a bucket"],
    ["s3://shop:9000/files", "must name a bucket"],
    ["s3://key:hush@shop", "must hold no credentials"],
    ["s3://key@shop", "must hold no credentials"],
    ["s3://shop/a b", "must have a prefix"],
    ["s3://shop/.files", "must have a prefix"],
    ["s3://shop/a//b", "must have a prefix"],
    ["s3://shop?regoin=eu-central-1", "knows only the parameters region, endpoint, pathStyle"],
    ["s3://shop?region=", "must name a region"],
    ["s3://shop?region=evil.test/", "must name a region"],
    ["s3://shop?endpoint=minio:9000", "must have an endpoint"],
    ["s3://shop?endpoint=http://", "must have an endpoint"],
    ["s3://shop?endpoint=ftp://minio", "must have an endpoint"],
    ["s3://shop?endpoint=http://key:hush@minio", "must have an endpoint"],
    ["s3://shop?endpoint=http://minio%3Fa=b", "must have an endpoint"],
    ["s3://shop?pathStyle=yes", "must have true or false"],
    ["s3://shop?endpoint=http://127.0.0.1:9000&pathStyle=false", "must have pathStyle=true"],
    ["s3://shop?endpoint=http://[::1]:9000&pathStyle=false", "must have pathStyle=true"],
  ])("%j is refused", (text, reason) => {
    expect(parseStorageUrl(text)).toContain(reason);
    expect(parseStorageUrl(text)).not.toContain("hush");
  });
});

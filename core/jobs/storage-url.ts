/** Parses STORAGE_URL: a folder, or a bucket of an S3-compatible service. */

export interface FolderStorage {
  readonly kind: "folder";
  /** As written: absolute, or from the working directory. */
  readonly path: string;
}

export interface BucketStorage {
  readonly kind: "bucket";
  /** The bucket's address, without a final slash: `https://shop.s3.eu-central-1.amazonaws.com`. */
  readonly url: string;
  readonly region: string;
  /** What every key begins with: empty, or ends with `/`. */
  readonly prefix: string;
}

export interface BucketKeys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Of temporary keys. */
  readonly sessionToken?: string | undefined;
}

/** Where files are stored, and the keys for access. */
export type Storage = FolderStorage | (BucketStorage & { readonly keys: BucketKeys });

const folderFault = "must be a folder such as file:./data/files, or a bucket such as s3://bucket";
const bucketShape = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
const prefixShape = /^(?:[A-Za-z0-9_-][A-Za-z0-9._-]*\/)*$/;
export const regionShape = /^[a-z0-9-]{1,64}$/;
const parameterNames = ["region", "endpoint", "pathStyle"];

/**
 * `file:./data/files`, or `s3://bucket/prefix?region=eu-central-1&endpoint=https://minio.internal:9000&pathStyle=true`.
 * `region`: of a bucket whose URL names none. The default endpoint is AWS. A returned text is an error message, which
 * contains nothing of the URL.
 */
export function parseStorageUrl(
  text: string,
  region = "us-east-1",
): FolderStorage | BucketStorage | string {
  const path = /^file:(?:\/\/(?=[/.]))?(.+)$/i.exec(text)?.[1];
  if (path !== undefined) return { kind: "folder", path };
  const url = /^s3:\/\//i.test(text) && URL.canParse(text) ? new URL(text) : null;
  return url ? bucketOf(url, region) : folderFault;
}

function bucketOf(
  { username, password, host, pathname, searchParams }: URL,
  byDefault: string,
): BucketStorage | string {
  if (username + password !== "")
    return "must hold no credentials; they belong into AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY";
  if (!bucketShape.test(host)) return "must name a bucket, such as s3://bucket";
  const prefix = pathname.replace(/^\/+|\/+$/g, "").replace(/.$/, "$&/");
  if (!prefixShape.test(prefix))
    return "must have a prefix of letters, digits, ., - and _ between slashes";
  if ([...searchParams.keys()].some((name) => !parameterNames.includes(name)))
    return `knows only the parameters ${parameterNames.join(", ")}`;
  const region = searchParams.get("region") ?? byDefault;
  if (!regionShape.test(region)) return "must name a region such as eu-central-1";
  const given = searchParams.get("endpoint");
  const endpoint = endpointOf(given ?? `https://s3.${region}.amazonaws.com`);
  if (!endpoint) return "must have an endpoint such as https://minio.internal:9000";
  const pathStyle = searchParams.get("pathStyle");
  if (pathStyle !== null && !/^(true|false)$/.test(pathStyle))
    return "must have true or false as pathStyle";
  // Certificates of hosts end at the first dot; and other services than AWS rarely have a host for each bucket.
  const isInPath = pathStyle === null ? given !== null || host.includes(".") : pathStyle === "true";
  const address = isInPath
    ? `${endpoint.href}/${host}`
    : endpoint.href.replace("://", `://${host}.`);
  if (!URL.canParse(address))
    return "must have pathStyle=true, because an IP address cannot follow the name of a bucket";
  return { kind: "bucket", url: address, region, prefix };
}

/** `href`: without a slash at the end. */
function endpointOf(text: string): { href: string } | null {
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return null;
  const { username, password, search, hash, href } = new URL(text);
  if (username + password + search + hash !== "") return null;
  return { href: href.replace(/\/+$/, "") };
}

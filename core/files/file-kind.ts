/**
 * The media type of a file by its first bytes. What the client says of a file does not count, except that the extension
 * tells apart texts that no byte tells apart. A table of its own, because the libraries for it (file-type 22) follow the
 * structures of a file through buffers that hostile files direct; these signatures are compared in place.
 */
import { fileLimits } from "../values/file-limits.ts";

/** The type of bytes that nothing is known of. */
export const unknownType = "application/octet-stream";

interface Signature {
  readonly type: string;
  /** In Latin-1, where each character is a byte. */
  readonly bytes: string;
  /** Where they stand; absent = at the beginning. */
  readonly at?: number;
  /** What follows elsewhere. */
  readonly and?: { readonly at: number; readonly bytes: RegExp };
}

const office = "application/vnd.openxmlformats-officedocument";

/** The first one that fits counts. */
const signatures: readonly Signature[] = [
  { type: "application/pdf", bytes: "%PDF-" },
  { type: "image/png", bytes: "\x89PNG\r\n\x1a\n" },
  { type: "image/jpeg", bytes: "\xff\xd8\xff" },
  { type: "image/gif", bytes: "GIF87a" },
  { type: "image/gif", bytes: "GIF89a" },
  { type: "image/webp", bytes: "RIFF", and: { at: 8, bytes: /^WEBP/ } },
  { type: "audio/wav", bytes: "RIFF", and: { at: 8, bytes: /^WAVE/ } },
  { type: "video/x-msvideo", bytes: "RIFF", and: { at: 8, bytes: /^AVI / } },
  { type: "image/tiff", bytes: "II*\0" },
  { type: "image/tiff", bytes: "MM\0*" },
  { type: "image/bmp", bytes: "BM", and: { at: 6, bytes: /^\0\0\0\0/ } },
  { type: "image/x-icon", bytes: "\0\0\x01\0" },
  { type: "image/avif", bytes: "ftyp", at: 4, and: { at: 8, bytes: /^avi[fs]/ } },
  { type: "image/heic", bytes: "ftyp", at: 4, and: { at: 8, bytes: /^(?:hei[cxms]|mif1|msf1)/ } },
  { type: "audio/mp4", bytes: "ftyp", at: 4, and: { at: 8, bytes: /^M4[AB]/ } },
  { type: "video/quicktime", bytes: "ftyp", at: 4, and: { at: 8, bytes: /^qt {2}/ } },
  { type: "video/mp4", bytes: "ftyp", at: 4 },
  { type: "video/webm", bytes: "\x1aE\xdf\xa3" },
  { type: "audio/ogg", bytes: "OggS" },
  { type: "audio/flac", bytes: "fLaC" },
  { type: "audio/mpeg", bytes: "ID3" },
  { type: "audio/mpeg", bytes: "\xff", and: { at: 1, bytes: /^[\xfb\xf3\xf2]/ } },
  { type: "application/gzip", bytes: "\x1f\x8b" },
  { type: "application/x-7z-compressed", bytes: "7z\xbc\xaf\x27\x1c" },
  { type: "application/vnd.rar", bytes: "Rar!\x1a\x07" },
  // Word, Excel, PowerPoint and Outlook until 2003.
  { type: "application/x-cfb", bytes: "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" },
  { type: "application/rtf", bytes: "{\\rtf" },
  { type: "application/postscript", bytes: "%!PS" },
  { type: "application/x-msdownload", bytes: "MZ" },
  { type: "application/x-executable", bytes: "\x7fELF" },
];

/** By the names of the members of a zip archive, as far as they are in its first bytes. */
const archives: readonly (readonly [RegExp, string])[] = [
  [
    /^mimetypeapplication\/vnd\.oasis\.opendocument\.text/,
    "application/vnd.oasis.opendocument.text",
  ],
  [
    /^mimetypeapplication\/vnd\.oasis\.opendocument\.spreadsheet/,
    "application/vnd.oasis.opendocument.spreadsheet",
  ],
  [
    /^mimetypeapplication\/vnd\.oasis\.opendocument\.presentation/,
    "application/vnd.oasis.opendocument.presentation",
  ],
  [/^mimetypeapplication\/epub\+zip/, "application/epub+zip"],
  [/^word\//, `${office}.wordprocessingml.document`],
  [/^xl\//, `${office}.spreadsheetml.sheet`],
  [/^ppt\//, `${office}.presentationml.presentation`],
];

/** Texts that only the extension tells apart; none of them can run a script in a browser. */
const texts: Readonly<Record<string, string>> = {
  csv: "text/csv",
  tsv: "text/tab-separated-values",
  md: "text/markdown",
  ics: "text/calendar",
  vcf: "text/vcard",
  eml: "message/rfc822",
};

/** Every type that `mediaTypeIn` can find. */
export const knownTypes: readonly string[] = [
  ...new Set([
    ...signatures.map(({ type }) => type),
    ...archives.map(([, type]) => type),
    ...Object.values(texts),
    "application/zip",
    "application/json",
    "application/xml",
    "image/svg+xml",
    "text/html",
    "text/plain",
    unknownType,
  ]),
].toSorted();

/** Types that browsers show without running anything in them. */
const shownInline =
  /^(?:application\/pdf|text\/plain|image\/(?:png|jpeg|gif|webp|avif|bmp)|(?:audio|video)\/[\w.-]+)$/;

export const isShownInline = (type: string): boolean => shownInline.test(type);

/** Whether a type is one of these; `image/*` stands for all images. */
export const matchesType = (type: string, patterns: readonly string[]): boolean =>
  patterns.some((pattern) =>
    pattern.endsWith("/*") ? type.startsWith(pattern.slice(0, -1)) : type === pattern,
  );

/** `head`: the first bytes of the file, `fileLimits.headBytes` of them if it has so many. */
export function mediaTypeIn(head: Uint8Array, name: string): string {
  if (head.length === 0) return "text/plain";
  const bytes = latin1(head);
  if (bytes.startsWith("PK\x03\x04")) return archiveType(bytes);
  if (bytes.startsWith("PK\x05\x06")) return "application/zip";
  const found = signatures.find((one) => fits(one, bytes));
  return found?.type ?? textType(head, name) ?? unknownType;
}

const fits = ({ bytes: own, at = 0, and }: Signature, bytes: string): boolean =>
  bytes.startsWith(own, at) &&
  (and === undefined || and.bytes.test(bytes.slice(and.at, and.at + 8)));

function archiveType(bytes: string): string {
  for (let at = 0; at >= 0; at = bytes.indexOf("PK\x03\x04", at + 4)) {
    const member = bytes.slice(at + 30, at + 130);
    const found = archives.find(([names]) => names.test(member));
    if (found) return found[1];
  }
  return "application/zip";
}

/** As browsers find out whether a text is a page (WHATWG MIME sniffing). */
const pageStart =
  /^\s*<(?:!--|(?:!doctype\s+html|html|head|script|iframe|h1|div|font|table|a|style|title|b|body|br|p)[\s>])/i;

/**
 * Each part can match in one way only. A comment that could end at a later `-->` as well would take time that doubles
 * with every comment.
 */
const svgRoot = /^(?:\s|<\?xml[^>]*>|<!--(?:(?!-->)[\s\S])*-->|<!doctype\s[^>]*>)*<svg[\s>]/i;

/** Null: it is no text in UTF-8 (or in UTF-16 with a byte order mark). */
function textType(head: Uint8Array, name: string): string | null {
  const text = textOf(head);
  if (text === null) return null;
  if (svgRoot.test(text)) return "image/svg+xml";
  if (pageStart.test(text)) return "text/html";
  if (/^\s*<\?xml[\s?]/.test(text)) return "application/xml";
  const extension = /\.([a-z0-9]+)$/.exec(name.toLowerCase())?.[1] ?? "";
  if (extension === "json" && /^\s*[[{]/.test(text)) return "application/json";
  return (Object.hasOwn(texts, extension) ? texts[extension] : null) ?? "text/plain";
}

function textOf(head: Uint8Array): string | null {
  const [first, second] = head;
  const wide =
    first === 0xff && second === 0xfe
      ? "utf-16le"
      : first === 0xfe && second === 0xff
        ? "utf-16be"
        : null;
  try {
    // A letter may be cut at the end of the head.
    const isCut = head.length >= fileLimits.headBytes;
    const text = new TextDecoder(wide ?? "utf-8", { fatal: true }).decode(head, { stream: isCut });
    // oxlint-disable-next-line no-control-regex -- no text has them
    return /[\0-\x08\x0e-\x1a\x1c-\x1f]/.test(text) ? null : text;
  } catch {
    return null;
  }
}

function latin1(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += 8_192)
    text += String.fromCharCode(...bytes.subarray(at, at + 8_192));
  return text;
}

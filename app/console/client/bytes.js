/** Bytes of a database, which come as base64: their size, their kind by their first bytes, a download, a small picture. */
import { h, icon } from "./dom.js";
import { locale, t } from "./words.js";

/** Kinds that browsers show without running anything, by their first bytes; `.` is any byte. SVG can have scripts. */
const kinds = [
  { start: "\u0089PNG\r\n\u001a\n", media: "image/png", ending: "png" },
  { start: "\u00ff\u00d8\u00ff", media: "image/jpeg", ending: "jpg" },
  { start: "GIF87a", media: "image/gif", ending: "gif" },
  { start: "GIF89a", media: "image/gif", ending: "gif" },
  { start: "RIFF....WEBP", media: "image/webp", ending: "webp" },
  { start: "%PDF-", media: "application/pdf", ending: "pdf" },
];
const unknownKind = { media: "application/octet-stream", ending: "bin" };

/** Larger pictures are only downloaded: lists show many of them. */
const pictureLengthMax = 4_000_000;

/** @param {string} base64 */
function kindOfBytes(base64) {
  let first = "";
  try {
    first = atob(base64.slice(0, 16));
  } catch {
    // Not base64: a value of another kind.
  }
  const isStart = (/** @type {string} */ start) =>
    [...start].every((one, at) => one === "." || first[at] === one);
  return kinds.find(({ start }) => isStart(start)) ?? unknownKind;
}

/** @param {string} base64 */
const sizeOf = (base64) => Math.floor((base64.replace(/=+$/, "").length * 3) / 4);

/** `12.3 kB` @param {number} bytes */
export function sizeText(bytes) {
  const [unit, size] =
    bytes < 1000
      ? ["byte", bytes]
      : bytes < 1_000_000
        ? ["kilobyte", bytes / 1000]
        : ["megabyte", bytes / 1_000_000];
  const style = { style: "unit", unit, unitDisplay: "short", maximumFractionDigits: 1 };
  return new Intl.NumberFormat(locale, /** @type {any} */ (style)).format(size);
}

/** @param {string} base64 @param {string} name of the field, and of the file */
export function bytesShown(base64, name) {
  const { media, ending } = kindOfBytes(base64);
  const isPicture = media.startsWith("image/") && base64.length <= pictureLengthMax;
  const known = ending === "bin" ? "" : `${ending.toUpperCase()}, `;
  const text = known + sizeText(sizeOf(base64));
  const title = t("bytes.download", { name });
  return h(
    "span.bytes",
    isPicture && h("img.small-picture", { src: `data:${media};base64,${base64}`, alt: name }),
    h(
      "button.download",
      {
        type: "button",
        title,
        "aria-label": `${title} (${text})`,
        onclick: () => saveBytes(base64, { media, file: `${name}.${ending}` }),
      },
      icon("down"),
      text,
    ),
  );
}

/** @param {string} base64 @param {{ media: string, file: string }} about */
function saveBytes(base64, { media, file }) {
  const bytes = Uint8Array.from(atob(base64), (one) => one.charCodeAt(0));
  saveAs(new Blob([bytes], { type: media }), file);
}

/** @param {Blob} blob @param {string} file */
export function saveAs(blob, file) {
  const url = URL.createObjectURL(blob);
  h("a", { href: url, download: file }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

/** @param {File} file @returns {Promise<string>} base64 */
export async function bytesIn(file) {
  const bytes = new Uint8Array(await file.arrayBuffer());
  let text = "";
  // In parts, because a call takes only so many arguments.
  for (let at = 0; at < bytes.length; at += 8192)
    text += String.fromCharCode(...bytes.subarray(at, at + 8192));
  return btoa(text);
}

/** Files of records: their names, with which they are saved, and the input that uploads and removes them. */
import { ask, download } from "./api.js";
import { sizeText } from "./bytes.js";
import { fill, h, icon, iconButton } from "./dom.js";
import { jsonText } from "./json.js";
import { tell } from "./notices.js";
import { t } from "./words.js";

/** @import { Row } from "./types.d.ts" */
/** @typedef {{ id: string, name: string, type: string, bytes: number }} Entry */
/** Where files of a record are: its endpoint, and the record; without one they belong to none yet. @typedef {{ path: string, key: readonly string[], row: Row | null | undefined }} FilesPlace */

/** @param {unknown} value @returns {Entry[]} */
export const filesIn = (value) => /** @type {any} */ ([value]).flat().filter(Boolean);

/** The names, each with its size; they save the file where it is the record's. @param {unknown} value @param {string} field @param {FilesPlace | null} place */
export const filesShown = (value, field, place) =>
  h(
    "span.files",
    filesIn(value).map((entry) => fileShown(entry, field, place)),
  );

/** @param {Entry} entry @param {string} field @param {FilesPlace | null} place */
function fileShown({ id, name, bytes }, field, place) {
  const size = h("span.quiet", ` ${sizeText(bytes)}`);
  const { path, key, row } = place ?? { path: "", key: [], row: null };
  const isKnown = row && filesIn(row[field]).some((one) => one.id === id);
  if (!isKnown || key.length === 0 || key.some((one) => (row[one] ?? null) === null))
    return h("span.file", { dir: "auto" }, name, size);
  const query = new URLSearchParams(key.map((one) => [one, String(row[one])]));
  query.set(key.includes("field") ? "file_field" : "field", field);
  query.set(key.includes("id") ? "file_id" : "id", id);
  const href = `${path}/file-download?${query}`;
  /** @param {Event} event */
  const save = async (event) => {
    // The credentials are sent with the request, which a link cannot do.
    event.preventDefault();
    event.stopPropagation();
    await download(href).catch((error) => tell(error.message, "fault"));
  };
  const title = t("bytes.download", { name });
  const link = h("a.reference", { href, title, onclick: save }, icon("down"), name);
  return h("span.file", { dir: "auto" }, link, size);
}

/**
 * The input with the files that are there; a chosen file is uploaded at once, and saving waits for `arrived`.
 * @param {any} input @param {string} field
 * @param {{ start: unknown, holdsMany: boolean, place: FilesPlace | null, onChange: (text: string) => void, onFault: (message: string) => void }} options
 */
export function filesChoice(input, field, { start, holdsMany, place, onChange, onFault }) {
  let entries = filesIn(start);
  /** Whether all files that were chosen have arrived. @type {Promise<boolean>} */
  let arrival = Promise.resolve(true);
  const shown = h("span.files");
  input.hidden = place === null;
  input.multiple = holdsMany;

  function show() {
    const removal = (/** @type {Entry} */ entry) =>
      iconButton("trash", `${t("remove")}: ${entry.name}`, {
        compact: true,
        onclick: () => take(entries.filter((one) => one !== entry)),
      });
    fill(
      shown,
      entries.map((entry) => h("span.file-row", fileShown(entry, field, place), removal(entry))),
    );
  }

  /** @param {Entry[]} next */
  function take(next) {
    entries = next;
    show();
    const isEmpty = entries.length === 0 && !(holdsMany && Array.isArray(start));
    onChange(isEmpty ? "" : jsonText(holdsMany ? entries : entries[0]));
  }

  input.addEventListener("change", () => void (arrival = upload([...input.files])));

  /** @param {File[]} chosen */
  async function upload(chosen) {
    let isWhole = true;
    input.disabled = true;
    for (const file of chosen) {
      fill(shown, h("span.quiet", { role: "status" }, t("files.uploading", { name: file.name })));
      const body = new FormData();
      body.append("field", field);
      body.append("file", file);
      try {
        const { body: entry } = await ask(`${place?.path}/file-upload`, { method: "POST", body });
        const { id, name, type, bytes, sha256 } = entry;
        take([
          ...(holdsMany ? entries : []),
          /** @type {any} */ ({ id, name, type, bytes, sha256 }),
        ]);
      } catch (error) {
        isWhole = false;
        show();
        onFault(error instanceof Error ? error.message : String(error));
      }
    }
    input.value = "";
    input.disabled = false;
    return isWhole;
  }

  show();
  return {
    element: h("div.file-choice", shown, input),
    arrived: () => arrival,
    /** Without those of the ids, which the service has no more; a single one gives way to the one before. @param {readonly string[]} ids @returns {Entry[]} what there was of them */
    drop(ids) {
      const gone = entries.filter(({ id }) => ids.includes(id));
      if (gone.length === 0) return gone;
      take(holdsMany ? entries.filter((one) => !gone.includes(one)) : filesIn(start));
      return gone;
    },
  };
}

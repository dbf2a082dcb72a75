/** The drawer "Requests": the requests of the current view as `curl` and as `fetch`, to copy. */
import { log, onRequest } from "./api.js";
import { fill, h, iconButton } from "./dom.js";
import { credentials } from "./session.js";
import { tell } from "./notices.js";
import { t } from "./words.js";

/** @import { LoggedRequest } from "./types.d.ts" */

let language = "curl";

export function createDrawer() {
  const list = h("ol.requests");
  const docs = h("a", { href: "docs", target: "_blank" }, t("requests.docs"));
  const drawer = h(
    "aside.drawer",
    { id: "requests", "aria-label": t("requests.ofView"), hidden: true },
    h(
      "header",
      h("h2", t("requests")),
      languageChoice(show),
      iconButton("close", t("close"), { compact: true, onclick: toggle }),
    ),
    h("p.quiet", `${t("requests.note")} `, docs),
    list,
  );
  const button = iconButton("code", t("requests"), {
    "aria-expanded": "false",
    "aria-controls": "requests",
    onclick: toggle,
  });

  function toggle() {
    drawer.hidden = !drawer.hidden;
    button.setAttribute("aria-expanded", String(!drawer.hidden));
    if (drawer.hidden) button.focus();
    else show();
  }

  function show() {
    if (drawer.hidden) return;
    const entries = log.toReversed().map(entryOf);
    fill(list, entries.length > 0 ? entries : h("li.quiet", t("requests.none")));
  }

  onRequest(show);
  return { drawer, button, docs };
}

/** @param {() => void} show */
function languageChoice(show) {
  const choice = h(
    "select",
    { "aria-label": t("requests.form") },
    h("option", { value: "curl" }, "curl"),
    h("option", { value: "fetch" }, "fetch"),
  );
  choice.addEventListener("change", () => {
    language = choice.value;
    show();
  });
  return choice;
}

/** @param {LoggedRequest} request */
function entryOf(request) {
  const { method, url, status, ms } = request;
  const text = language === "curl" ? curlOf(request) : fetchOf(request);
  const isFault = status === null || status >= 400;
  return h(
    "li",
    h(
      "div.request-head",
      h("strong", method),
      h("span.request-path", new URL(url).pathname),
      h(`span.badge${isFault ? ".fault" : ""}`, status ?? "…"),
      h("span.quiet", `${ms} ms`),
      iconButton("copy", t("requests.copy", { form: language }), {
        compact: true,
        onclick: () => copy(text),
      }),
    ),
    h("pre", { tabindex: "0", "aria-label": `${method}, ${language}` }, h("code", text)),
  );
}

/** @param {string} text */
export async function copy(text) {
  await navigator.clipboard.writeText(text).catch(() => copyByHand(text));
  tell(t("copied"));
}

/** Without https, browsers provide no clipboard. @param {string} text */
function copyByHand(text) {
  const area = h("textarea", { value: text });
  document.body.append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
}

/** Quoted for a shell, which changes nothing in single quotes. @param {string} text */
const quoted = (text) => `'${text.replaceAll("'", `'\\''`)}'`;

/** Contains a variable in place of the credentials. @param {LoggedRequest} request */
export function curlOf({ method, url, headers, body }) {
  const known = credentials();
  const secret = known?.header === "Authorization" ? "Bearer $TOKEN" : "$API_KEY";
  const parts = [
    `curl -s${method === "POST" && body === null ? " -X POST" : ""} ${quoted(url)}`,
    ...(known ? [`-H "${known.header}: ${secret}"`] : []),
    ...Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...(body === null ? [] : [`-d ${quoted(body)}`]),
  ];
  return parts.join(" \\\n  ");
}

/** @param {LoggedRequest} request */
export function fetchOf({ method, url, headers, body }) {
  const known = credentials();
  const lines = [
    ...(method === "GET" ? [] : [`method: ${JSON.stringify(method)},`]),
    `headers: { ${[
      ...(known
        ? [
            `${JSON.stringify(known.header)}: ${known.header === "Authorization" ? "`Bearer ${token}`" : "apiKey"}`,
          ]
        : []),
      ...Object.entries(headers).map(
        ([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)}`,
      ),
    ].join(", ")} },`,
    // A program would round numbers of many digits.
    ...(body === null
      ? []
      : [`body: ${/\d{16}/.test(body) ? JSON.stringify(body) : `JSON.stringify(${body})`},`]),
  ];
  return `const response = await fetch(${JSON.stringify(url)}, {\n  ${lines.join("\n  ")}\n});\nconst answer = await response.json();`;
}

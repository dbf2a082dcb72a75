/** Signing in: an API key, a token, or the issuer that the project names. */
import { ask } from "../api.js";
import { fill, h } from "../dom.js";
import { forgetLabels } from "../labels.js";
import { forget, loadSignIns } from "../model.js";
import { tellFault } from "../notices.js";
import { startSignIn } from "../open-id.js";
import { signOut, useKey, useToken } from "../session.js";

/** @type {import("../types.d.ts").View} */
export async function show(place) {
  document.title = "Sign in – Rowgate";
  const schemes = await loadSignIns().catch(() => []);
  const issuers = schemes.filter(({ type }) => type === "openIdConnect");
  const takesKeys = schemes.some(({ type }) => type === "apiKey");
  const kind = h(
    "select",
    { id: "kind", name: "kind" },
    takesKeys && h("option", { value: "key" }, "API key"),
    h("option", { value: "token" }, "Token"),
  );
  const secret = h("input", {
    id: "secret",
    type: "password",
    autocomplete: "off",
    spellcheck: "false",
    required: true,
    "aria-describedby": "secret-fault",
  });
  const fault = h("p.fault-text", { id: "secret-fault", role: "alert" });

  /** @param {Event} event */
  async function submit(event) {
    event.preventDefault();
    const text = secret.value.trim();
    if (kind.value === "key") useKey(text);
    else useToken(text);
    forget();
    forgetLabels();
    try {
      await ask("./", { quiet: true, isTrial: true });
      // After following a link, its address is shown.
      if (location.hash.startsWith("#/sign-in")) location.hash = "#/";
      else dispatchEvent(new HashChangeEvent("hashchange"));
    } catch {
      signOut();
      fill(fault, kind.value === "key" ? "This key is not valid." : "This token is not valid.");
      secret.focus();
    }
  }

  fill(
    place,
    h(
      "div.sign-in",
      null,
      h("h1", null, "Sign in"),
      issuers.map((issuer) =>
        h(
          "button.button.primary.wide",
          { type: "button", onclick: () => void startSignIn(issuer).catch(tellFault) },
          `Continue with ${new URL(issuer.openIdConnectUrl).host}`,
        ),
      ),
      issuers.length > 0 && h("p.divider", null, h("span", null, "or")),
      h(
        "form",
        { onsubmit: submit },
        h("label", { for: "kind" }, "Sign in with"),
        kind,
        h("label", { for: "secret" }, "The key or token"),
        secret,
        fault,
        h(
          `button.button.wide${issuers.length > 0 ? "" : ".primary"}`,
          { type: "submit" },
          "Sign in",
        ),
      ),
      h("p.quiet", null, "It is sent only to this service, and forgotten when you close this tab."),
    ),
  );
  secret.focus();
}

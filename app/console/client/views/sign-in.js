/** Signing in: an API key, a token, or the issuer that the project names. */
import { ask } from "../api.js";
import { fill, h } from "../dom.js";
import { forgetLabels } from "../labels.js";
import { forget, loadSignIns } from "../model.js";
import { openDialog, tellFault } from "../notices.js";
import { startSignIn } from "../open-id.js";
import { addressToSignInFor } from "../router.js";
import { signOut, useKey, useToken } from "../session.js";
import { t, titled } from "../words.js";

/** @type {import("../types.d.ts").View} */
export async function show(place) {
  document.title = titled(t("signIn.in"));
  const onDone = () => {
    history.replaceState(null, "", addressToSignInFor());
    dispatchEvent(new HashChangeEvent("hashchange"));
  };
  const schemes = await loadSignIns().catch(() => []);
  const form = signInForm(schemes, { onDone, atIssuer: startSignIn });
  fill(place, h("div.sign-in", h("h1", t("signIn.in")), form));
}

/** In a dialog, so that what people typed in the page stays. Whether they have signed in. @returns {Promise<boolean>} */
export async function signInOver() {
  // Otherwise the expired credentials would be sent with every request.
  signOut();
  const schemes = await loadSignIns().catch(() => []);
  const isDone = await openDialog(t("signIn.in"), (/** @type {(done: true) => void} */ close) => {
    const onDone = () => close(true);
    const atIssuer = (/** @type {any} */ issuer) => startSignIn(issuer, onDone);
    return h("div.sign-in", h("p", t("signIn.ended")), signInForm(schemes, { onDone, atIssuer }));
  });
  forget();
  forgetLabels();
  return isDone === true;
}

/** @param {any[]} schemes @param {{ onDone: () => void, atIssuer: (issuer: any) => Promise<void> }} ways */
function signInForm(schemes, { onDone, atIssuer }) {
  const issuers = schemes.filter(({ type }) => type === "openIdConnect");
  const takesKeys = schemes.some(({ type }) => type === "apiKey");
  const kind = h(
    "select",
    { id: "kind", name: "kind" },
    takesKeys && h("option", { value: "key" }, t("signIn.key")),
    h("option", { value: "token" }, t("signIn.token")),
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
      onDone();
    } catch {
      signOut();
      fill(fault, t(kind.value === "key" ? "signIn.wrongKey" : "signIn.wrongToken"));
      secret.focus();
    }
  }

  setTimeout(() => secret.focus());
  return [
    issuers.map((issuer) =>
      h(
        "button.button.primary.wide",
        { type: "button", onclick: () => void atIssuer(issuer).catch(tellFault) },
        t("signIn.continue", { host: new URL(issuer.openIdConnectUrl).host }),
      ),
    ),
    issuers.length > 0 && h("p.divider", h("span", t("signIn.or"))),
    h(
      "form",
      { onsubmit: submit },
      h("label", { for: "kind" }, t("signIn.with")),
      kind,
      h("label", { for: "secret" }, t("signIn.secret")),
      secret,
      fault,
      h(
        `button.button.wide${issuers.length > 0 ? "" : ".primary"}`,
        { type: "submit" },
        t("signIn.in"),
      ),
    ),
    h("p.quiet", t("signIn.note")),
  ];
}

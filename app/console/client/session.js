/** Who is signed in: a key or a token, kept until the tab is closed. */
import { t } from "./words.js";

const place = "rowgate.credentials";

/** Where the records that this person opened are kept. */
export const recordsPlace = "rowgate.recent";

/** @typedef {{ header: string, value: string, name: string }} Credentials */

/** @returns {Credentials | null} */
export function credentials() {
  try {
    return JSON.parse(sessionStorage.getItem(place) ?? "null");
  } catch {
    return null;
  }
}

/** @param {string} key */
export const useKey = (key) => keep({ header: "X-Api-Key", value: key, name: t("signIn.key") });

/** @param {string} token */
export const useToken = (token) =>
  keep({ header: "Authorization", value: `Bearer ${token}`, name: nameIn(token) });

/** @param {Credentials} chosen */
function keep(chosen) {
  signOut();
  sessionStorage.setItem(place, JSON.stringify(chosen));
}

export function signOut() {
  sessionStorage.removeItem(place);
  // The next person must not see them.
  sessionStorage.removeItem(recordsPlace);
}

/** @returns {Record<string, string>} */
export function authHeaders() {
  const known = credentials();
  return known ? { [known.header]: known.value } : {};
}

/** The owner's name in a token, which only the service verifies. @param {string} token */
function nameIn(token) {
  try {
    const [, payload = ""] = token.split(".");
    const bytes = Uint8Array.from(atob(payload.replaceAll("-", "+").replaceAll("_", "/")), (one) =>
      one.charCodeAt(0),
    );
    const claims = JSON.parse(new TextDecoder().decode(bytes));
    return String(
      claims.name ?? claims.preferred_username ?? claims.email ?? claims.sub ?? t("signIn.token"),
    );
  } catch {
    return t("signIn.token");
  }
}

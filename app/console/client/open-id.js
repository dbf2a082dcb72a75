/**
 * Signing in at an OpenID Connect issuer: authorization code with PKCE (RFC 7636), without a secret. The issuer sends
 * the browser back to `/console?code=…&state=…`.
 */
import { addressToSignInFor } from "./router.js";
import { useToken } from "./session.js";
import { tellFault } from "./notices.js";
import { t } from "./words.js";

/** @typedef {{ openIdConnectUrl: string, "x-client-id": string, "x-scope": string }} Issuer */

const place = "rowgate.sign-in";

const redirectUri = () => new URL(location.pathname, location.href).href;

/** @param {Uint8Array} bytes */
const base64url = (bytes) =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");

const random = () => base64url(crypto.getRandomValues(new Uint8Array(32)));

/**
 * Leaves the page; with `onDone`, another window goes there, and this page gets its token.
 * @param {Issuer} issuer @param {() => void} [onDone]
 */
export async function startSignIn(issuer, onDone) {
  const { openIdConnectUrl, "x-client-id": clientId, "x-scope": scope } = issuer;
  if (!globalThis.isSecureContext) throw new Error(t("signIn.needsHttps"));
  const { authorization_endpoint: start, token_endpoint: tokens } = await load(openIdConnectUrl);
  // Null: the browser opens no window.
  const other = onDone ? open("", "_blank") : null;
  const [verifier, state] = [random(), random()];
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier));
  const hash = addressToSignInFor();
  const started = { verifier, state, tokens, clientId, hash, isFor: other && state };
  const there = other ?? window;
  there.sessionStorage.setItem(place, JSON.stringify(started));
  if (other) {
    const channel = new BroadcastChannel(place);
    channel.onmessage = ({ data }) => {
      if (data.isFor !== state) return;
      channel.close();
      useToken(data.token);
      onDone?.();
    };
  }
  const url = new URL(start);
  const query = {
    response_type: "code",
    client_id: clientId,
    redirect_uri: redirectUri(),
    scope,
    state,
    code_challenge: base64url(new Uint8Array(digest)),
    code_challenge_method: "S256",
  };
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  there.location.assign(url);
}

/** Uses the issuer's code, if the issuer has sent the browser back. */
export async function finishSignIn() {
  const query = new URLSearchParams(location.search);
  const started = JSON.parse(sessionStorage.getItem(place) ?? "null");
  if (!query.has("state") || !started) return;
  sessionStorage.removeItem(place);
  history.replaceState(null, "", `${location.pathname}${started.hash}`);
  const code = query.get("code");
  try {
    if (query.get("state") !== started.state || code === null)
      throw new Error(query.get("error_description") ?? t("signIn.notFinished"));
    const token = await tokenFor(code, started);
    useToken(token);
    if (!started.isFor) return;
    new BroadcastChannel(place).postMessage({ token, isFor: started.isFor });
    close();
  } catch (error) {
    tellFault(error);
  }
}

/** @param {string} code @param {{ verifier: string, tokens: string, clientId: string }} started */
async function tokenFor(code, { verifier, tokens, clientId }) {
  const body = new URLSearchParams({
    grant_type: "authorization_code",
    code,
    redirect_uri: redirectUri(),
    client_id: clientId,
    code_verifier: verifier,
  });
  const answer = await load(tokens, { method: "POST", body });
  const found = [answer.access_token, answer.id_token].find(isJwt);
  if (found === undefined) throw new Error(t("signIn.noToken"));
  return found;
}

/** @param {unknown} token */
const isJwt = (token) => typeof token === "string" && token.split(".").length === 3;

/** @param {string} url @param {RequestInit} [init] */
async function load(url, init) {
  const response = await fetch(url, init ?? {}).catch(() => null);
  if (!response?.ok) throw new Error(t("signIn.issuerAway"));
  return response.json();
}

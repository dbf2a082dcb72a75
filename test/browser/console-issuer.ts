/** An OpenID Connect issuer for the console: authorization code with PKCE, for one client, without a login page. */
import { createHash, randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, SignJWT } from "jose";

export interface ConsoleIssuer {
  /** `http://127.0.0.1:<port>` */
  readonly url: string;
  readonly host: string;
  close(): void;
}

const kid = "only";
const audience = "rowgate";

export async function startConsoleIssuer(): Promise<ConsoleIssuer> {
  const pair = await generateKeyPair("ES256", { extractable: true });
  const challenges = new Map<string, string>();
  let url = "";

  const send = (response: ServerResponse, status: number, body: object): void => {
    response.writeHead(status, {
      "content-type": "application/json",
      "access-control-allow-origin": "*",
    });
    response.end(JSON.stringify(body));
  };

  /** Redirects at once, without a login. */
  function authorize(query: URLSearchParams, response: ServerResponse): void {
    const code = randomUUID();
    challenges.set(code, query.get("code_challenge") ?? "");
    const back = new URL(query.get("redirect_uri") ?? "");
    back.search = new URLSearchParams({ code, state: query.get("state") ?? "" }).toString();
    response.writeHead(302, { location: back.href }).end();
  }

  async function token(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks = await request.toArray();
    const form = new URLSearchParams(Buffer.concat(chunks).toString());
    const made = createHash("sha256")
      .update(form.get("code_verifier") ?? "")
      .digest("base64url");
    if (challenges.get(form.get("code") ?? "") !== made || form.get("client_id") !== "console")
      return send(response, 400, { error: "invalid_grant" });
    const signed = await new SignJWT({ sub: "anna", name: "Anna Example", roles: ["clerk"] })
      .setProtectedHeader({ alg: "ES256", kid })
      .setIssuer(url)
      .setAudience(audience)
      .setExpirationTime("1h")
      .sign(pair.privateKey);
    send(response, 200, { access_token: signed, token_type: "Bearer" });
  }

  const server = createServer(async (request, response) => {
    const asked = new URL(request.url ?? "/", url);
    if (asked.pathname === "/authorize") return authorize(asked.searchParams, response);
    if (asked.pathname === "/token") return token(request, response);
    if (asked.pathname === "/keys")
      return send(response, 200, {
        keys: [{ ...(await exportJWK(pair.publicKey)), kid, alg: "ES256" }],
      });
    send(response, 200, {
      authorization_endpoint: `${url}/authorize`,
      token_endpoint: `${url}/token`,
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  url = `http://${host}`;
  return {
    url,
    host,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** An issuer of tokens: a real HTTP server that publishes its keys (JWKS), and tokens that are signed with them. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, type GenerateKeyPairResult, SignJWT } from "jose";

export type IssuerAnswer = "keys" | "nothing" | "error" | "no keys" | "redirect";
export type KeyName = "old" | "new" | "strange";

export interface Issuer {
  /** `127.0.0.1:<port>`. */
  readonly host: string;
  readonly pairs: Readonly<Record<KeyName, GenerateKeyPairResult>>;
  /** Names of the keys that it publishes. */
  published: readonly KeyName[];
  /** How often its keys were requested. */
  fetched: number;
  answer: IssuerAnswer;
  /** A token of ES256 that names the key, unless `isUnnamed`. Each is another one, so that none is known from before. */
  tokenOf(
    kid: KeyName,
    more?: {
      signedBy?: KeyName;
      claims?: Record<string, unknown>;
      expires?: string;
      isUnnamed?: boolean;
    },
  ): Promise<string>;
  close(): Promise<void>;
}

export async function startIssuer(): Promise<Issuer> {
  const pair = (): Promise<GenerateKeyPairResult> =>
    generateKeyPair("ES256", { extractable: true });
  const pairs = { old: await pair(), new: await pair(), strange: await pair() };
  let serial = 0;

  const server = createServer(async (_request, response) => {
    issuer.fetched++;
    if (issuer.answer === "nothing") return;
    if (issuer.answer === "redirect") response.writeHead(302, { location: "/elsewhere" });
    if (issuer.answer === "error") response.writeHead(500);
    const keys = await Promise.all(
      issuer.published.map(async (kid) => ({
        ...(await exportJWK(pairs[kid].publicKey)),
        kid,
        alg: "ES256",
      })),
    );
    response.end(JSON.stringify(issuer.answer === "no keys" ? { message: "hello" } : { keys }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));

  const issuer: Issuer = {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    pairs,
    published: ["old"],
    fetched: 0,
    answer: "keys",
    tokenOf: (kid, { signedBy = kid, claims = {}, expires = "1h", isUnnamed = false } = {}) =>
      new SignJWT({ sub: "someone", serial: serial++, ...claims })
        .setProtectedHeader({ alg: "ES256", ...(!isUnnamed && { kid }) })
        .setExpirationTime(expires)
        .sign(pairs[signedBy].privateKey),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return issuer;
}

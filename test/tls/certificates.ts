/** Certificates for servers and clients of the tests, made by openssl in a separate folder. */
import { execFileSync } from "node:child_process";
import { chmodSync, chownSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { accountOf } from "../servers/machine.ts";

export interface Certificates {
  /** Path of a file: `authority.crt`, and what `sign` made. */
  file(name: string): string;
  text(name: string): string;
  /** Makes `<name>.crt` and `<name>.key` for this host, of the authority. */
  sign(name: string, host: string): void;
  remove(): void;
}

/** `server`: whose account must be able to read the files. */
export function makeCertificates(server: "postgres" | "mysql"): Certificates {
  const folder = mkdtempSync(join(tmpdir(), "rowgate-test-certificates-"));
  const account = accountOf(server);
  chmodSync(folder, 0o755);
  const file = (name: string): string => join(folder, name);
  const openssl = (...args: readonly string[]): void =>
    void execFileSync("openssl", args, { stdio: "ignore" });
  const selfSigned = (name: string): void =>
    openssl(
      "req",
      "-x509",
      "-newkey",
      "ec",
      "-pkeyopt",
      "ec_paramgen_curve:prime256v1",
      "-nodes",
      "-subj",
      `/CN=${name}`,
      "-days",
      "2",
      "-keyout",
      file(`${name}.key`),
      "-out",
      file(`${name}.crt`),
    );
  selfSigned("authority");
  selfSigned("stranger");
  return {
    file,
    text: (name) => readFileSync(file(name), "utf8"),
    sign(name, host) {
      writeFileSync(file(`${name}.ext`), `subjectAltName = DNS:${host}\n`);
      openssl(
        "req",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-nodes",
        "-subj",
        `/CN=${host}`,
        "-keyout",
        file(`${name}.key`),
        "-out",
        file(`${name}.csr`),
      );
      openssl(
        "x509",
        "-req",
        "-in",
        file(`${name}.csr`),
        "-days",
        "2",
        "-CAcreateserial",
        "-CA",
        file("authority.crt"),
        "-CAkey",
        file("authority.key"),
        "-extfile",
        file(`${name}.ext`),
        "-out",
        file(`${name}.crt`),
      );
      chmodSync(file(`${name}.key`), 0o600);
      if (account) chownSync(file(`${name}.key`), account.uid, account.gid);
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

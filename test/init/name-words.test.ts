import { describe, expect, test } from "vitest";
import { looksSecret } from "../../core/init/name-words.ts";
import type { ColumnType } from "../../core/values/types/column.ts";

const secrets: readonly string[] = [
  "password",
  "passwd",
  "password_hash",
  "PasswordHash",
  "encrypted_password",
  "password_digest",
  "remember_token",
  "client_secret",
  "two_factor_secret",
  "api_key",
  "private_key",
  // Of WordPress, Drupal, Joomla, Yii, Laravel, Mastodon, Nextcloud and ASP.NET.
  "user_pass",
  "user_activation_key",
  "pass",
  "otpKey",
  "auth_key",
  "two_factor_recovery_codes",
  "otp_backup_codes",
  "credentials",
  "SecurityStamp",
  // Of programs in other languages.
  "PASSWORT",
  "kennwort",
  "senha",
  "contraseña",
  "mot_de_passe",
];

const others: readonly string[] = [
  "name",
  "passenger",
  "passport_number",
  "bypass",
  "secretary",
  "secretary_name",
  "author_key",
  "foreign_key",
  "token_count",
  "hash_type",
  "token_id",
  "password_hint_type",
];

/** Of a type that holds no secret, whatever the name. */
const plain: readonly (readonly [name: string, type: ColumnType])[] = [
  ["password_changed_at", "timestamp"],
  ["password_expires", "date"],
  ["token_valid", "boolean"],
  ["pass", "boolean"],
];

describe("looksSecret", () => {
  test.each(secrets)("%s is a secret", (name) => {
    expect(looksSecret({ name, type: "text" })).toBe(true);
  });

  test.each(others)("%s is none", (name) => {
    expect(looksSecret({ name, type: "text" })).toBe(false);
  });

  test.each(plain)("%s of the type %s is none", (name, type) => {
    expect(looksSecret({ name, type })).toBe(false);
  });
});

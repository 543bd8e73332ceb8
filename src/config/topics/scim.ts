import { optionalSetting, type ParsedGroup, type SettingReport } from "../setting.ts";
import { accepted, rejected, type ValueType } from "../value-types.ts";

/** RFC 6750: the characters allowed after `Bearer`. Long enough that it cannot be guessed. */
const tokenPattern = /^[A-Za-z0-9._~+/-]{32,256}={0,2}$/;

const tokens: ValueType<readonly string[]> = {
  allowed: "a token of 32 to 256 letters, digits or any of - . _ ~ + / =, or two of them with a comma between",
  parse(text) {
    const given = text.split(",").map((token) => token.trim());
    return given.length <= 2 && given.every((token) => tokenPattern.test(token)) ? accepted(given) : rejected;
  },
};

export const scimSettings = {
  title: "Provisioning (SCIM)",
  intro:
    "The identity provider makes, disables and enables accounts at `<base URL>/scim/v2`: see [single-sign-on.md](single-sign-on.md#provisioning-scim).",
  settings: {
    token: optionalSetting({
      env: "PWP__SCIM__TOKEN",
      doc: "The token that the identity provider must send, as `Authorization: Bearer <token>`. Two tokens are accepted while you change it. With it, somebody can disable the accounts of the provider's users.",
      type: tokens,
      unset: "no SCIM; its addresses answer 404",
      hidden: "always",
    }),
  },
};

/** @returns undefined: SCIM is off. */
export function scimConfig({ token }: ParsedGroup<typeof scimSettings>, signOn: boolean, report: SettingReport) {
  if (token.value !== undefined && !signOn) {
    report.warn(
      `${token.env} is set, and single sign-on is off: the accounts of the provider have no password to sign in with.`,
    );
  }
  return token.value === undefined ? undefined : { tokens: token.value };
}

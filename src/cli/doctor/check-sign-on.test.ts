import { expect, it } from "vitest";
import { createFakeProvider } from "../../../test/support/fake-provider.ts";
import { loadValid } from "../../../test/support/settings.ts";
import { checkSignOn } from "./check-sign-on.ts";

const clock = { now: () => 0 };

function settingsFor(issuer: string) {
  const environment = {
    PWP__OVERRIDE_BASE_URL: "https://push.example.com",
    PWP__OIDC__ISSUER: issuer,
    PWP__OIDC__CLIENT_ID: "sealpush",
  };
  return loadValid(environment).config.singleSignOn;
}

it.each([
  [
    "https://login.microsoftonline.com/11111111-2222-3333-4444-555555555555/v2.0",
    /never sends email_verified.*xms_edov/,
  ],
  ["https://accounts.google.com", /hd/],
  ["https://example.okta.com", /Okta sends/],
  ["https://id.example.com/realms/staff", /Keycloak sends email_verified: false/],
  ["https://id.example.com/application/o/sealpush/", /authentik sends email_verified: false/],
  ["https://id.example.com", /It has to send email and email_verified: true/],
])("what %s has to send is said", async (issuer, sentence) => {
  const { fetch } = createFakeProvider({ issuer });
  const [finding, ...more] = await checkSignOn(settingsFor(issuer), { clock, fetch });
  expect([finding?.level, finding?.sentence.startsWith(`${issuer} answers. `), more]).toEqual(["ok", true, []]);
  expect(finding?.sentence).toMatch(sentence);
});

it("a provider that does not answer, or answers as another issuer, fails with the reason", async () => {
  const settings = settingsFor("https://id.example.com");
  const { fetch } = createFakeProvider({ metadata: { issuer: "https://other.example.com" } });
  const [other] = await checkSignOn(settings, { clock, fetch });
  expect(other).toMatchObject({ level: "fail", sentence: expect.stringContaining("another issuer") });
  const away = async () => {
    const refused = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
    throw new TypeError("fetch failed", { cause: refused });
  };
  const [down] = await checkSignOn(settings, { clock, fetch: away });
  expect(down).toEqual({
    level: "fail",
    name: "single sign-on",
    sentence:
      "https://id.example.com cannot be used: check PWP__OIDC__ISSUER. The provider did not answer (connection refused).",
  });
});

it("without single sign-on, nothing is said", async () => {
  expect(await checkSignOn(undefined, { clock, fetch })).toEqual([]);
});

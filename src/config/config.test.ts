import { expect, test } from "vitest";
import { settingTable, toConfig } from "./config.ts";
import { allSettings, parseSettings, SettingReport } from "./setting.ts";

/** Settings that are only read when others are given. */
const environments = [
  {},
  {
    DATABASE_URL: "postgres://user@localhost/sealpush",
    PWP__MAIL__SMTP_ADDRESS: "smtp.example.com",
    PWP__MAIL__SMTP_USER_NAME: "user",
    PWP__MAIL__SMTP_PASSWORD: "password",
    PWP__HOST_DOMAIN: "push.example.com",
    PWP__FILES__STORAGE: "s3",
    PWP__FILES__S3__ENDPOINT: "https://s3.example.com",
    PWP__FILES__S3__BUCKET: "files",
    PWP__FILES__S3__REGION: "us-east-1",
    PWP__FILES__S3__ACCESS_KEY_ID: "id",
    PWP__FILES__S3__SECRET_ACCESS_KEY: "secret",
    PWP__OIDC__ISSUER: "https://id.example.com",
    PWP__OIDC__CLIENT_ID: "sealpush",
    PWP__METRICS__ENABLED: "true",
    OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:4318",
    OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
  },
];

/** Both protocols are sent as JSON, so the value is only checked. */
const onlyChecked = ["OTEL_EXPORTER_OTLP_PROTOCOL"];

test("every setting has an effect: the mapping to the configuration reads each row", () => {
  const read = new Set<string>();
  for (const environment of environments) {
    const groups = Object.entries(parseSettings(settingTable, environment)).map(([group, rows]) => {
      const recorded = Object.entries(rows).map(([key, row]: [string, { readonly env: string }]) => {
        const recording = new Proxy(row, {
          get(target, property) {
            if (property === "value" || property === "given") read.add(target.env);
            return Reflect.get(target, property);
          },
        });
        return [key, recording] as const;
      });
      return [group, Object.fromEntries(recorded)] as const;
    });
    const parsed = Object.fromEntries(groups) as ReturnType<typeof parseSettings<typeof settingTable>>;
    toConfig(parsed, () => "", new SettingReport());
  }
  expect(
    allSettings(settingTable)
      .filter(({ env }) => !read.has(env))
      .map(({ env }) => env),
  ).toEqual(onlyChecked);
});

import { describe, expect, it } from "vitest";
import { loadValid, mistakesOf } from "../../../test/support/settings.ts";

const port = { PWP__PUBLIC_GATEWAY_PORT: "5101" };
const url = { PWP__PUBLIC_GATEWAY_URL: "https://open.example.com" };
const postgres = { DATABASE_URL: "postgres://push@127.0.0.1/push" };

describe("a public gateway", () => {
  it("is off by default", () => {
    expect(loadValid({}).config.gateway).toEqual({ only: false, listener: undefined, url: undefined });
  });

  it("listens on the address of the server unless it has its own", () => {
    expect(loadValid({ ...port, ...url, HOST: "10.0.0.1" }).config.gateway.listener).toEqual({
      host: "10.0.0.1",
      port: 5101,
    });
    const own = loadValid({ ...port, ...url, PWP__PUBLIC_GATEWAY_HOST: "0.0.0.0" });
    expect([own.config.gateway.listener?.host, own.config.host, own.warnings]).toEqual(["0.0.0.0", "127.0.0.1", []]);
  });

  it("is either the whole process or a second port", () => {
    expect(mistakesOf({ ...port, PWP_PUBLIC_GATEWAY: "true" })).toEqual([
      expect.stringContaining("remove one of the two"),
    ]);
    expect(mistakesOf({ ...port, PORT: "5101" })).toEqual([expect.stringContaining("needs a port of its own")]);
  });

  it("causes a warning where recipients could not open links, or nobody could create them", () => {
    expect(loadValid(port).warnings).toEqual([expect.stringContaining("set PWP__PUBLIC_GATEWAY_URL")]);
    expect(loadValid({ PWP_PUBLIC_GATEWAY: "true" }).warnings).toEqual([
      expect.stringContaining("With SQLite, set PWP__PUBLIC_GATEWAY_PORT"),
    ]);
    expect(loadValid({ PWP__PUBLIC_GATEWAY_HOST: "0.0.0.0" }).warnings).toEqual([
      expect.stringContaining("no effect without PWP__PUBLIC_GATEWAY_PORT"),
    ]);
    expect(loadValid({ ...postgres, PWP_PUBLIC_GATEWAY: "true" }).warnings).toEqual([]);
  });

  it("starts the links of pushes in emails, and no others", () => {
    const mail = { PWP__MAIL__SMTP_ADDRESS: "127.0.0.1", PWP__OVERRIDE_BASE_URL: "https://push.example.com" };
    expect(loadValid({ ...mail, ...url }).config.mail).toMatchObject({
      baseUrl: "https://push.example.com",
      pushBaseUrl: "https://open.example.com",
    });
  });
});

import { describe, expect, it } from "vitest";
import { isProviderTarget } from "./provider.ts";

const isTarget = (target: string, issuer: string) => isProviderTarget(new URL(target), new URL(issuer));

describe("a URL in a provider's answer", () => {
  it.each([
    "https://id.example.com/token",
    "https://id.example.com:8443/token",
    "https://www.googleapis.com/oauth2/v3/certs",
  ])("is requested: %s", (target) => {
    expect(isTarget(target, "https://id.example.com/realm")).toBe(true);
  });

  it.each([
    "http://id.example.com/token",
    "http://169.254.169.254/latest/meta-data",
    "https://169.254.169.254/latest/meta-data",
    "https://127.0.0.1/token",
    "https://2130706433/token",
    "https://0x7f.1/token",
    "https://[::1]/token",
    "https://[::ffff:10.0.0.1]/token",
    "https://10.0.0.1/token",
    "https://localhost/token",
    "https://db.localhost/token",
    "https://user:password@id.example.com/token",
    "file:///etc/passwd",
    "ftp://id.example.com/token",
    "data:text/html,x",
    "javascript:alert(1)",
  ])("is not requested, and no browser is sent there: %s", (target) => {
    expect(isTarget(target, "https://id.example.com/realm")).toBe(false);
  });

  it("may use another port of this machine if the issuer is on it, and https otherwise", () => {
    const issuer = "http://127.0.0.1:4000";
    expect(isTarget("http://127.0.0.1:4000/token", issuer)).toBe(true);
    expect(isTarget("http://localhost:4001/token", issuer)).toBe(true);
    expect(isTarget("http://10.0.0.1/token", issuer)).toBe(false);
    expect(isTarget("javascript:alert(1)", issuer)).toBe(false);
  });

  it("may be an address of the inner network only if the operator has configured it", () => {
    expect(isTarget("https://10.0.0.7/token", "https://10.0.0.7")).toBe(true);
    expect(isTarget("https://10.0.0.8/token", "https://10.0.0.7")).toBe(false);
  });
});

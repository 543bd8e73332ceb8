import { describe, expect, it } from "vitest";
import { describeTotp, matchingTotpStep, readTotpCode, totpCode, totpStep } from "./totp.ts";

/** RFC 6238, appendix B: the codes there have eight digits, of which an app shows the last six. */
const rfcSecret = Buffer.from("12345678901234567890", "latin1");
const vectors = [
  [59, "287082"],
  [1_111_111_109, "081804"],
  [1_111_111_111, "050471"],
  [1_234_567_890, "005924"],
  [2_000_000_000, "279037"],
  [20_000_000_000, "353130"],
] as const;

describe("TOTP codes", () => {
  it.each(vectors)("are those of RFC 6238 at second %i", (seconds, code) => {
    expect(totpCode(rfcSecret, totpStep(seconds * 1_000))).toBe(code);
    expect(matchingTotpStep(rfcSecret, code, seconds * 1_000)).toBe(Math.floor(seconds / 30));
  });

  it("are valid in their step and in the next one, not earlier and not later", () => {
    const step = 70_000_000;
    const code = totpCode(rfcSecret, step);
    const at = (ms: number) => matchingTotpStep(rfcSecret, code, step * 30_000 + ms);
    expect([at(-1), at(0), at(29_999), at(30_000), at(59_999), at(60_000)]).toEqual([
      undefined,
      step,
      step,
      step,
      step,
      undefined,
    ]);
  });

  it("are recognised with spaces and in the digits of other scripts", () => {
    expect(readTotpCode(" 123 456\n")).toBe("123456");
    expect(readTotpCode("١٢٣٤٥٦")).toBe("123456");
    expect(readTotpCode("۱۲۳۴۵۶")).toBe("123456");
    expect(readTotpCode("１２３４５６")).toBe("123456");
    for (const typed of ["", "12345", "1234567", "12345a", "-12345", "1e5000"]) {
      expect(readTotpCode(typed)).toBeUndefined();
    }
  });

  it("are described in the format of the apps, with any characters in the names", () => {
    const { base32, uri } = describeTotp(rfcSecret, { issuer: "push.example.com", label: "ada&x=1@example.com" });
    expect(base32).toBe("GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ");
    const parsed = new URL(uri);
    expect(parsed.protocol).toBe("otpauth:");
    expect(decodeURIComponent(parsed.pathname)).toContain("push.example.com:ada&x=1@example.com");
    expect(Object.fromEntries(parsed.searchParams)).toEqual({
      issuer: "push.example.com",
      secret: base32,
      algorithm: "SHA1",
      digits: "6",
      period: "30",
    });
  });

  it("use only the secret's bytes, not the buffer they are part of", () => {
    const pooled = Buffer.concat([Buffer.from("xxxx"), rfcSecret, Buffer.from("yyyy")]).subarray(4, 24);
    expect(totpCode(pooled, 1)).toBe("287082");
  });
});

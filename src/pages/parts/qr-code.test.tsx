import { renderToString } from "preact-render-to-string";
import { describe, expect, it } from "vitest";
import { fitsQrCode, QrCode } from "./qr-code.tsx";

describe("QrCode", () => {
  it("draws the finder pattern inside four quiet modules", () => {
    const svg = renderToString(<QrCode text="https://push.example/p/abc" label="Code" />);
    expect(svg).toContain('role="img" aria-label="Code"');
    expect(svg).toMatch(/d="M4 4h7v1H4z/);
    expect(svg).not.toContain("style=");
  });

  it("holds what the standard allows, counted in bytes", () => {
    expect(fitsQrCode("a".repeat(2_953))).toBe(true);
    expect(fitsQrCode("a".repeat(2_954))).toBe(false);
    expect(fitsQrCode("ü".repeat(1_477))).toBe(false);
    expect(renderToString(<QrCode text={"a".repeat(2_953)} label="Code" />)).toContain('viewBox="0 0 185 185"');
  });
});

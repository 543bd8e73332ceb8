import { crc32, inflateSync } from "node:zlib";
import { renderToString } from "preact-render-to-string";
import { encode } from "uqr";
import { describe, expect, it } from "vitest";
import { fitsQrCode, QrCode, qrCodePng } from "./qr-code.tsx";

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

/** Reads a greyscale PNG image with one bit per pixel and without filters. @returns for each line, whether a pixel is dark. */
function pixelsOf(png: Buffer): readonly (readonly boolean[])[] {
  expect(png.subarray(0, 8).toString("latin1")).toBe("\x89PNG\r\n\x1a\n");
  const chunks = new Map<string, Buffer>();
  for (let at = 8; at < png.length; ) {
    const length = png.readUInt32BE(at);
    const typed = png.subarray(at + 4, at + 8 + length);
    expect(png.readUInt32BE(at + 8 + length)).toBe(crc32(typed));
    chunks.set(typed.subarray(0, 4).toString("latin1"), typed.subarray(4));
    at += 12 + length;
  }
  expect([...chunks.keys()]).toEqual(["IHDR", "IDAT", "IEND"]);
  const header = chunks.get("IHDR") ?? Buffer.alloc(0);
  expect([...header.subarray(8)]).toEqual([1, 0, 0, 0, 0]);
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)];
  const lineBytes = 1 + Math.ceil(width / 8);
  const data = inflateSync(chunks.get("IDAT") ?? Buffer.alloc(0));
  expect(data.length).toBe(height * lineBytes);
  return Array.from({ length: height }, (_, y) => {
    const line = data.subarray(y * lineBytes + 1, (y + 1) * lineBytes);
    return Array.from({ length: width }, (__, x) => (((line[x >> 3] ?? 0) << (x & 7)) & 0x80) === 0);
  });
}

describe("the PNG image of a QR code", () => {
  it("has twelve pixels for each module, and four quiet modules around them", () => {
    const text = "https://push.example/p/abc/r?locale=ar";
    const expected = encode([...Buffer.from(text)], { ecc: "L", boostEcc: true, border: 4 }).data;
    const pixels = pixelsOf(qrCodePng(text));
    expect(pixels).toHaveLength(12 * expected.length);
    for (const corner of [0, 11]) {
      expect(expected.map((row, y) => row.map((_, x) => pixels[12 * y + corner]?.[12 * x + corner]))).toEqual(expected);
    }
  });
});

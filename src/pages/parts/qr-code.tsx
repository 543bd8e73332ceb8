import { encode } from "uqr";

// Version 40 at the lowest error correction holds no more than this (ISO/IEC 18004).
const qrBytesMax = 2_953;
// The standard asks for four empty modules around the code.
const quietModules = 4;

/** @returns whether `text` can be written as one QR code. */
export function fitsQrCode(text: string): boolean {
  return Buffer.byteLength(text, "utf8") <= qrBytesMax;
}

/** Runs of dark modules as one path: h pixels right, one down, back. */
function pathOf(rows: readonly (readonly boolean[])[]): string {
  let path = "";
  rows.forEach((row, y) => {
    let x = 0;
    while (x < row.length) {
      const start = x;
      while (x < row.length && row[x] === true) x += 1;
      if (x > start) path += `M${start + quietModules} ${y + quietModules}h${x - start}v1H${start + quietModules}z`;
      x += 1;
    }
  });
  return path;
}

/** Programs extract the drawing from the page and show it alone. */
const svgNamespace = "http://www.w3.org/2000/svg";

/** Dark on white in every colour scheme: many scanners read nothing else. Only for text that `fitsQrCode`. */
export function QrCode({ text, label }: { readonly text: string; readonly label: string }) {
  // uqr would split a string's UTF-16 by itself; bytes make the encoding explicit.
  const { data, size } = encode([...Buffer.from(text, "utf8")], { ecc: "L", boostEcc: true, border: 0 });
  const side = size + 2 * quietModules;
  return (
    <svg
      xmlns={svgNamespace}
      class="qr-code"
      viewBox={`0 0 ${side} ${side}`}
      role="img"
      aria-label={label}
      shape-rendering="crispEdges"
    >
      <rect width={side} height={side} fill="#ffffff" />
      <path d={pathOf(data)} fill="#000000" />
    </svg>
  );
}

const polynomial = 0xedb8_8320;

const table = Uint32Array.from({ length: 256 }, (_, byte) => {
  let remainder = byte;
  for (let bit = 0; bit < 8; bit += 1) remainder = remainder & 1 ? (remainder >>> 1) ^ polynomial : remainder >>> 1;
  return remainder;
});

/** CRC-32 as ZIP archives have it (ITU-T V.42), of `bytes` after others of the CRC `crc`. */
export function crc32(bytes: Uint8Array, crc: number): number {
  let remainder = ~crc;
  for (const byte of bytes) remainder = (remainder >>> 8) ^ (table[(remainder ^ byte) & 0xff] ?? 0);
  return ~remainder >>> 0;
}

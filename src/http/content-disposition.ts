/** RFC 6266 with RFC 8187: an ASCII form for old readers, and the real name in UTF-8. Always an attachment. */
export function attachment(filename: string): string {
  const name = filename.toWellFormed();
  const plain = name.replace(/[^\x20-\x7e]|["\\%]/g, "_");
  return plain === name
    ? `attachment; filename="${plain}"`
    : `attachment; filename="${plain}"; filename*=UTF-8''${encodeExtended(name)}`;
}

/** What encodeURIComponent leaves alone and RFC 8187 does not allow. */
function encodeExtended(name: string): string {
  return encodeURIComponent(name).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
}

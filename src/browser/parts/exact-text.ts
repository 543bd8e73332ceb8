/** The text of a field or of a shown secret, exactly as it was sent. */
export function exactTextOf(element: HTMLElement): string {
  if (element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement) return element.value;
  const base64 = element.dataset.exactBase64;
  if (base64 === undefined) return element.textContent ?? "";
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}

/** @returns undefined: a percent sign is not followed by two hexadecimal digits, or the bytes are not UTF-8. */
export function percentDecoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
}

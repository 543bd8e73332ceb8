/** A browser that blocks storage throws: then nothing is remembered, and the page works as without it. */
export function withStorage<T>(of: "localStorage" | "sessionStorage", use: (storage: Storage) => T): T | null {
  try {
    return use(window[of]);
  } catch (error) {
    if (error instanceof DOMException) return null;
    throw error;
  }
}

export const withTabStorage = <T>(use: (storage: Storage) => T) => withStorage("sessionStorage", use);

/** The name under which this tab keeps what it knows about the secret behind an address. */
export const openingNameAt = (path: string) => `sealpush_opened ${path}`;
/** The same for the address of this page. */
export const openingName = openingNameAt(location.pathname);

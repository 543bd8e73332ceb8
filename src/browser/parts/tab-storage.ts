/** A browser that blocks storage throws: then nothing is remembered. */
export function withTabStorage<T>(use: (storage: Storage) => T): T | null {
  try {
    return use(sessionStorage);
  } catch (error) {
    if (error instanceof DOMException) return null;
    throw error;
  }
}

/** The name under which this tab keeps what it knows about the secret behind the address of this page. */
export const openingName = `sealpush_opened ${location.pathname}`;

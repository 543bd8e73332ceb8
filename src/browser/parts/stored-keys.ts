import { forgetLinkKeys } from "./kept-link-key.ts";

/**
 * The key of a request in this browser: it opens answers, and no script can read it. It belongs to the account that is signed
 * in, and to one request.
 */
interface StoredKey {
  readonly account: string;
  /** Its key check, which is known before the request is. */
  readonly check: string;
  /** The url_token; null: the request was not made yet. */
  readonly request: string | null;
  /** The fingerprint of its recipient, for the link to send. */
  readonly fingerprint: string;
  readonly key: CryptoKey;
  /** Milliseconds since the epoch. */
  readonly storedAt: number;
}

const databaseName = "sealpush";
const storeName = "request_keys";

/** @returns undefined: nobody is signed in, or this browser has no keys that cannot be read. */
function currentAccount(): string | undefined {
  return isSecureContext ? document.documentElement.dataset.account : undefined;
}

function resultOf<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.addEventListener("success", () => resolve(request.result));
    request.addEventListener("error", () => reject(request.error));
  });
}

/** A browser that blocks storage, or cannot store such keys, gives a DOMException: then there are none. */
async function withKeys<T>(use: (store: IDBObjectStore) => IDBRequest<T>): Promise<T | undefined> {
  let database: IDBDatabase | undefined;
  try {
    const opening = indexedDB.open(databaseName, 1);
    opening.addEventListener("upgradeneeded", () => {
      opening.result.createObjectStore(storeName, { keyPath: ["account", "check"] });
    });
    database = await resultOf(opening);
    return await resultOf(use(database.transaction(storeName, "readwrite").objectStore(storeName)));
  } catch (error) {
    if (error instanceof DOMException) return undefined;
    throw error;
  } finally {
    database?.close();
  }
}

/** @returns whether this browser has it now. */
export async function storeKey(key: Omit<StoredKey, "account" | "storedAt">): Promise<boolean> {
  const account = currentAccount();
  if (account === undefined) return false;
  const stored: StoredKey = { ...key, account, storedAt: Date.now() };
  return (await withKeys((store) => store.put(stored))) !== undefined;
}

const allOf = (account: string) => IDBKeyRange.bound([account], [account, []]);

async function storedKeys(): Promise<readonly StoredKey[]> {
  const account = currentAccount();
  if (account === undefined) return [];
  return (await withKeys<StoredKey[]>((store) => store.getAll(allOf(account)))) ?? [];
}

/** @param request its url_token. */
export async function findStoredKey(request: string): Promise<StoredKey | undefined> {
  return (await storedKeys()).find((stored) => stored.request === request);
}

/** The key of this request, which then belongs to it, if it was stored before the request was made. */
export async function bindStoredKey(check: string, request: string): Promise<StoredKey | undefined> {
  const found = (await storedKeys()).find((stored) => stored.check === check);
  if (found === undefined || (found.request !== null && found.request !== request)) return undefined;
  if (found.request === null) await storeKey({ ...found, request });
  return found;
}

/** What an address has behind `#` if the key is stored: it names the request. */
const fragmentShape = /^#\.([A-Za-z0-9_-]{1,64})$/;

export function readStoredFragment(fragment: string): string | undefined {
  return fragmentShape.exec(fragment)?.[1];
}

export function writeStoredFragment(request: string): string {
  return `.${request}`;
}

/**
 * Signing out removes the keys of links from this tab and, unless the person stays signed in, those of the account's requests
 * from this browser.
 */
export function forgetAtSignOut(): void {
  const account = currentAccount();
  for (const form of document.querySelectorAll<HTMLFormElement>('form[action^="/users/sign_out"]')) {
    form.addEventListener("submit", (event) => {
      // A person who stays on the page of a link when it asks keeps the key.
      addEventListener("pagehide", forgetLinkKeys, { once: true });
      if (account === undefined || document.documentElement.dataset.keepsKeys !== undefined) return;
      event.preventDefault();
      void withKeys((store) => store.delete(allOf(account))).then(() => form.submit());
    });
  }
}

const unboundMsMax = 24 * 60 * 60 * 1_000;

/** On the pages of requests: removes the keys of those that are gone. */
export async function forgetKeysOfGone(): Promise<void> {
  if (document.querySelector("[data-ends-keys]") === null) return;
  for (const { account, check, request, storedAt } of await storedKeys()) {
    if (request !== null && document.querySelector(`main a[href*="/requests/${request}/"]`) !== null) continue;
    const isGone = request === null ? Date.now() - storedAt > unboundMsMax : await isGoneAtServer(request);
    if (isGone) await withKeys((store) => store.delete([account, check]));
  }
}

async function isGoneAtServer(request: string): Promise<boolean> {
  try {
    return (await fetch(`/requests/${request}`, { cache: "no-store" })).status === 404;
  } catch (error) {
    // Without an answer, nothing is known.
    if (error instanceof TypeError) return false;
    throw error;
  }
}

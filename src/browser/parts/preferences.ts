import { withStorage } from "./tab-storage.ts";

/** Preferences of this browser, never a text that somebody has entered. */
const withPreferences = <T>(use: (storage: Storage) => T) => withStorage("localStorage", use);

export function storedPreference(key: string): string | null {
  return withPreferences((storage) => storage.getItem(key));
}

export function storePreference(key: string, value: string): void {
  withPreferences((storage) => storage.setItem(key, value));
}

/** Removes and returns a value, so that it is read once. */
function takeStored(key: string): string | null {
  return withPreferences((storage) => {
    const value = storage.getItem(key);
    storage.removeItem(key);
    return value;
  });
}

/** The choice of colours that Password Pusher left in this browser becomes ours, once. */
export function adoptOldTheme(): void {
  const buttons = [...document.querySelectorAll<HTMLButtonElement>("[data-theme-switch] button")];
  const [first] = buttons;
  if (first === undefined) return;
  const mode = takeStored("theme");
  const button = buttons.find(({ value }) => value === mode);
  if (button !== undefined && button.getAttribute("aria-pressed") !== "true") first.form?.requestSubmit(button);
}

export function isChosen(key: string): boolean {
  return storedPreference(key) === "true";
}

export function rememberChoice(key: string, chosen: boolean): void {
  withPreferences((storage) => (chosen ? storage.setItem(key, "true") : storage.removeItem(key)));
}

const hiddenKey = "sealpush_payload_hidden";
/** Password Pusher's name for the same preference. */
const oldHiddenKey = "pwpush_payload_hidden";

/** Buttons with `data-conceals` hide the text of the field with that id on the screen, against people who look on. */
export function enableConcealButtons(root: ParentNode): void {
  for (const button of root.querySelectorAll<HTMLButtonElement>("button[data-conceals]")) {
    const field = document.getElementById(button.dataset.conceals ?? "");
    if (field === null) continue;
    const show = (isHidden: boolean) => {
      field.toggleAttribute("data-concealed", isHidden);
      button.setAttribute("aria-pressed", String(isHidden));
    };
    if (takeStored(oldHiddenKey) === "true") rememberChoice(hiddenKey, true);
    show(isChosen(hiddenKey));
    button.addEventListener("click", () => {
      const isHidden = button.getAttribute("aria-pressed") !== "true";
      show(isHidden);
      rememberChoice(hiddenKey, isHidden);
    });
    button.hidden = false;
  }
}

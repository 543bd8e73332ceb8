import { openingName, withTabStorage } from "./tab-storage.ts";

/**
 * The script that opens a secret in place (open-in-place.ts) is loaded when the form is sent, or when this tab has opened the
 * secret before, because most of those who see a link for the first time wait for its bytes. If it does not load, the browser
 * sends the form, unless it knows that it is offline: then the page says that no answer came.
 */
export function loadOpening(): void {
  const place = document.querySelector<HTMLElement>("[data-opening-failed]");
  if (place === null) return;
  const form = document.querySelector<HTMLFormElement>("form[data-opens]");
  const load = (loaded: () => void, failed: () => void) => {
    const script = document.createElement("script");
    const src = `${place.dataset.script}#${document.scripts.length}`;
    Object.assign(script, { type: "module", src, integrity: place.dataset.integrity });
    script.addEventListener("load", loaded);
    script.addEventListener("error", failed);
    document.head.append(script);
  };
  const loadOnSubmit = () =>
    form?.addEventListener(
      "submit",
      (event) => {
        event.preventDefault();
        load(() => form.requestSubmit(), sendWithoutScript);
      },
      { once: true },
    );
  const sendWithoutScript = () => {
    if (navigator.onLine) {
      form?.submit();
      return;
    }
    place.hidden = false;
    loadOnSubmit();
  };
  // Nobody has pressed the button yet, so a script that does not load sends nothing: that could count a view.
  if (withTabStorage((storage) => storage.getItem(openingName)) !== null) load(() => undefined, loadOnSubmit);
  else loadOnSubmit();
}

import { enableCopyButtons, enableCopyLinks, enableSaveButtons } from "./parts/copy.ts";
import { enableSelectOnFocus, enableShowButtons, sendFormsOnce } from "./parts/fields.ts";
import { loadOpening } from "./parts/load-opening.ts";
import { localiseTimes } from "./parts/local-times.ts";
import { adoptOldTheme } from "./parts/preferences.ts";
import { enableSelection } from "./parts/selection.ts";
import { enableWaits } from "./parts/waits.ts";

// Every page works without this file; elements that need it are hidden until it runs.
enableCopyButtons();
enableCopyLinks();
enableSaveButtons();
enableSelectOnFocus();
enableSelection();
enableShowButtons();
sendFormsOnce();
enableWaits();
loadOpening();
localiseTimes();
forgetSecretOnLeave();
adoptOldTheme();
for (const button of document.querySelectorAll("[data-print]")) button.addEventListener("click", () => print());
document.querySelector("[data-reload]")?.addEventListener("click", () => location.reload());
for (const element of document.querySelectorAll<HTMLElement>("[data-scripted]")) element.hidden = false;
document.querySelector<HTMLElement>("[data-focus]")?.focus();

/**
 * Some browsers keep a page in memory despite its Cache-Control, and the back button shows it again (threat: the next
 * person at the computer). Leaving the page removes the secret; coming back requests the page from the server.
 */
function forgetSecretOnLeave(): void {
  const secret = document.querySelector("[data-secret]");
  if (secret === null) return;
  addEventListener("pagehide", (event) => {
    if (event.persisted) secret.remove();
  });
  addEventListener("pageshow", (event) => {
    if (event.persisted) location.replace(location.href);
  });
}

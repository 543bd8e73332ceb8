import { enableCopyButtons } from "./parts/copy.ts";
import { enableCopyLinks } from "./parts/copy-link.ts";
import { enableSelectOnFocus, enableShowButtons, sendFormsOnce } from "./parts/fields.ts";
import { forgetSecretWhenLeft } from "./parts/forget-secret.ts";
import { localiseTimes } from "./parts/local-times.ts";
import { enableSaveButtons } from "./parts/save.ts";

// Every page is complete without this file; what only works with it is hidden until here.
enableCopyButtons();
enableCopyLinks();
enableSaveButtons();
enableSelectOnFocus();
enableShowButtons();
sendFormsOnce();
localiseTimes();
forgetSecretWhenLeft();
for (const button of document.querySelectorAll("[data-print]")) button.addEventListener("click", () => print());
for (const element of document.querySelectorAll<HTMLElement>("[data-scripted]")) element.hidden = false;
document.querySelector<HTMLElement>("[data-focus]")?.focus();

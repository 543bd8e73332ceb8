import { browserSupportsWebAuthn } from "@simplewebauthn/browser";
import { enablePasskeyButtons } from "./parts/passkey-button.ts";

// The controls stay hidden in browsers without passkeys.
const supported = browserSupportsWebAuthn();
if (supported) enablePasskeyButtons();
const shown = supported ? "[data-with-passkeys]" : "[data-without-passkeys]";
for (const element of document.querySelectorAll<HTMLElement>(shown)) element.hidden = false;

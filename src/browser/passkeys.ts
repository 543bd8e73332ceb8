import { browserSupportsWebAuthn } from "@simplewebauthn/browser";
import { enablePasskeyButtons } from "./parts/passkey-button.ts";

// The controls stay hidden in browsers without passkeys.
if (browserSupportsWebAuthn()) enablePasskeyButtons();

import { browserSupportsWebAuthn } from "@simplewebauthn/browser";
import { enablePasskeyButtons } from "./parts/passkey-button.ts";

// Where the browser knows no passkeys, nothing of them is shown.
if (browserSupportsWebAuthn()) enablePasskeyButtons();

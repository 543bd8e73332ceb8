import type { AuthenticationResponseJSON, RegistrationResponseJSON } from "@simplewebauthn/server";

/** Several times what an authenticator sends, with the longest of signatures. */
const responseLengthMax = 32 * 1024;
const transportsMax = 8;

type Fields = Readonly<Record<string, unknown>>;

/**
 * @param text JSON of a PublicKeyCredential (WebAuthn level 3, section 5.1) as a browser made it of a new passkey.
 * @returns undefined: it is not one. Only what is checked afterwards is taken over.
 */
export function readRegistration(text: string): RegistrationResponseJSON | undefined {
  const read = readCredential(text);
  if (read === undefined) return undefined;
  const { clientDataJSON, attestationObject, transports } = read.response;
  if (!isText(clientDataJSON) || !isText(attestationObject)) return undefined;
  const response = { clientDataJSON, attestationObject, transports: readTransports(transports) };
  return { ...read.credential, response };
}

/** The same for the use of a passkey. */
export function readAuthentication(text: string): AuthenticationResponseJSON | undefined {
  const read = readCredential(text);
  if (read === undefined) return undefined;
  const { clientDataJSON, authenticatorData, signature, userHandle } = read.response;
  if (!isText(clientDataJSON) || !isText(authenticatorData) || !isText(signature)) return undefined;
  const response = { clientDataJSON, authenticatorData, signature, ...(isText(userHandle) && { userHandle }) };
  return { ...read.credential, response };
}

function readCredential(text: string) {
  if (text.length > responseLengthMax) return undefined;
  const whole = parse(text);
  const response = fieldsOf(whole?.response);
  if (whole === undefined || response === undefined) return undefined;
  const { id, rawId, type } = whole;
  if (!isText(id) || !isText(rawId) || type !== "public-key") return undefined;
  const credential = { id, rawId, type, clientExtensionResults: {} } as const;
  return { credential, response };
}

function parse(text: string): Fields | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
  return fieldsOf(value);
}

function fieldsOf(value: unknown): Fields | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : undefined;
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

/** How the browser may reach the passkey again: a hint, stored between blanks. */
function readTransports(value: unknown): string[] {
  if (!Array.isArray(value)) return [];
  return value
    .filter((item: unknown): item is string => typeof item === "string" && /^[a-z-]{1,16}$/.test(item))
    .slice(0, transportsMax);
}

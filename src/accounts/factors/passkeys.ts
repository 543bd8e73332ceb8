import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from "@simplewebauthn/server";
import { type Clock, minuteMs } from "../../base/clock.ts";
import { isFields, parseJson } from "../../base/json.ts";
import type { Random } from "../../base/random.ts";
import { digest } from "../../crypto/digests.ts";
import type { Keyring } from "../../crypto/keyring.ts";
import type { Transaction } from "../../database/database.ts";
import type { User } from "../account.ts";
import type { PasskeyStore, StoredPasskey } from "../store/passkeys.ts";

/** The site that a passkey belongs to: browsers use it for no other site. */
export interface RelyingParty {
  /** A domain name without port, e.g. `push.example.com`. */
  readonly id: string;
  /** The origin that the browser reports, e.g. `https://push.example.com`. */
  readonly origin: string;
  /** Shown by the browser. */
  readonly name: string;
}

/** A new passkey with a valid response. It is not stored yet. */
export interface VerifiedRegistration {
  readonly credential: Omit<StoredPasskey, "id" | "userId">;
  readonly challengeDigest: Buffer;
}

/** A valid response of a stored passkey. It only counts if `claim` succeeds. */
export interface VerifiedUse {
  readonly passkey: StoredPasskey;
  /** Requires the accounts lock. @returns false: the response was used before, or the passkey is gone or was copied. */
  claim(tx: Transaction): Promise<boolean>;
}

/** Loaded on demand: it would make the server's start noticeably slower. */
const webauthn = () => import("@simplewebauthn/server");

/** COSE: EdDSA, ES256, RS256. */
const algorithms = [-8, -7, -257];
const credentialIdBytesMax = 1_023;

export type PasskeyCeremonies = ReturnType<typeof createPasskeyCeremonies>;

interface Deps {
  readonly store: PasskeyStore;
  readonly challenges: PasskeyChallenges;
  readonly clock: Clock;
}

/** The library checks the response's challenge through a callback. Its digest is needed afterwards. */
function openChallenge({ challenges, clock }: Deps, use: ChallengeUse) {
  let answered: string | undefined;
  return {
    check(challenge: string): boolean {
      answered = challenge;
      return challenges.isOpen(challenge, use, clock.now());
    },
    digest(): Buffer {
      if (answered === undefined) throw new Error("A response was accepted without its challenge.");
      return challengeDigest(answered);
    },
  };
}

function ceremonyParts(deps: Deps) {
  const describe = ({ credentialId, transports }: StoredPasskey) => ({
    id: credentialId.toString("base64url"),
    transports: [...transports],
  });
  const bytesOf = (challenge: string) => Uint8Array.from(Buffer.from(challenge, "base64url"));

  return { ...deps, describe, bytesOf, deps };
}

type CeremonyParts = ReturnType<typeof ceremonyParts>;

function offers({ describe, bytesOf, store, challenges, clock }: CeremonyParts) {
  return {
    /** The options for a browser to create a passkey. */
    async offerRegistration(
      user: User,
      use: ChallengeUse,
      party: RelyingParty,
    ): Promise<PublicKeyCredentialCreationOptionsJSON> {
      const { generateRegistrationOptions } = await webauthn();
      return generateRegistrationOptions({
        rpName: party.name,
        rpID: party.id,
        userName: user.email,
        userID: userHandle(user.id),
        challenge: bytesOf(challenges.make(use, clock.now())),
        timeout: challengeLifetimeMs,
        attestationType: "none",
        excludeCredentials: (await store.listCredentials(user.id)).map(describe),
        authenticatorSelection: { residentKey: "preferred", userVerification: "preferred" },
        supportedAlgorithmIDs: algorithms,
      });
    },

    /** The options for a browser to use a passkey. @param userId null: any passkey for this site. */
    async offerUse(
      userId: number | null,
      use: ChallengeUse,
      party: RelyingParty,
    ): Promise<PublicKeyCredentialRequestOptionsJSON> {
      const { generateAuthenticationOptions } = await webauthn();
      return generateAuthenticationOptions({
        rpID: party.id,
        challenge: bytesOf(challenges.make(use, clock.now())),
        timeout: challengeLifetimeMs,
        userVerification: use.purpose === "sign_in" ? "required" : "preferred",
        ...(userId !== null && { allowCredentials: (await store.listCredentials(userId)).map(describe) }),
      });
    },
  };
}

function registration({ deps }: CeremonyParts) {
  return {
    /** @param answer JSON, as the browser sent it. @returns undefined: it is not valid. */
    async verifyRegistration(
      answer: string,
      use: ChallengeUse,
      party: RelyingParty,
    ): Promise<VerifiedRegistration | undefined> {
      const response = readRegistration(answer);
      if (response === undefined || !(await attestsNothing(response.response.attestationObject))) return undefined;
      const { verifyRegistrationResponse } = await webauthn();
      const open = openChallenge(deps, use);
      const verified = await orRefused(
        verifyRegistrationResponse({
          response,
          expectedOrigin: party.origin,
          expectedRPID: party.id,
          expectedChallenge: open.check,
          requireUserVerification: false,
          supportedAlgorithmIDs: algorithms,
        }),
      );
      if (verified?.verified !== true) return undefined;
      const { credential } = verified.registrationInfo;
      const credentialId = Buffer.from(credential.id, "base64url");
      if (credentialId.length > credentialIdBytesMax) return undefined;
      return {
        credential: {
          credentialId,
          publicKey: Buffer.from(credential.publicKey),
          signCount: credential.counter,
          transports: response.response.transports ?? [],
        },
        challengeDigest: open.digest(),
      };
    },
  };
}

function use({ store, clock, deps }: CeremonyParts) {
  return {
    async verifyUse(answer: string, use: ChallengeUse, party: RelyingParty): Promise<VerifiedUse | undefined> {
      const response = readAuthentication(answer);
      if (response === undefined) return undefined;
      const passkey = await store.findCredential(Buffer.from(response.id, "base64url"));
      if (passkey === undefined || !isHandleOf(response.response.userHandle, passkey.userId)) return undefined;
      const { verifyAuthenticationResponse } = await webauthn();
      const open = openChallenge(deps, use);
      const verified = await orRefused(
        verifyAuthenticationResponse({
          response,
          expectedOrigin: party.origin,
          expectedRPID: party.id,
          expectedChallenge: open.check,
          requireUserVerification: use.purpose === "sign_in",
          credential: {
            id: response.id,
            publicKey: Uint8Array.from(passkey.publicKey),
            counter: passkey.signCount,
            transports: [...passkey.transports],
          },
        }),
      );
      if (verified?.verified !== true) return undefined;
      const { newCounter } = verified.authenticationInfo;
      const claim = async (tx: Transaction) => {
        const now = clock.now();
        return (
          (await store.claimChallenge(tx, open.digest(), now, now - challengeLifetimeMs)) &&
          (await store.claimPasskey(tx, passkey.id, newCounter, now))
        );
      };
      return { passkey, claim };
    },
  };
}

export function createPasskeyCeremonies(deps: Deps) {
  const shared = ceremonyParts(deps);
  return { ...offers(shared), ...registration(shared), ...use(shared) };
}

/** The user handle (WebAuthn): it must not contain personal data. */
function userHandle(userId: number): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(Buffer.from(`sealpush:${userId}`, "latin1"));
}

/** Authenticators that do not store the user handle send none. */
function isHandleOf(given: string | undefined, userId: number): boolean {
  return given === undefined || Buffer.from(given, "base64url").equals(userHandle(userId));
}

/** The library only throws for invalid responses, whatever is wrong with them. */
async function orRefused<T>(verifying: Promise<T>): Promise<T | undefined> {
  try {
    return await verifying;
  } catch (error) {
    if (error instanceof Error) return undefined;
    throw error;
  }
}

/**
 * We request no attestation. One that is sent anyway may contain certificates with URLs of revocation lists, which the
 * library would fetch: a client must not make this server request URLs (SSRF).
 */
async function attestsNothing(attestationObject: string): Promise<boolean> {
  const { decodeAttestationObject, isoBase64URL } = await import("@simplewebauthn/server/helpers");
  const read = async () => {
    const attestation = decodeAttestationObject(isoBase64URL.toBuffer(attestationObject));
    const format: unknown = attestation.get("fmt");
    return format === "none" || (format === "packed" && attestation.get("attStmt").get("x5c") === undefined);
  };
  return (await orRefused(read())) === true;
}

/** Browsers wait for the user this long. */
export const challengeLifetimeMs = 5 * minuteMs;
const randomBytes = 16;
const timeBytes = 8;
/** Several times the length of our base64url. */
const lengthMax = 512;

/** The purpose of a challenge. A response is only valid for the purpose and the session of its challenge. */
export type ChallengeUse =
  | { readonly purpose: "sign_in" }
  | { readonly purpose: "add" | "second_factor" | "confirm"; readonly sessionId: number };

/** Independent of the base64url variant of the challenge. */
export function challengeDigest(challenge: string): Buffer {
  return digest(Buffer.from(challenge, "base64url").toString("base64url"));
}

export type PasskeyChallenges = ReturnType<typeof createPasskeyChallenges>;

export function createPasskeyChallenges(deps: { readonly keyring: () => Keyring; readonly random: Random }) {
  return {
    /** 128 random bits and the time, sealed. Nothing is stored, so a flood of requests cannot displace other challenges. */
    make(use: ChallengeUse, now: number): string {
      const time = Buffer.alloc(timeBytes);
      time.writeBigUInt64BE(BigInt(now));
      const content = Buffer.concat([time, deps.random.bytes(randomBytes)]);
      return deps.keyring().sealMessage("passkey challenges", contextOf(use), content).toString("base64url");
    },
    /** Whether this server made the challenge for this purpose and it has not expired. `claimChallenge` prevents reuse. */
    isOpen(challenge: string, use: ChallengeUse, now: number): boolean {
      if (challenge.length > lengthMax) return false;
      const content = deps
        .keyring()
        .openMessage("passkey challenges", contextOf(use), Buffer.from(challenge, "base64url"));
      if (content?.length !== timeBytes + randomBytes) return false;
      const madeAt = Number(content.readBigUInt64BE());
      return now >= madeAt && now < madeAt + challengeLifetimeMs;
    },
  };
}

function contextOf(use: ChallengeUse): readonly [string, number | null] {
  return [use.purpose, use.purpose === "sign_in" ? null : use.sessionId];
}

/** Several times the length of a response with the longest signature. */
const responseLengthMax = 32 * 1024;
const transportsMax = 8;

/**
 * @param text JSON of the PublicKeyCredential (WebAuthn level 3, section 5.1) of a new passkey.
 * @returns only the fields that are verified afterwards; undefined: the text is not such a credential.
 */
export function readRegistration(text: string): RegistrationResponseJSON | undefined {
  const read = readCredential(text);
  if (read === undefined) return undefined;
  const { clientDataJSON, attestationObject, transports } = read.response;
  if (!isText(clientDataJSON) || !isText(attestationObject)) return undefined;
  const response = { clientDataJSON, attestationObject, transports: readTransports(transports) };
  return { ...read.credential, response };
}

/** As `readRegistration`, for the use of a passkey. */
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
  const whole = parseJson(text);
  if (!isFields(whole) || !isFields(whole.response)) return undefined;
  const { id, rawId, type, response } = whole;
  if (!isText(id) || !isText(rawId) || type !== "public-key") return undefined;
  const credential = { id, rawId, type, clientExtensionResults: {} } as const;
  return { credential, response };
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

/** Hints for how the browser can reach the passkey. */
function readTransports(value: unknown): string[] {
  if (!Array.isArray(value)) return [];
  return value
    .filter((item: unknown): item is string => typeof item === "string" && /^[a-z-]{1,16}$/.test(item))
    .slice(0, transportsMax);
}

import { createHash, generateKeyPairSync, randomBytes, sign } from "node:crypto";
import type {
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from "@simplewebauthn/server";
import { isoCBOR } from "@simplewebauthn/server/helpers";

const userPresent = 0x01;
const userVerified = 0x04;
const holdsCredential = 0x40;

export interface Use {
  /** The authenticator verified its user by a fingerprint or a PIN; the default. */
  readonly verifiesUser?: boolean;
  /** The counter that it sends; incremented by default. */
  readonly counter?: number;
  readonly origin?: string;
  /** Unsolicited attestation of a new passkey: "self" with its own key, "certificate" with the manufacturer's. */
  readonly attests?: "self" | "certificate";
}

/** One passkey in software; it answers in the format of browsers (WebAuthn level 3). */
export class TestAuthenticator {
  readonly #key = generateKeyPairSync("ec", { namedCurve: "P-256" });
  readonly #credentialId = randomBytes(32);
  readonly #origin: string;
  #userHandle = "";
  #counter = 0;

  /** @param origin of the page in the browser. */
  constructor(origin = "http://localhost") {
    this.#origin = origin;
  }

  /** Creates the passkey. @returns the JSON that a browser sends. */
  create(options: PublicKeyCredentialCreationOptionsJSON, use: Use = {}): string {
    this.#userHandle = options.user.id;
    const length = Buffer.alloc(2);
    length.writeUInt16BE(this.#credentialId.length);
    const credential = Buffer.concat([Buffer.alloc(16), length, this.#credentialId, this.#coseKey()]);
    const data = this.#authenticatorData(options.rp.id ?? "", userPresent | holdsCredential | verifying(use), use);
    const authData = Buffer.concat([data, credential]);
    const clientData = this.#clientData("webauthn.create", options.challenge, use);
    const attestation = new Map<string, unknown>([
      ["fmt", use.attests === undefined ? "none" : "packed"],
      ["attStmt", this.#statement(Buffer.concat([authData, sha256(clientData)]), use)],
      ["authData", Uint8Array.from(authData)],
    ]);
    return this.#credential({
      clientDataJSON: clientData.toString("base64url"),
      attestationObject: Buffer.from(encode(attestation)).toString("base64url"),
      transports: ["internal"],
    });
  }

  /** Uses the passkey. @returns the JSON that a browser sends. */
  get(options: PublicKeyCredentialRequestOptionsJSON, use: Use = {}): string {
    const data = this.#authenticatorData(options.rpId ?? "", userPresent | verifying(use), use);
    const clientData = this.#clientData("webauthn.get", options.challenge, use);
    const signed = Buffer.concat([data, sha256(clientData)]);
    return this.#credential({
      clientDataJSON: clientData.toString("base64url"),
      authenticatorData: data.toString("base64url"),
      signature: sign("sha256", signed, this.#key.privateKey).toString("base64url"),
      userHandle: this.#userHandle,
    });
  }

  #statement(signed: Buffer, { attests }: Use): Map<string, unknown> {
    if (attests === undefined) return new Map();
    const signature = Uint8Array.from(sign("sha256", signed, this.#key.privateKey));
    const statement = new Map<string, unknown>([
      ["alg", -7],
      ["sig", signature],
    ]);
    return attests === "self" ? statement : statement.set("x5c", [new Uint8Array(64)]);
  }

  #credential(response: Readonly<Record<string, unknown>>): string {
    const id = this.#credentialId.toString("base64url");
    return JSON.stringify({ id, rawId: id, type: "public-key", clientExtensionResults: {}, response });
  }

  #clientData(type: string, challenge: string, { origin }: Use): Buffer {
    return Buffer.from(JSON.stringify({ type, challenge, origin: origin ?? this.#origin, crossOrigin: false }));
  }

  #authenticatorData(rpId: string, flags: number, { counter }: Use): Buffer {
    this.#counter = counter ?? this.#counter + 1;
    const end = Buffer.alloc(5);
    end[0] = flags;
    end.writeUInt32BE(this.#counter, 1);
    return Buffer.concat([sha256(rpId), end]);
  }

  /** COSE_Key (RFC 9052) of an ES256 key. */
  #coseKey(): Uint8Array {
    const { x = "", y = "" } = this.#key.publicKey.export({ format: "jwk" });
    const key = new Map<number, unknown>([
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, Uint8Array.from(Buffer.from(x, "base64url"))],
      [-3, Uint8Array.from(Buffer.from(y, "base64url"))],
    ]);
    return encode(key);
  }
}

const sha256 = (bytes: Buffer | string) => createHash("sha256").update(bytes).digest();

const verifying = ({ verifiesUser = true }: Use) => (verifiesUser ? userVerified : 0);

function encode(map: Map<number | string, unknown>): Uint8Array {
  return isoCBOR.encode(map as Parameters<typeof isoCBOR.encode>[0]);
}

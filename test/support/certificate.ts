import { generateKeyPairSync, randomBytes, sign } from "node:crypto";

/** DER (X.690): tag, length, content. */
function element(tag: number, ...content: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(content);
  const bytes = [body.length >> 8, body.length & 0xff].filter((byte, at) => at === 1 || byte > 0);
  const length = body.length < 0x80 ? bytes : [0x80 + bytes.length, ...bytes];
  return Buffer.concat([Buffer.from([tag, ...length]), body]);
}

const sequence = (...content: readonly Uint8Array[]) => element(0x30, ...content);
const objectId = (hex: string) => element(0x06, Buffer.from(hex, "hex"));
const utcTime = (at: Date) => element(0x17, Buffer.from(`${at.toISOString().slice(2, 19).replace(/[-:T]/g, "")}Z`));

const ecdsaWithSha256 = sequence(objectId("2a8648ce3d040302"));
const commonName = objectId("550403");
const subjectAltName = objectId("551d11");
const basicConstraints = objectId("551d13");

/**
 * A self-signed certificate for localhost and 127.0.0.1 (RFC 5280), valid from a day ago to a day from now.
 * @returns PEM.
 */
export function makeCertificate(): { readonly key: string; readonly certificate: string } {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
  const name = sequence(element(0x31, sequence(commonName, element(0x0c, Buffer.from("localhost")))));
  const dayMs = 24 * 60 * 60 * 1_000;
  const names = sequence(element(0x82, Buffer.from("localhost")), element(0x87, Buffer.from([127, 0, 0, 1])));
  const authority = sequence(element(0x01, Buffer.from([0xff])));
  const toBeSigned = sequence(
    element(0xa0, element(0x02, Buffer.from([2]))),
    element(0x02, Buffer.concat([Buffer.from([1]), randomBytes(15)])),
    ecdsaWithSha256,
    name,
    sequence(utcTime(new Date(Date.now() - dayMs)), utcTime(new Date(Date.now() + dayMs))),
    name,
    publicKey.export({ type: "spki", format: "der" }),
    element(
      0xa3,
      sequence(
        sequence(subjectAltName, element(0x04, names)),
        sequence(basicConstraints, element(0x01, Buffer.from([0xff])), element(0x04, authority)),
      ),
    ),
  );
  const signature = sign("sha256", toBeSigned, privateKey);
  const der = sequence(toBeSigned, ecdsaWithSha256, element(0x03, Buffer.from([0]), signature));
  const lines = der.toString("base64").match(/.{1,64}/g) ?? [];
  return {
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    certificate: `-----BEGIN CERTIFICATE-----\n${lines.join("\n")}\n-----END CERTIFICATE-----\n`,
  };
}

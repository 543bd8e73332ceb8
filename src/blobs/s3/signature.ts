import { createHash, createHmac } from "node:crypto";

export interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

export interface RequestToSign {
  readonly method: string;
  /** Each segment percent-encoded by `percentEncode`. */
  readonly path: string;
  /** Raw values, not encoded. */
  readonly query: Readonly<Record<string, string>>;
  /** All of them are signed. Names are lower case and include `host` and `x-amz-date`. */
  readonly headers: Readonly<Record<string, string>>;
  /** Hex. */
  readonly payloadSha256: string;
}

export interface Scope {
  readonly region: string;
  readonly service: string;
}

const algorithm = "AWS4-HMAC-SHA256";

/**
 * The Authorization header of AWS Signature Version 4 (Amazon S3 API Reference, "Signature Calculations for the
 * Authorization Header: Transferring Payload in a Single Chunk").
 */
export function authorization(request: RequestToSign, scope: Scope, credentials: Credentials): string {
  const time = request.headers["x-amz-date"] ?? "";
  const day = time.slice(0, 8);
  const credentialScope = `${day}/${scope.region}/${scope.service}/aws4_request`;
  const names = Object.keys(request.headers).sort();
  const signedHeaders = names.join(";");
  const canonicalRequest = [
    request.method,
    request.path,
    encodeQuery(request.query),
    ...names.map((name) => `${name}:${(request.headers[name] ?? "").trim().replace(/ +/g, " ")}`),
    "",
    signedHeaders,
    request.payloadSha256,
  ].join("\n");
  const digest = createHash("sha256").update(canonicalRequest).digest("hex");
  const stringToSign = [algorithm, time, credentialScope, digest].join("\n");
  const dayKey = hmac(`AWS4${credentials.secretAccessKey}`, day);
  const signingKey = hmac(hmac(hmac(dayKey, scope.region), scope.service), "aws4_request");
  const signature = hmac(signingKey, stringToSign).toString("hex");
  return `${algorithm} Credential=${credentials.accessKeyId}/${credentialScope},SignedHeaders=${signedHeaders},Signature=${signature}`;
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac("sha256", key).update(text).digest();
}

/** In the order and encoding that are signed. */
export function encodeQuery(query: Readonly<Record<string, string>>): string {
  return Object.entries(query)
    .map(([name, value]) => `${percentEncode(name)}=${percentEncode(value)}`)
    .sort()
    .join("&");
}

/** RFC 3986, section 2.3: encodes all but the unreserved characters, which is stricter than encodeURIComponent. */
export function percentEncode(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** `20130524T000000Z`. @param now milliseconds since the epoch. */
export function amzDate(now: number): string {
  return new Date(now).toISOString().replace(/[-:]|\.\d+/g, "");
}

import type { FastifyReply } from "fastify";
import { sendText } from "./answers.ts";

/** RFC 7644, table 9. */
export type ScimType =
  | "invalidFilter"
  | "invalidPath"
  | "invalidSyntax"
  | "invalidValue"
  | "mutability"
  | "noTarget"
  | "uniqueness";

interface ScimError {
  readonly status: number;
  readonly detail: string;
  readonly scimType?: ScimType;
}

/** The body of an error (RFC 7644, section 3.12). */
export function scimError({ status, detail, scimType }: ScimError): object {
  const schemas = ["urn:ietf:params:scim:api:messages:2.0:Error"];
  return { schemas, status: String(status), ...(scimType === undefined ? {} : { scimType }), detail };
}

export function sendScim(reply: FastifyReply, status: number, answer: object): FastifyReply {
  reply.header("content-type", "application/scim+json; charset=utf-8");
  return sendText(reply.code(status), JSON.stringify(answer));
}

export function isScimPath(url: string): boolean {
  return /^\/scim(?:[/?]|$)/.test(url);
}

import { userSchema } from "./read-user.ts";

const configSchema = "urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig";
const typeSchema = "urn:ietf:params:scim:schemas:core:2.0:ResourceType";
const schemaSchema = "urn:ietf:params:scim:schemas:core:2.0:Schema";

/** The largest number of users in an answer. */
export const usersMax = 200;

/** RFC 7643, section 5. @param base without a slash at the end. */
export function serviceProviderConfig(base: string): object {
  const off = { supported: false };
  return {
    schemas: [configSchema],
    patch: { supported: true },
    bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
    filter: { supported: true, maxResults: usersMax },
    changePassword: off,
    sort: off,
    etag: off,
    authenticationSchemes: [
      {
        type: "oauthbearertoken",
        name: "Bearer token",
        description: "The token of the server's setting PWP__SCIM__TOKEN.",
        primary: true,
      },
    ],
    meta: { resourceType: "ServiceProviderConfig", location: `${base}/ServiceProviderConfig` },
  };
}

/** RFC 7643, section 6. */
export function userResourceType(base: string): object {
  return {
    schemas: [typeSchema],
    id: "User",
    name: "User",
    endpoint: "/Users",
    description: "An account of this server.",
    schema: userSchema,
    meta: { resourceType: "ResourceType", location: `${base}/ResourceTypes/User` },
  };
}

/** RFC 7643, section 7: what this server keeps of a user. */
export function userSchemaDocument(base: string): object {
  const plain = { multiValued: false, mutability: "readWrite", returned: "default" };
  const text = { type: "string", ...plain };
  return {
    schemas: [schemaSchema],
    id: userSchema,
    name: "User",
    description: "An account of this server.",
    attributes: [
      {
        name: "userName",
        ...text,
        required: true,
        caseExact: false,
        uniqueness: "server",
        description: "The email address of a new account. A later change of it changes no address.",
      },
      {
        name: "externalId",
        ...text,
        required: false,
        caseExact: true,
        uniqueness: "server",
        description: "The provider's own id of the user.",
      },
      {
        name: "active",
        type: "boolean",
        ...plain,
        required: false,
        description: "Whether the user may sign in. False also ends sessions and API tokens.",
      },
    ],
    meta: { resourceType: "Schema", location: `${base}/Schemas/${userSchema}` },
  };
}

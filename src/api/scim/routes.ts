import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { type Scim, type ScimRefusal, ScimRefusedError, type ScimUser } from "../../accounts/accounts.ts";
import type { BodyIntake } from "../../http/body/body-intake.ts";
import { receiveScim } from "../../http/body/receive-body.ts";
import { timestamp } from "../../http/present.ts";
import { type ScimType, scimError, sendScim } from "../../http/scim-answers.ts";
import { serviceProviderConfig, userResourceType, userSchemaDocument, usersMax } from "./discovery.ts";
import { readFilter, readNewUser, readPatch, readUser, ScimRequestError, userSchema } from "./read-user.ts";

interface ScimDeps {
  readonly scim: Scim;
  readonly bodyIntake: BodyIntake;
}

type Handler = (request: FastifyRequest, reply: FastifyReply, deps: ScimDeps) => FastifyReply | Promise<FastifyReply>;

const root = "/scim/v2";

const routes: readonly (readonly ["GET" | "POST" | "PUT" | "PATCH" | "DELETE", path: string, Handler])[] = [
  ["GET", "/ServiceProviderConfig", (request, reply) => sendScim(reply, 200, serviceProviderConfig(baseOf(request)))],
  ["GET", "/ResourceTypes", (request, reply) => sendList(reply, [userResourceType(baseOf(request))])],
  ["GET", "/ResourceTypes/User", (request, reply) => sendScim(reply, 200, userResourceType(baseOf(request)))],
  ["GET", "/Schemas", (request, reply) => sendList(reply, [userSchemaDocument(baseOf(request))])],
  ["GET", "/Schemas/:id", showSchema],
  // Groups are read at sign-on. Providers ask for the list, and must not take its absence for a failure.
  ["GET", "/Groups", (_request, reply) => sendList(reply, [])],
  ["GET", "/Users", listUsers],
  ["POST", "/Users", createUser],
  ["GET", "/Users/:id", showUser],
  ["PUT", "/Users/:id", changeUser(readUser)],
  ["PATCH", "/Users/:id", changeUser(readPatch)],
  ["DELETE", "/Users/:id", deleteUser],
  ["POST", "/Bulk", notImplemented],
  ...(["GET", "POST", "PUT", "PATCH", "DELETE"] as const).map((method) => [method, "/Me", notImplemented] as const),
];

/** SCIM 2.0 (RFC 7643, RFC 7644), for the identity provider alone. */
export function registerScim(server: FastifyInstance, deps: ScimDeps): void {
  for (const [method, path, handler] of routes) {
    server.route({
      method,
      url: `${root}${path}`,
      config: { access: "scim", group: "internal", changesState: method !== "GET" },
      handler: (request, reply) => answer(handler, request, reply, deps),
    });
  }
}

async function answer(handler: Handler, request: FastifyRequest, reply: FastifyReply, deps: ScimDeps) {
  try {
    return await handler(request, reply, deps);
  } catch (error) {
    const refusal = refusalOf(error);
    if (refusal === undefined) throw error;
    return sendScim(reply, refusal.status, scimError(refusal));
  }
}

const refusals: Readonly<
  Record<ScimRefusal, readonly [status: number, scimType: ScimType | undefined, detail: string]>
> = {
  unknown: [404, undefined, "There is no such user."],
  user_name_taken: [409, "uniqueness", "Another account has this userName."],
  external_id_taken: [409, "uniqueness", "Another user has this externalId."],
  external_id_fixed: [400, "mutability", "Somebody has used this account: its externalId cannot be replaced."],
  not_an_address: [400, "invalidValue", "userName must be an email address."],
  last_admin: [409, undefined, "This is the last administrator, who cannot be disabled."],
  no_users_yet: [403, undefined, "This server has no administrator yet."],
};

function refusalOf(error: unknown) {
  if (error instanceof ScimRequestError) return answerOf(error.status, error.scimType, error.message);
  return error instanceof ScimRefusedError ? answerOf(...refusals[error.refusal]) : undefined;
}

function answerOf(status: number, scimType: ScimType | undefined, detail: string) {
  return { status, detail, ...(scimType === undefined ? {} : { scimType }) };
}

const baseOf = (request: FastifyRequest) => `${request.baseUrl}${root}`;

function notImplemented(): never {
  throw new ScimRequestError(501, undefined, "This server does not support that.");
}

/** RFC 7644, section 3.4.2. */
function sendList(reply: FastifyReply, resources: readonly object[], page = { total: resources.length, start: 1 }) {
  return sendScim(reply, 200, {
    schemas: ["urn:ietf:params:scim:api:messages:2.0:ListResponse"],
    totalResults: page.total,
    startIndex: page.start,
    itemsPerPage: resources.length,
    Resources: resources,
  });
}

function presentUser({ id, userName, externalId, active, ...times }: ScimUser, request: FastifyRequest): object {
  return {
    schemas: [userSchema],
    id: String(id),
    ...(externalId === null ? {} : { externalId }),
    userName,
    active,
    meta: {
      resourceType: "User",
      created: timestamp(times.createdAt),
      lastModified: timestamp(times.updatedAt),
      location: `${baseOf(request)}/Users/${id}`,
    },
  };
}

const sendUser = (request: FastifyRequest, reply: FastifyReply, status: number, user: ScimUser) =>
  sendScim(reply, status, presentUser(user, request));

const parameter = (request: FastifyRequest, name: string): unknown => Reflect.get(Object(request.query), name);

/** Some clients send the largest integer that they have as `count`. */
const numberMax = 2 ** 31 - 1;

/** @param fallback without the parameter. */
function numberOf(request: FastifyRequest, name: string, fallback: number): number {
  const given = parameter(request, name);
  if (given === undefined) return fallback;
  if (typeof given !== "string" || !/^-?\d+$/.test(given)) {
    throw new ScimRequestError(400, "invalidValue", `${name} must be a number.`);
  }
  return Math.min(Number(given), numberMax);
}

async function listUsers(request: FastifyRequest, reply: FastifyReply, { scim }: ScimDeps): Promise<FastifyReply> {
  // A smaller startIndex counts as 1, and a negative count as 0 (RFC 7644, section 3.4.2.4).
  const start = Math.max(1, numberOf(request, "startIndex", 1));
  const count = Math.min(usersMax, Math.max(0, numberOf(request, "count", usersMax)));
  const filter = parameter(request, "filter");
  if (filter === undefined) {
    const { total, users } = await scim.list(start - 1, count);
    return sendList(
      reply,
      users.map((user) => presentUser(user, request)),
      { total, start },
    );
  }
  const { attribute, value } = readFilter(filter);
  const find = attribute === "userName" ? scim.findByUserName : scim.findByExternalId;
  // PostgreSQL's text type does not allow NUL, and no value has it.
  const user = value.includes("\0") ? undefined : await find(value);
  const found = user === undefined ? [] : [presentUser(user, request)];
  return sendList(reply, start > 1 ? [] : found.slice(0, count), { total: found.length, start });
}

const pathIdOf = (request: FastifyRequest): unknown => Reflect.get(Object(request.params), "id");

/** A parameter of the path, because clients may encode the colons of the name. */
function showSchema(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  if (pathIdOf(request) !== userSchema) throw new ScimRequestError(404, undefined, "There is no such schema.");
  return sendScim(reply, 200, userSchemaDocument(baseOf(request)));
}

/** @throws ScimRefusedError. */
function idOf(request: FastifyRequest): number {
  const id = pathIdOf(request);
  if (typeof id !== "string" || !/^[1-9]\d{0,14}$/.test(id)) throw new ScimRefusedError("unknown");
  return Number(id);
}

async function showUser(request: FastifyRequest, reply: FastifyReply, { scim }: ScimDeps): Promise<FastifyReply> {
  const user = await scim.find(idOf(request));
  if (user === undefined) throw new ScimRefusedError("unknown");
  return sendUser(request, reply, 200, user);
}

async function createUser(request: FastifyRequest, reply: FastifyReply, deps: ScimDeps): Promise<FastifyReply> {
  const wanted = readNewUser(await receiveScim(request, deps.bodyIntake));
  const user = await deps.scim.create(wanted, request.client.address);
  reply.header("location", `${baseOf(request)}/Users/${user.id}`);
  return sendUser(request, reply, 201, user);
}

function changeUser(read: (body: unknown) => ReturnType<typeof readPatch>): Handler {
  return async (request, reply, { scim, bodyIntake }) => {
    const id = idOf(request);
    const wanted = read(await receiveScim(request, bodyIntake));
    return sendUser(request, reply, 200, await scim.change(id, wanted, request.client.address));
  };
}

async function deleteUser(request: FastifyRequest, reply: FastifyReply, { scim }: ScimDeps): Promise<FastifyReply> {
  await scim.remove(idOf(request), request.client.address);
  return reply.code(204).send();
}

import type { NewScimUser } from "../../accounts/accounts.ts";
import { parseJson } from "../../base/json.ts";
import { isJsonObject } from "../../http/body/json-reader.ts";
import type { ScimType } from "../../http/scim-answers.ts";

/** A request that is answered with this status and type (RFC 7644, section 3.12). */
export class ScimRequestError extends Error {
  readonly status: number;
  readonly scimType: ScimType | undefined;

  constructor(status: number, scimType: ScimType | undefined, detail: string) {
    super(detail);
    this.status = status;
    this.scimType = scimType;
  }
}

export const userSchema = "urn:ietf:params:scim:schemas:core:2.0:User";

const bad = (scimType: ScimType, detail: string) => new ScimRequestError(400, scimType, detail);

/** Column widths of other products; Entra's renamed users have 33 characters more. */
const textCharactersMax = 512;

/** Names of attributes are the same in any case (RFC 7643, section 2.1), and with the schema in front. */
function plainName(name: string): string {
  const lower = name.toLowerCase();
  const prefix = `${userSchema.toLowerCase()}:`;
  return lower.startsWith(prefix) ? lower.slice(prefix.length) : lower;
}

/** The attributes of an object by plain name. The schema may also be the name of an object that has them. */
function attributesIn(value: unknown): ReadonlyMap<string, unknown> {
  if (!isJsonObject(value)) throw bad("invalidSyntax", "Send an object.");
  const attributes = new Map<string, unknown>();
  for (const [name, each] of Object.entries(value)) {
    if (name.toLowerCase() !== userSchema.toLowerCase()) attributes.set(plainName(name), each);
    else for (const [inner, nested] of attributesIn(each)) attributes.set(inner, nested);
  }
  return attributes;
}

function textIn(name: string, value: unknown): string {
  if (typeof value !== "string" || value.trim() === "") throw bad("invalidValue", `${name} must be a text.`);
  if (value.length > textCharactersMax) throw bad("invalidValue", `${name} is too long.`);
  // An unpaired surrogate cannot be stored.
  if (/[\p{Cc}\p{Cs}]/u.test(value)) throw bad("invalidValue", `${name} has characters that are not allowed.`);
  return value;
}

/** Entra sends `"False"`. */
function booleanIn(value: unknown): boolean {
  const text = typeof value === "boolean" ? String(value) : typeof value === "string" ? value.toLowerCase() : "";
  if (text !== "true" && text !== "false") throw bad("invalidValue", "active must be true or false.");
  return text === "true";
}

interface Changes {
  userName?: string;
  externalId?: string | null;
  active?: boolean;
}

/** Takes the attributes that SCIM keeps and ignores all others. @param value null: none (RFC 7643, section 2.5). */
function put(changes: Changes, name: string, value: unknown): void {
  const isGiven = value !== null && value !== undefined;
  if (name === "username") changes.userName = textIn("userName", value);
  else if (name === "externalid") changes.externalId = isGiven ? textIn("externalId", value) : null;
  else if (name === "active" && isGiven) changes.active = booleanIn(value);
}

/** The user of a POST. @throws ScimRequestError. */
export function readNewUser(body: unknown): NewScimUser {
  const { userName, externalId = null, active = true } = readUser(body);
  return { userName, externalId, active };
}

/** The user of a PUT. What it leaves out stays as it is (RFC 7644, section 3.5.1). @throws ScimRequestError. */
export function readUser(body: unknown): Changes & { readonly userName: string } {
  const changes: Changes = {};
  for (const [name, value] of attributesIn(body)) {
    if (!(name === "externalid" && value === null)) put(changes, name, value);
  }
  const { userName } = changes;
  if (userName === undefined) throw bad("invalidValue", "userName is required.");
  return { ...changes, userName };
}

/** The changes of a PATCH (RFC 7644, section 3.5.2). The last one to an attribute wins. @throws ScimRequestError. */
export function readPatch(body: unknown): Changes {
  const operations = attributesIn(body).get("operations");
  if (!Array.isArray(operations) || operations.length === 0) throw bad("invalidSyntax", "Operations must be a list.");
  const changes: Changes = {};
  for (const operation of operations) applyOperation(changes, attributesIn(operation));
  return changes;
}

function applyOperation(changes: Changes, operation: ReadonlyMap<string, unknown>): void {
  const op: unknown = operation.get("op");
  const kind = typeof op === "string" ? op.toLowerCase() : "";
  if (kind !== "add" && kind !== "replace" && kind !== "remove") {
    throw bad("invalidSyntax", "op must be add, replace or remove.");
  }
  const path = operation.get("path");
  const value = operation.get("value");
  if (path === undefined || path === null) {
    if (kind === "remove") throw bad("noTarget", "remove needs a path.");
    if (!isJsonObject(value)) throw bad("invalidValue", "Without a path, value must be an object.");
    for (const [name, each] of attributesIn(value)) put(changes, name, each);
    return;
  }
  const name = attributeOf(path);
  if (kind !== "remove") {
    if (value === undefined) throw bad("invalidValue", "The operation has no value.");
    put(changes, name, value);
  } else if (name === "username" || name === "active") throw bad("mutability", "This attribute cannot be removed.");
  else put(changes, name, null);
}

const kept = ["username", "externalid", "active"];

/** @returns the plain name of the attribute of a path, which may have a filter: `emails[type eq "work"].value`. */
function attributeOf(path: unknown): string {
  const name = typeof path === "string" ? plainName(path.trim()) : "";
  if (name === "" || /^[^a-z$]/.test(name)) throw bad("invalidPath", "path must be the path of an attribute.");
  const first = /^[\w$-]+/.exec(name)?.[0] ?? "";
  if (kept.includes(first) && first !== name) throw bad("invalidPath", `${first} has no parts.`);
  return name;
}

/** The filter of a list: `userName eq "..."` or `externalId eq "..."`. @throws ScimRequestError. */
export function readFilter(text: unknown): { readonly attribute: "userName" | "externalId"; readonly value: string } {
  const [, name = "", literal = ""] =
    typeof text === "string" ? (/^\s*([\w:.]+)\s+eq\s+("(?:[^"\\]|\\.)*")\s*$/i.exec(text) ?? []) : [];
  const plain = plainName(name);
  const value = plain === "username" || plain === "externalid" ? parseJson(literal) : undefined;
  if (typeof value !== "string")
    throw bad("invalidFilter", 'Only userName eq "..." and externalId eq "..." are supported.');
  return { attribute: plain === "username" ? "userName" : "externalId", value };
}

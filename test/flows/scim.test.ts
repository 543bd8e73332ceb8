import { expect, test } from "vitest";
import { startTestApp } from "../support/app.ts";
import { CookieClient } from "../support/cookie-client.ts";
import { type Method, scimClient, scimToken, startScimApp, userSchema } from "../support/scim.ts";

const errorSchema = "urn:ietf:params:scim:api:messages:2.0:Error";
const scimType = "application/scim+json; charset=utf-8";

test("without a token in the settings there is no SCIM", async () => {
  await using app = await startTestApp();
  const { ask } = scimClient(app);
  for (const path of ["/Users", "/ServiceProviderConfig", "/Users/1", "/Me"]) {
    expect((await ask("GET", path)).status, path).toBe(404);
  }
  expect((await app.server.inject({ url: "/api/sealpush" })).json().features).not.toContain("scim");
});

test("with a token, it is among the features and describes itself", async () => {
  const { app, ask } = await startScimApp();
  expect((await app.server.inject({ url: "/api/sealpush" })).json().features).toContain("scim");
  const config = await ask("GET", "/ServiceProviderConfig");
  expect(config.status).toBe(200);
  expect(config.headers["content-type"]).toBe(scimType);
  expect(config.body).toMatchObject({
    patch: { supported: true },
    bulk: { supported: false },
    filter: { maxResults: 200 },
  });
  expect((await ask("GET", "/ResourceTypes")).body).toMatchObject({
    totalResults: 1,
    Resources: [{ endpoint: "/Users" }],
  });
  expect((await ask("GET", "/ResourceTypes/User")).body).toMatchObject({ schema: userSchema });
  expect((await ask("GET", "/Schemas")).body).toMatchObject({ totalResults: 1, Resources: [{ id: userSchema }] });
  for (const id of [userSchema, encodeURIComponent(userSchema)]) {
    expect((await ask("GET", `/Schemas/${id}`)).body).toMatchObject({ id: userSchema });
  }
  expect((await ask("GET", "/Schemas/urn:example:other")).status).toBe(404);
  expect((await ask("GET", "/Groups?excludedAttributes=members")).body).toMatchObject({
    totalResults: 0,
    Resources: [],
  });
  for (const [method, path] of [
    ["POST", "/Bulk"],
    ["GET", "/Me"],
    ["PATCH", "/Me"],
  ] as const) {
    expect((await ask(method, path)).status).toBe(501);
  }
});

test("only the settings' tokens count, never a user's token or cookie", async () => {
  const second = "another-token-of-32-characters-or-more";
  const { app, ask, adminToken } = await startScimApp({ PWP__SCIM__TOKEN: `${scimToken}, ${second}` });
  const admin = new CookieClient(app);
  await admin.signIn("admin@example.com", "a long enough password");
  expect((await admin.get("/scim/v2/Users")).statusCode).toBe(401);
  for (const authorization of ["", `Bearer ${adminToken}`, `Bearer ${scimToken}x`, scimToken, `Basic ${scimToken}`]) {
    const answer = await ask("GET", "/Users", undefined, { authorization });
    expect([authorization, answer.status]).toEqual([authorization, 401]);
    expect(answer.headers["www-authenticate"]).toBe("Bearer");
  }
  expect((await ask("GET", "/Users", undefined, { "x-user-token": scimToken, authorization: "" })).status).toBe(401);
  for (const authorization of [`Bearer ${scimToken}`, `bearer ${second}`]) {
    expect((await ask("GET", "/Users", undefined, { authorization })).status).toBe(200);
  }
  // Nor is it a token of anything else.
  const listed = await app.server.inject({ url: "/p/active.json", headers: { authorization: `Bearer ${scimToken}` } });
  expect(listed.statusCode).toBe(401);
});

test("a gateway has no SCIM", async () => {
  await using app = await startTestApp({ environment: { PWP__SCIM__TOKEN: scimToken, PWP_PUBLIC_GATEWAY: "true" } });
  expect((await scimClient(app).ask("GET", "/Users")).status).toBe(404);
});

test("every error has the form of RFC 7644", async () => {
  const { app, ask, make } = await startScimApp({ PWP__THROTTLING__MINUTE: "30" });
  const user = { userName: "ada@example.com" };
  const json = { "content-type": "application/json" };
  const cases: readonly (readonly [number, string | undefined, Parameters<typeof ask>])[] = [
    [404, undefined, ["GET", "/Users/1"]],
    [404, undefined, ["GET", "/Users/x"]],
    [404, undefined, ["GET", "/Nothing"]],
    [401, undefined, ["GET", "/Users", undefined, { authorization: "" }]],
    [405, undefined, ["DELETE", "/Users"]],
    [415, undefined, ["POST", "/Users", "userName=a", { "content-type": "application/x-www-form-urlencoded" }]],
    [413, undefined, ["POST", "/Users", { ...user, note: "x".repeat(600_000) }]],
    [400, "invalidSyntax", ["POST", "/Users", "{"]],
    [400, "invalidSyntax", ["POST", "/Users", "[]"]],
    [400, "invalidSyntax", ["POST", "/Users", ""]],
    [400, "invalidValue", ["POST", "/Users", {}]],
    [400, "invalidValue", ["POST", "/Users", { userName: { value: "ada@example.com" } }, json]],
    [400, "invalidValue", ["POST", "/Users", { userName: 5 }]],
    [400, "invalidValue", ["POST", "/Users", { userName: "ada" }]],
    [400, "invalidValue", ["POST", "/Users", { ...user, externalId: ["x"] }]],
    [400, "invalidValue", ["POST", "/Users", { ...user, externalId: "a\u0000b" }]],
    [400, "invalidValue", ["POST", "/Users", { ...user, externalId: "x".repeat(513) }]],
    [400, "invalidValue", ["POST", "/Users", { ...user, externalId: " " }]],
    [400, "invalidValue", ["POST", "/Users", { ...user, active: { value: true } }]],
    [400, "invalidFilter", ["GET", "/Users?filter=emails%20eq%20%22a%22"]],
    [400, "invalidFilter", ["GET", "/Users?filter=userName%20sw%20%22a%22"]],
    [400, "invalidFilter", ["GET", "/Users?filter=userName%20eq%20a"]],
    [400, "invalidValue", ["GET", "/Users?count=x"]],
  ];
  for (const [status, type, request] of cases) {
    const answer = await ask(...request);
    expect([request, answer.status]).toEqual([request, status]);
    expect(answer.headers["content-type"]).toBe(scimType);
    expect(answer.body).toMatchObject({ schemas: [errorSchema], status: String(status), detail: expect.any(String) });
    expect(answer.body.scimType).toBe(type);
  }
  app.clock.advance(60_000);
  let last = await make("ada@example.com");
  for (let count = 0; count < 30; count += 1) last = await ask("GET", "/Users");
  expect([last.status, last.headers["content-type"], last.body.status]).toEqual([429, scimType, "429"]);
  // Another client's requests are not counted with them.
  const headers = { authorization: `Bearer ${scimToken}` };
  const other = await app.server.inject({ url: "/scim/v2/Users", remoteAddress: "192.0.2.9", headers });
  expect(other.statusCode).toBe(200);
});

test("users are made, found, listed page by page, replaced and deleted", async () => {
  const { ask, make, find, remove } = await startScimApp();
  const made = await make("Ada@Example.com", "ext-1", { displayName: "Ada", password: "secret", roles: ["admin"] });
  expect(made.status).toBe(201);
  const { id } = made.body;
  expect(made.body).toEqual({
    schemas: [userSchema],
    id: expect.stringMatching(/^\d+$/),
    externalId: "ext-1",
    userName: "Ada@Example.com",
    active: true,
    meta: {
      resourceType: "User",
      created: expect.any(String),
      lastModified: expect.any(String),
      location: expect.stringMatching(new RegExp(`/scim/v2/Users/${id}$`)),
    },
  });
  expect(made.headers.location).toBe(made.body.meta.location);
  expect((await make("ada@example.com", "ext-9")).body).toMatchObject({ status: "409", scimType: "uniqueness" });
  expect((await make("eve@example.com", "ext-1")).body).toMatchObject({ status: "409", scimType: "uniqueness" });
  // An address of an account that SCIM does not see.
  expect((await make("admin@example.com", "ext-2")).body).toMatchObject({ status: "409", scimType: "uniqueness" });
  for (const filter of [
    'userName eq "ada@example.com"',
    'USERNAME EQ "ADA@example.com"',
    'externalId eq "ext-1"',
    `${userSchema}:userName eq "ada@example.com"`,
  ]) {
    expect((await find(filter)).body).toMatchObject({ totalResults: 1, Resources: [{ id }] });
  }
  for (const filter of ['userName eq "admin@example.com"', 'externalId eq "EXT-1"', 'userName eq "\\u0000"']) {
    expect((await find(filter)).body).toMatchObject({ totalResults: 0, Resources: [] });
  }
  const { body: second } = await make("bob@example.com", "x".repeat(512));
  const pages = ["startIndex=1&count=1", "startIndex=2&count=1"].map(
    async (query) => (await ask("GET", `/Users?${query}`)).body,
  );
  const [first, next] = await Promise.all(pages);
  expect(first).toMatchObject({ totalResults: 2, startIndex: 1, itemsPerPage: 1 });
  expect([first.Resources[0].id, next.Resources[0].id].sort()).toEqual([id, second.id].sort());
  expect((await ask("GET", "/Users?startIndex=-3")).body).toMatchObject({ startIndex: 1, itemsPerPage: 2 });
  const beyond = await ask("GET", `/Users?startIndex=2&filter=${encodeURIComponent('externalId eq "ext-1"')}`);
  expect(beyond.body).toMatchObject({ totalResults: 1, Resources: [] });
  expect((await ask("GET", "/Users?count=0")).body).toMatchObject({ totalResults: 2, Resources: [] });
  for (const count of ["2147483647", "9".repeat(400)]) {
    expect((await ask("GET", `/Users?count=${count}`)).body).toMatchObject({ totalResults: 2, itemsPerPage: 2 });
    expect((await ask("GET", `/Users?startIndex=${count}`)).body).toMatchObject({ totalResults: 2, Resources: [] });
  }
  const replaced = await ask("PUT", `/Users/${id}`, {
    userName: "ada.l@example.com",
    externalId: null,
    active: "False",
  });
  expect(replaced.body).toMatchObject({ userName: "ada.l@example.com", externalId: "ext-1", active: false });
  expect((await remove(id)).status).toBe(204);
  expect((await make("ivy@example.com", "ext-3", { active: false })).body).toMatchObject({ active: false });
  for (const method of ["GET", "PUT", "PATCH", "DELETE"] as readonly Method[]) {
    const body = { userName: "a@example.com", Operations: [{ op: "add", path: "active", value: true }] };
    expect((await ask(method, `/Users/${id}`, method === "GET" || method === "DELETE" ? undefined : body)).status).toBe(
      404,
    );
  }
});

test.each<[string, readonly object[], object]>([
  ["Entra disables", [{ op: "Replace", path: "active", value: "False" }], { active: false }],
  ["Okta disables", [{ op: "replace", value: { active: false } }], { active: false }],
  ["op in any case", [{ op: "REPLACE", path: "ACTIVE", value: false }], { active: false }],
  ["the schema before a path", [{ op: "Replace", path: `${userSchema}:active`, value: "false" }], { active: false }],
  ["the schema before a key", [{ op: "Replace", value: { [`${userSchema}:active`]: false } }], { active: false }],
  ["the schema as a key", [{ op: "Add", value: { [userSchema]: { active: "FALSE" } } }], { active: false }],
  [
    "Entra changes several",
    [
      { op: "Add", path: 'emails[type eq "work"].value', value: "x@example.com" },
      { op: "Replace", path: "name.givenName", value: "Ada" },
      { op: "Add", path: "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department", value: "IT" },
      { op: "Replace", path: "userName", value: "ada.l@example.com" },
    ],
    { userName: "ada.l@example.com", active: true },
  ],
  ["an external id is removed", [{ op: "Remove", path: "externalId" }], { externalId: undefined }],
  [
    "the last one wins",
    [
      { op: "add", path: "active", value: false },
      { op: "add", path: "active", value: true },
    ],
    { active: true },
  ],
])("PATCH: %s", async (_what, operations, expected) => {
  const { make, patch } = await startScimApp();
  const { id } = (await make("ada@example.com", "ext-1")).body;
  const answer = await patch(id, ...operations);
  expect(answer.status).toBe(200);
  for (const [name, value] of Object.entries(expected)) expect(answer.body[name]).toBe(value);
});

test.each<[string, string, unknown]>([
  ["an unknown op", "invalidSyntax", { op: "move", path: "active", value: true }],
  ["an object for a text", "invalidValue", { op: "replace", path: "userName", value: { formatted: "x" } }],
  ["a number for a text", "invalidValue", { op: "replace", path: "externalId", value: 5 }],
  ["a list for a boolean", "invalidValue", { op: "replace", path: "active", value: [false] }],
  ["no value", "invalidValue", { op: "replace", path: "active" }],
  ["neither path nor object", "invalidValue", { op: "replace", value: "x" }],
  ["remove without a path", "noTarget", { op: "remove" }],
  ["remove of a required attribute", "mutability", { op: "remove", path: "userName" }],
  ["remove of what says whether the user is active", "mutability", { op: "remove", path: "active" }],
  ["an object as path", "invalidPath", { op: "replace", path: {}, value: "x" }],
  ["a part of a text", "invalidPath", { op: "replace", path: "active.value", value: false }],
  ["no object", "invalidSyntax", "active"],
])("PATCH refuses %s", async (_what, scimError, operation) => {
  const { ask, make } = await startScimApp();
  const { id } = (await make("ada@example.com", "ext-1")).body;
  const answer = await ask("PATCH", `/Users/${id}`, { Operations: [operation] });
  expect(answer.body).toMatchObject({ status: "400", scimType: scimError });
  expect((await ask("GET", `/Users/${id}`)).body).toMatchObject({ userName: "ada@example.com", active: true });
});

test("a list has at most 200 users", async () => {
  const { app, ask } = await startScimApp();
  const { scim } = app.app.domain.accounts;
  const user = (at: number) => ({ userName: `user${at}@example.com`, externalId: null, active: true });
  await Promise.all(Array.from({ length: 201 }, (_, at) => scim.create(user(at), "192.0.2.1")));
  expect((await ask("GET", "/Users?count=201")).body).toMatchObject({ totalResults: 201, itemsPerPage: 200 });
});

test("two processes that make one user at the same time make one account", async () => {
  const { make, find } = await startScimApp();
  const answers = await Promise.all(Array.from({ length: 8 }, (_, at) => make(`ada${at % 2}@example.com`, "ext-1")));
  expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(7).fill(409)]);
  expect((await find('externalId eq "ext-1"')).body.totalResults).toBe(1);
});

import { Validator } from "@seriousme/openapi-schema-validator";
import { expect, test } from "vitest";
import { apiReference } from "../api-reference.ts";
import { openApiDocument } from "./openapi.ts";

test("the description is valid OpenAPI 3.1 and refers only to what it has", async () => {
  const document = openApiDocument();
  const validator = new Validator();
  const result = await validator.validate(JSON.parse(JSON.stringify(document)));
  expect(result).toMatchObject({ valid: true });
  expect(validator.version).toBe("3.1");
  const references = JSON.stringify(document).match(/#\/components\/schemas\/\w+/g) ?? [];
  for (const reference of references)
    expect(Object.keys(document.components.schemas)).toContain(reference.split("/").at(-1));
});

test("every parameter in a path is described", () => {
  for (const [path, methods] of Object.entries(openApiDocument().paths)) {
    const named = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]);
    for (const { parameters } of Object.values(methods)) {
      expect(parameters.filter((parameter) => parameter.in === "path").map((parameter) => parameter.name)).toEqual(
        named,
      );
    }
  }
});

test("the reader's reference has every endpoint with its fields", () => {
  const { endpoints } = apiReference({ requestsEnabled: true }).v2;
  expect(endpoints.map(({ method, path }) => `${method} ${path}`)).toEqual([
    "GET /api/v2/version",
    "GET /api/sealpush",
    "GET /api/sealpush/policy",
    "GET /api/sealpush/presets",
    "POST /api/v2/pushes",
    "GET /api/v2/pushes/active",
    "GET /api/v2/pushes/expired",
    "GET /api/v2/pushes/{url_token}",
    "PATCH /api/sealpush/pushes/{url_token}",
    "DELETE /api/v2/pushes/{url_token}",
    "GET /api/v2/pushes/{url_token}/preview",
    "GET /api/v2/pushes/{url_token}/audit",
    "POST /api/v2/pushes/{url_token}/notify_emails",
    "POST /api/sealpush/requests",
    "GET /api/sealpush/requests",
    "GET /api/sealpush/requests/{url_token}",
    "POST /api/sealpush/requests/{url_token}",
    "GET /api/sealpush/requests/{url_token}/answers",
    "POST /api/sealpush/requests/{url_token}/close",
    "DELETE /api/sealpush/requests/{url_token}",
  ]);
  const create = endpoints.find(({ id }) => id === "createPush");
  expect(create?.fields.map(({ name }) => name)).toContain("expire_after_duration");
  expect(create?.token).toBe("optional");
  expect(create?.answers[0]?.keys).toContain("html_url");
});

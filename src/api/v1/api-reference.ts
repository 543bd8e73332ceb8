import type { ApiReference } from "../../http/api-reference.ts";
import { describeEndpoint } from "../v2/api-reference.ts";
import { operations } from "./operations.ts";

/** API v1 for a reader, from the operations that are registered and the schemas that validate. */
export function v1ApiReference(): ApiReference {
  return {
    title: "Sealpush API v1",
    description:
      "The older API, for clients that speak it. What is new should speak API v2. Every answer is JSON, whatever " +
      "Accept says, and has an X-Request-Id.",
    endpoints: operations.map((operation) => describeEndpoint(operation, operation.wrapper, operation.alsoAt)),
  };
}

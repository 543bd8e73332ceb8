import { getSystemErrorMessage } from "node:util";

/** Why the operating system has refused, in words; undefined: it is no error of it. MySQL's numbers are positive. */
export function systemReason(error: unknown): string | undefined {
  const number: unknown = Reflect.get(Object(error), "errno");
  return typeof number === "number" && number < 0 ? getSystemErrorMessage(number) : undefined;
}

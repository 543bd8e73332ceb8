import type { FastifyRequest } from "fastify";
import type { BodyBudget } from "./body/body-budget.ts";
import { isMultipart, receiveForm } from "./body/receive-body.ts";

/**
 * @returns the hook before a state-changing page's handler: where a form token is owed, it reads the form and checks it,
 * so that a handler that looks at no form is protected as well; `receiveForm` then gives the handler what was read.
 * @param formInParts the handler reads forms with files itself, by `receiveBody`, which checks before the first file.
 */
export function formTokenHook(formInParts: boolean, bodyBudget: BodyBudget) {
  return async (request: FastifyRequest): Promise<void> => {
    if (!request.owesFormToken || (formInParts && isMultipart(request))) return;
    request.formRead = await receiveForm(request, bodyBudget);
  };
}

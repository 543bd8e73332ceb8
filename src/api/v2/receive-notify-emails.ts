import type { FastifyRequest } from "fastify";
import type { BodyBudget } from "../../http/body/body-budget.ts";
import { receiveBody, refuseFiles } from "../../http/body/receive-body.ts";
import { NotifyEmailsRequest, refuseProblems } from "../../http/push-fields.ts";
import { fieldsReader } from "../../http/read-fields.ts";
import type { LinkDeliveryRequest } from "../../pushes/pushes.ts";

const reader = fieldsReader(NotifyEmailsRequest);

/**
 * To whom a link shall be mailed, from JSON or a form; some clients wrap the fields as they do those of a new push.
 * @throws AppError as `receiveBody` does, and invalid_fields.
 */
export async function receiveNotifyEmails(
  request: FastifyRequest,
  { bodyBudget }: { readonly bodyBudget: BodyBudget },
): Promise<LinkDeliveryRequest> {
  const { value } = await receiveBody(request, bodyBudget, refuseFiles);
  const problems = new Map<string, string>();
  const given = reader.read(fieldsOf(value), problems);
  refuseProblems(problems);
  const { notify_emails_to: notifyEmailsTo = "", notify_emails_to_locale: notifyEmailsToLocale = "" } = given;
  return { notifyEmailsTo, notifyEmailsToLocale };
}

function fieldsOf(body: unknown): object {
  if (!isObject(body)) return {};
  const push: unknown = Object.hasOwn(body, "push") ? Reflect.get(body, "push") : undefined;
  return isObject(push) ? push : body;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

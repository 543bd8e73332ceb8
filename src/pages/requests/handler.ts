import type { FastifyReply } from "fastify";
import { AppError, type FieldProblems } from "../../base/errors.ts";
import { type FormFields, textOf } from "../../http/body/form-fields.ts";
import { pageMax } from "../../http/parameters.ts";
import { readCreateRequest } from "../../http/request-fields.ts";
import { daysDefaultOf, daysMaxOf, type NewRequest, requestLimits, requestsPerPage } from "../../requests/requests.ts";
import type { SignedInRequest } from "../request.ts";
import { answersPath, newRequestPath, requestsPath } from "./paths.ts";
import { answersView, newRequestView, type RequestField, type RequestForm, requestsView } from "./view.tsx";

const emptyForm = {
  title: "",
  note: "",
  wantsText: true,
  wantsFiles: false,
  answersMax: "1",
};

/** `GET /requests` */
export async function showRequests(page: SignedInRequest): Promise<FastifyReply> {
  const asked = Number(page.query("page") ?? "1");
  const number = Number.isInteger(asked) && asked >= 1 && asked <= pageMax ? asked : 1;
  const requests = await page.services.requests.list(page.actor, number);
  const hasMore = requests.length === requestsPerPage && number < pageMax;
  const selfPath = number === 1 ? requestsPath : `${requestsPath}?page=${number}`;
  return page.render(requestsView, { requests, number, hasMore }, { selfPath });
}

/** `GET /requests/new` */
export async function showNewRequest(page: SignedInRequest): Promise<FastifyReply> {
  const expireAfterDays = String(daysDefaultOf(page.services.config));
  return renderForm(page, { ...emptyForm, expireAfterDays, problems: {}, refusal: null }, 200);
}

/** `POST /requests`: the browser has made the key and keeps it in the address that this answer leads to. */
export async function createRequest(page: SignedInRequest): Promise<FastifyReply> {
  const fields = await page.form();
  const { messages } = page;
  try {
    const made = await page.services.requests.create(readNewRequest(fields), page.actor);
    return page.redirect(answersPath(made.urlToken));
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const form = formOf(fields);
    if (error.code === "too_many_requests") {
      page.waitAfter(error);
      return renderForm(page, { ...form, problems: {}, refusal: messages.requests.tooMany }, 429);
    }
    if (error.code !== "invalid_fields") throw error;
    const problems = describeProblems(page, error.fields ?? {}, form);
    // The script sends the fields that are not in the form.
    const refusal = Object.keys(problems).length === 0 ? messages.requests.needsScript : null;
    return renderForm(page, { ...form, problems, refusal }, 422);
  }
}

/** `GET /requests/:token/answers` */
export async function showAnswers(page: SignedInRequest): Promise<FastifyReply> {
  const { urlToken } = page;
  if (urlToken === undefined) return page.notFound();
  const found = await page.services.requests.findOwned(urlToken, page.actor);
  const link = `${page.pushBaseUrl}${requestsPath}/${urlToken}`;
  return page.render(answersView, { ...found, link }, { selfPath: answersPath(urlToken) });
}

/** `POST /requests/:token/close` */
export async function closeRequest(page: SignedInRequest): Promise<FastifyReply> {
  const { urlToken } = page;
  if (urlToken === undefined) return page.notFound();
  await page.services.requests.close(urlToken, page.actor);
  return page.redirect(requestsPath);
}

/** `POST /requests/:token/delete` */
export async function deleteRequest(page: SignedInRequest): Promise<FastifyReply> {
  const { urlToken } = page;
  if (urlToken === undefined) return page.notFound();
  await page.services.requests.delete(urlToken, page.actor);
  return page.redirect(requestsPath);
}

/** @throws AppError invalid_fields. */
function readNewRequest(fields: FormFields): NewRequest {
  const named = Object.fromEntries(Object.keys(fields).map((name) => [name, textOf(fields, name)]));
  return readCreateRequest({ ...named, note: textOf(fields, "note").replaceAll("\r\n", "\n") });
}

function formOf(fields: FormFields) {
  return {
    title: textOf(fields, "title"),
    note: textOf(fields, "note"),
    wantsText: textOf(fields, "wants_text") === "1",
    wantsFiles: textOf(fields, "wants_files") === "1",
    answersMax: textOf(fields, "answers_max"),
    expireAfterDays: textOf(fields, "expire_after_days"),
  };
}

function describeProblems(
  page: SignedInRequest,
  found: FieldProblems,
  { title }: Pick<RequestForm, "title">,
): Partial<Record<RequestField, string>> {
  const { problems, requests } = page.messages;
  const { titleCharactersMax, noteCharactersMax, answersMax } = requestLimits;
  const daysMax = daysMaxOf(page.services.config);
  const texts: Record<RequestField, string> = {
    title:
      title.trim() === ""
        ? problems.payload({ max: titleCharactersMax })
        : problems.tooLong({ max: titleCharactersMax }),
    note: problems.tooLong({ max: noteCharactersMax }),
    wantsText: requests.wantsNothing,
    wantsFiles: problems.kind,
    answersMax: problems.range({ min: 1, max: answersMax }),
    expireAfterDays: problems.range({ min: 1, max: daysMax }),
  };
  return Object.fromEntries(Object.entries(texts).filter(([name]) => found[name] !== undefined));
}

function renderForm(page: SignedInRequest, form: RequestForm, status: number): FastifyReply {
  const { config } = page.services;
  const model = { form, daysMax: daysMaxOf(config), takesFiles: config.kinds.file.enabled };
  return page.render(newRequestView, model, {
    status,
    selfPath: page.isGet ? newRequestPath : null,
    keepsTyped: page.isGet,
  });
}

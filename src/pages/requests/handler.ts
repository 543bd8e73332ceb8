import type { FastifyReply } from "fastify";
import { AppError, type FieldProblems } from "../../base/errors.ts";
import { signInPath } from "../../http/authentication.ts";
import { type FormFields, textOf } from "../../http/body/form-fields.ts";
import { pageMax } from "../../http/parameters.ts";
import { readCreateRequest } from "../../http/request-fields.ts";
import { createTokenCookies, type TokenCookies } from "../../http/session-cookie.ts";
import { daysDefaultOf, daysMaxOf, type NewRequest, requestLimits, requestsPerPage } from "../../requests/requests.ts";
import type { PageRequest, SignedInRequest } from "../request.ts";
import { type FormDeclaration, type FormState, takeForm, untouched } from "../take-form.ts";
import { answersView } from "./answers-view.tsx";
import { answersPath, newRequestPath, requestsPath } from "./paths.ts";
import { deletedView, proofView } from "./proof.tsx";
import { newRequestView, type RequestField, type RequestForm, requestsView } from "./view.tsx";

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
export async function showNewRequest(page: PageRequest): Promise<FastifyReply> {
  const expireAfterDays = String(daysDefaultOf(page.services.config));
  return renderForm(page, { ...emptyForm, expireAfterDays }, untouched);
}

interface SentRequest {
  readonly form: RequestForm;
  readonly fields: FormFields;
}

const requestForm: FormDeclaration<PageRequest, SentRequest, RequestField> = {
  read: (fields) => ({ form: formOf(fields), fields }),
  show: (page, { form }, state) => renderForm(page, form, state),
  waitText: ({ user, messages: { requests } }) => (user === null ? requests.tooManyAnonymous : requests.tooMany),
  describe(page, { form }, found) {
    const { requests, rules } = page.messages;
    const problems = describeProblems(page, found, form);
    // The script sends the fields that are not in the form.
    const refusal = Object.keys(problems).length === 0 ? requests.needsScript : null;
    return { problems, refusal: found.request === undefined ? refusal : rules.requests };
  },
};

/** `POST /requests`: the browser has made the key and keeps it in the address that this answer leads to. */
export function createRequest(page: PageRequest): Promise<FastifyReply> {
  return takeForm(page, requestForm, async ({ fields }) => {
    // The form was shown to somebody with an account, who expects to find the request there.
    if (page.user === null && fields.owner_proof === undefined) {
      throw new AppError("not_authenticated", "This session has ended.");
    }
    const wanted = readNewRequest(fields);
    const made = await page.services.requests.create(wanted, page.actor);
    if (made.isAnonymous) rememberProof(page, wanted.ownerProof);
    return page.redirect(answersPath(made.urlToken));
  });
}

/** `GET /requests/:token/answers` */
export async function showAnswers(page: PageRequest): Promise<FastifyReply> {
  const { urlToken, user } = page;
  if (urlToken === undefined) return page.notFound();
  const { requests } = page.services;
  const selfPath = answersPath(urlToken);
  const proof = proofOf(page);
  const asked = await requests.find(urlToken);
  if (user === null && asked?.isAnonymous === false) {
    return page.redirect(`${signInPath}?${new URLSearchParams({ next: selfPath })}`);
  }
  if ((user === null || asked?.isAnonymous === true) && !(await requests.isProven(urlToken, proof))) {
    const isRefused = asked === undefined;
    return page.render(proofView, { urlToken, isRefused }, { status: isRefused ? 404 : 200 });
  }
  const found = await requests.findOwned(urlToken, page.actor, proof);
  const link = `${page.pushBaseUrl}${requestsPath}/${urlToken}#${found.request.fingerprint}`;
  return page.render(answersView, { ...found, link }, { selfPath });
}

/** `POST /requests/:token/answers`: the script has derived the proof from the private link. */
export async function proveOwner(page: PageRequest): Promise<FastifyReply> {
  const { urlToken } = page;
  if (urlToken === undefined) return page.notFound();
  const proof = textOf(await page.form(), "owner_proof");
  if (!(await page.services.requests.isProven(urlToken, proof))) {
    return page.render(proofView, { urlToken, isRefused: true }, { status: 404 });
  }
  rememberProof(page, proof);
  return page.redirect(answersPath(urlToken));
}

/** `POST /requests/:token/close` */
export async function closeRequest(page: PageRequest): Promise<FastifyReply> {
  const { urlToken } = page;
  if (urlToken === undefined) return page.notFound();
  const { isAnonymous } = await page.services.requests.close(urlToken, page.actor, proofOf(page));
  return page.redirect(isAnonymous ? answersPath(urlToken) : requestsPath);
}

/** `POST /requests/:token/delete` */
export async function deleteRequest(page: PageRequest): Promise<FastifyReply> {
  const { urlToken } = page;
  if (urlToken === undefined) return page.notFound();
  const { isAnonymous } = await page.services.requests.delete(urlToken, page.actor, proofOf(page));
  if (!isAnonymous) return page.redirect(requestsPath);
  page.setCookie(proofCookies(page).ended(page.request.client));
  return page.renderPlain(deletedView);
}

/**
 * The proof of the request that this browser has opened last with its private link, so that its pages can be loaded again.
 * Removed when the browser closes. It opens no answer.
 */
function proofCookies({ services }: PageRequest): TokenCookies {
  return createTokenCookies(services.config.secureCookies, { name: "sealpush_request_proof", sameSite: "Strict" });
}

function proofOf(page: PageRequest): string {
  return proofCookies(page).find(page.request.raw, page.request.client) ?? "";
}

function rememberProof(page: PageRequest, proof: string): void {
  page.setCookie(proofCookies(page).made(proof, page.request.client));
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
  page: PageRequest,
  found: FieldProblems,
  { title, wantsText }: Pick<RequestForm, "title" | "wantsText">,
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
    wantsText: wantsText ? problems.kind : requests.wantsNothing,
    wantsFiles: problems.kind,
    answersMax: problems.range({ min: 1, max: answersMax }),
    expireAfterDays: problems.range({ min: 1, max: daysMax }),
  };
  return Object.fromEntries(Object.entries(texts).filter(([name]) => found[name] !== undefined));
}

async function renderForm(page: PageRequest, form: RequestForm, state: FormState<RequestField>): Promise<FastifyReply> {
  const { config } = page.services;
  const isAnonymous = page.user === null;
  const { kinds, requests } = await page.services.policies.of(page.actor.user);
  const takesFiles = kinds.includes("file") && (!isAnonymous || config.files.allowAnonymous);
  const takesText = kinds.includes("text");
  const isAllowed = requests && (takesText || takesFiles);
  const shown = isAllowed ? state : { ...state, refusal: page.messages.rules.requests };
  const model = { form, state: shown, daysMax: daysMaxOf(config), takesText, takesFiles, isAnonymous };
  return page.renderForm(newRequestView, model, { status: state.status, path: newRequestPath, keepsTyped: true });
}

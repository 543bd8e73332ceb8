import { signInPath } from "../../http/authentication.ts";
import { textOf } from "../../http/body/form-fields.ts";
import { pageMax } from "../../http/parameters.ts";
import { requestsPerPage } from "../../requests/requests.ts";
import type { PageRequest, Reply, SignedInRequest } from "../request.ts";
import { answersView } from "./answers-view.tsx";
import { proofCookies, proofOf, rememberProof } from "./owner-proof.ts";
import { answersPath, requestsPath } from "./paths.ts";
import { deletedView, proofView } from "./proof.tsx";
import { requestsView } from "./view.tsx";

/** `GET /requests` */
export async function showRequests(page: SignedInRequest): Promise<Reply> {
  const asked = Number(page.query("page") ?? "1");
  const number = Number.isInteger(asked) && asked >= 1 && asked <= pageMax ? asked : 1;
  const requests = await page.services.requests.list(page.actor, number);
  const hasMore = requests.length === requestsPerPage;
  const selfPath = number === 1 ? requestsPath : `${requestsPath}?page=${number}`;
  return page.render(requestsView, { requests, number, hasMore }, { selfPath });
}

/** `GET /requests/:token/answers` */
export async function showAnswers(page: PageRequest): Promise<Reply> {
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
export async function proveOwner(page: PageRequest): Promise<Reply> {
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
export async function closeRequest(page: PageRequest): Promise<Reply> {
  const { urlToken } = page;
  if (urlToken === undefined) return page.notFound();
  const { isAnonymous } = await page.services.requests.close(urlToken, page.actor, proofOf(page));
  return page.redirect(isAnonymous ? answersPath(urlToken) : requestsPath);
}

/** `POST /requests/:token/delete` */
export async function deleteRequest(page: PageRequest): Promise<Reply> {
  const { urlToken } = page;
  if (urlToken === undefined) return page.notFound();
  const { isAnonymous } = await page.services.requests.delete(urlToken, page.actor, proofOf(page));
  if (!isAnonymous) return page.redirect(requestsPath);
  page.setCookie(proofCookies(page).ended(page.request.client));
  return page.renderPlain(deletedView);
}

import type { FastifyReply } from "fastify";
import { type ApiToken, noOrigin, type ProtectedChange } from "../../accounts/accounts.ts";
import { textOf } from "../../http/body/form-fields.ts";
import { pageOf } from "../../http/parameters.ts";
import type { Group } from "../../policies/policies.ts";
import { ActivityList, type ActivityModel } from "../activity/list.tsx";
import { changeOf, proofOffered, refusedChange } from "../factors/changes.ts";
import { listPath } from "../lists/list.tsx";
import { type Page, type PageContext, pageHref } from "../page.ts";
import type { SignedInRequest } from "../request.ts";
import { type FormDeclaration, type FormState, refused, takeForm, untouched } from "../take-form.ts";
import { TokenFormCard } from "../tokens/form.tsx";
import { TokenList } from "../tokens/list.tsx";
import {
  describeProblems,
  emptyForm,
  limitsOf,
  pageNumberOf,
  readTokenForm,
  type TokenField,
  type TokenForm,
  type TokensModel,
} from "../tokens/model.ts";
import { MadeToken } from "../tokens/view.tsx";
import { AdminFrame, administratorOf, adminPaths, groupPath } from "./frame.tsx";

export const serviceTokensPath = (groupId: number) => `${groupPath(groupId)}/tokens`;
const servicePushesPath = (groupId: number) => `${groupPath(groupId)}/pushes`;

/** `GET /admin/groups/:id/tokens` */
export function showServiceTokens(page: SignedInRequest): Promise<FastifyReply> {
  return renderTokens(page, emptyForm, untouched);
}

interface SentToken {
  readonly form: TokenForm;
  readonly change: ProtectedChange;
}

const tokenForm: FormDeclaration<SignedInRequest, SentToken, TokenField> = {
  read: (fields, page) => ({ form: readTokenForm(fields), change: changeOf(page, fields) }),
  show: (page, { form }, state) => renderTokens(page, form, state),
  describe: (page, { form }, found) => describeProblems(found, form, page.messages),
};

/** `POST /admin/groups/:id/tokens`. A token gives access for good, so the administrator has to prove it. */
export function createServiceToken(page: SignedInRequest): Promise<FastifyReply> {
  return takeForm(page, tokenForm, async ({ form, change }) => {
    const { accounts } = page.services;
    const group = await groupOf(page);
    if (group === undefined) return page.notFound();
    const answer = await accounts.createServiceToken(change, {
      groupId: group.id,
      name: form.name,
      limits: limitsOf(form),
      together: accounts.adminEntry("made_service_token", subjectOf(form.name, group), administratorOf(page)),
    });
    if (answer.outcome === "unknown") return page.notFound();
    if (answer.outcome !== "made") {
      const { status, message } = refusedChange(page, answer);
      return refused({ proof: message }, { status });
    }
    const { token, apiToken } = answer;
    // Answer without a redirect: the token is not stored, so it can be shown only here.
    return await renderTokens(page, emptyForm, { ...untouched, status: 201 }, { name: apiToken.name, token });
  });
}

/** `POST /admin/groups/:id/tokens/revoke` */
export async function revokeServiceToken(page: SignedInRequest): Promise<FastifyReply> {
  const { accounts } = page.services;
  const tokenId = Number(textOf(await page.form(), "token"));
  const group = await groupOf(page);
  const account = group && (await accounts.findServiceAccount(group.id));
  if (group === undefined || account === undefined) return page.notFound();
  const by = administratorOf(page);
  await accounts.revokeToken(account.id, tokenId, noOrigin, (name) =>
    accounts.adminEntry("revoked_service_token", subjectOf(name, group), by),
  );
  return page.redirect(serviceTokensPath(group.id));
}

/** `GET /admin/groups/:id/pushes`: what the service tokens of the group have made. */
export async function showServicePushes(page: SignedInRequest): Promise<FastifyReply> {
  const { accounts, clock, pushes } = page.services;
  const group = await groupOf(page);
  if (group === undefined) return page.notFound();
  const number = pageOf(page.request);
  const account = await accounts.findServiceAccount(group.id);
  const asked = { state: "all", kind: null, text: "", order: "newest", page: number } as const;
  const found = account === undefined ? { pushes: [], hasMore: false } : await pushes.search(account.id, asked);
  const model = { group, ...found, page: number, nowMs: clock.now() };
  return page.render(servicePushesView, model, { selfPath: pushesPage(group.id, number) });
}

function pushesPage(groupId: number, number: number): string {
  return listPath(servicePushesPath(groupId), { page: number });
}

async function groupOf({ services, id }: SignedInRequest): Promise<Group | undefined> {
  return id === undefined ? undefined : await services.groups.find(id);
}

/** For the administrators' trail. */
function subjectOf(tokenName: string, { name }: Group): string {
  return `${tokenName} (${name})`;
}

async function renderTokens(
  page: SignedInRequest,
  form: TokenForm,
  state: FormState<TokenField>,
  made: TokensModel["made"] = null,
): Promise<FastifyReply> {
  const { accounts, clock } = page.services;
  const group = await groupOf(page);
  if (group === undefined) return page.notFound();
  const number = pageNumberOf(page.query("page"));
  const account = await accounts.findServiceAccount(group.id);
  const none: { tokens: readonly ApiToken[]; hasMore: boolean } = { tokens: [], hasMore: false };
  const listed = account === undefined ? none : await accounts.listTokenPage(account.id, number);
  const path = serviceTokensPath(group.id);
  const own = { group, path, isService: true, proof: await proofOffered(page) };
  const model: ServiceTokensModel = { ...own, form, state, made, ...listed, page: number, now: clock.now() };
  return page.renderForm(serviceTokensView, model, { status: state.status, path: listPath(path, { page: number }) });
}

interface ServiceTokensModel extends TokensModel {
  readonly group: Group;
}

export function serviceTokensView(model: ServiceTokensModel, page: PageContext): Page {
  const { id, name } = model.group;
  const { service } = page.messages.admin.groupsPage;
  return (
    <AdminFrame
      page={page}
      current="groups"
      lead={service.lead({ name })}
      scripts={["passkeys.js"]}
      asksFirstAt={model.path}
    >
      {model.made !== null && <MadeToken made={model.made} messages={page.messages} />}
      <TokenFormCard model={model} page={page} />
      <TokenList model={model} page={page} />
      <p>
        <a href={pageHref(page, servicePushesPath(id))}>{service.pushes({ name })}</a>
      </p>
      <BackToGroup group={model.group} page={page} />
    </AdminFrame>
  );
}

function BackToGroup({ group: { id }, page }: { readonly group: Group; readonly page: PageContext }) {
  return (
    <p>
      <a href={pageHref(page, groupPath(id))}>{page.messages.admin.groupsPage.service.back}</a>
    </p>
  );
}

interface ServicePushesModel extends ActivityModel {
  readonly group: Group;
}

export function servicePushesView(model: ServicePushesModel, page: PageContext): Page {
  const { group } = model;
  const { service } = page.messages.admin.groupsPage;
  const title = service.pushes({ name: group.name });
  return (
    <AdminFrame page={page} current="groups" lead={title}>
      <ActivityList
        caption={title}
        empty={service.noPushes}
        model={model}
        pathOf={(pushId) => `${adminPaths.pushes}/${pushId}`}
        pagePath={(number) => pushesPage(group.id, number)}
        page={page}
      />
      <BackToGroup group={group} page={page} />
    </AdminFrame>
  );
}

import { noOrigin } from "../../accounts/accounts.ts";
import { wholeNumberOf } from "../../http/body/form-fields.ts";
import { pageOf } from "../../http/parameters.ts";
import { combine, type Group } from "../../policies/policies.ts";
import { everyPush } from "../../pushes/pushes.ts";
import { ActivityList, type ActivityModel } from "../activity/list.tsx";
import { listPath } from "../lists/filters.tsx";
import { type Page, type PageContext, pageHref } from "../page.ts";
import { Notice } from "../parts/notice.tsx";
import type { Reply, SignedInRequest } from "../request.ts";
import { TokenFormCard } from "../tokens/form.tsx";
import { TokenList } from "../tokens/list.tsx";
import { limitsOf } from "../tokens/model.ts";
import type { TokensModel } from "../tokens/take-token.ts";
import { emptyTokenForm, type ShownForm, tokenFormHandler, tokensOf } from "../tokens/take-token.ts";
import { MadeToken } from "../tokens/tokens.tsx";
import { AdminFrame, adminPaths, entryOf, getGroup, groupPath } from "./frame.tsx";

export const serviceTokensPath = (groupId: number) => `${groupPath(groupId)}/tokens`;
const servicePushesPath = (groupId: number) => `${groupPath(groupId)}/pushes`;

/** `GET /admin/groups/:id/tokens` */
export function showServiceTokens(page: SignedInRequest): Promise<Reply> {
  return renderTokens(page, emptyTokenForm);
}

/** `POST /admin/groups/:id/tokens` */
export const createServiceToken = tokenFormHandler(renderTokens, async (page, { form, change }) => {
  const { accounts } = page.services;
  const group = await getGroup(page);
  return accounts.createServiceToken(change, {
    groupId: group.id,
    name: form.name,
    limits: limitsOf(form),
    together: entryOf(page, "made_service_token", subjectOf(form.name, group)),
  });
});

/** `POST /admin/groups/:id/tokens/revoke` */
export async function revokeServiceToken(page: SignedInRequest): Promise<Reply> {
  const { accounts } = page.services;
  const tokenId = wholeNumberOf(await page.form(), "token");
  const group = await getGroup(page);
  const account = (await accounts.findServiceAccount(group.id)) ?? page.notFound();
  await accounts.revokeToken(account.id, tokenId, noOrigin, (name) =>
    entryOf(page, "revoked_service_token", subjectOf(name, group)),
  );
  return page.redirect(serviceTokensPath(group.id));
}

/** `GET /admin/groups/:id/pushes`: what the service tokens of the group have made. */
export async function showServicePushes(page: SignedInRequest): Promise<Reply> {
  const { accounts, clock, pushes } = page.services;
  const group = await getGroup(page);
  const number = pageOf(page.request);
  const account = await accounts.findServiceAccount(group.id);
  const found =
    account === undefined ? { pushes: [], hasMore: false } : await pushes.search(account.id, everyPush(number));
  const model = { group, ...found, page: number, nowMs: clock.now() };
  return page.render(servicePushesView, model, {
    selfPath: listPath(servicePushesPath(group.id), { page: number }),
  });
}

/** For the administrators' trail. */
function subjectOf(tokenName: string, { name }: Group): string {
  return `${tokenName} (${name})`;
}

async function renderTokens(page: SignedInRequest, shown: ShownForm): Promise<Reply> {
  const group = await getGroup(page);
  const listed = await tokensOf(page, await page.services.accounts.findServiceAccount(group.id));
  const path = serviceTokensPath(group.id);
  const { policies } = page.services;
  const rules = combine(await policies.ofEverybody(), (await policies.read({ groupId: group.id })).policy);
  const createsNothing = rules.notifyOnViewRequired;
  const model: ServiceTokensModel = { group, path, createsNothing, isService: true, ...shown, ...listed };
  const selfPath = listPath(path, { page: listed.page });
  return page.renderForm(serviceTokensView, model, { status: shown.state.status, path: selfPath });
}

interface ServiceTokensModel extends TokensModel {
  readonly group: Group;
  /** The rules ask for a notification of every view, and a service account has no address. */
  readonly createsNothing: boolean;
}

export function serviceTokensView(model: ServiceTokensModel, page: PageContext): Page {
  const { id, name } = model.group;
  const { service } = page.messages.admin.groupsPage;
  return (
    <AdminFrame
      page={page}
      current="groups"
      group={{ id, name, current: "tokens" }}
      lead={service.lead}
      scripts={["passkeys.js"]}
      asksFirstAt={model.path}
    >
      {model.createsNothing && <Notice tone="warning" icon="alert" text={service.createsNothing} />}
      {model.made !== null && <MadeToken made={model.made} />}
      <TokenList model={model} />
      <p>
        <a href={pageHref(page, servicePushesPath(id))}>{service.pushes({ name })}</a>
      </p>
      <TokenFormCard model={model} />
    </AdminFrame>
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
    <AdminFrame page={page} current="groups" group={{ ...group, current: "tokens" }} lead={title}>
      <ActivityList
        caption={title}
        empty={service.noPushes}
        model={model}
        pathOf={(pushId) => `${adminPaths.pushes}/${pushId}`}
        path={servicePushesPath(group.id)}
      />
    </AdminFrame>
  );
}

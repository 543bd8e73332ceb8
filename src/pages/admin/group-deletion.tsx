import { tokenLimits } from "../../accounts/accounts.ts";
import { textOf } from "../../http/body/form-fields.ts";
import type { Group } from "../../policies/policies.ts";
import { type Page, type PageContext, untranslated } from "../page.ts";
import { ButtonLink, Submit } from "../parts/buttons.tsx";
import { Card } from "../parts/card.tsx";
import { PostForm } from "../parts/post-form.tsx";
import type { Reply, SignedInRequest } from "../request.ts";
import { AdminFrame, adminPaths, entryOf, getGroup, groupPath } from "./frame.tsx";

/** `POST /admin/groups/:id/delete`. The first form is answered with what the deletion ends, and whose rules get weaker. */
export async function deleteGroup(page: SignedInRequest): Promise<Reply> {
  const { groups, deleteGroup: remove } = page.services;
  const form = await page.form();
  const group = await getGroup(page);
  const model = { group, weakened: await groups.findWeakenedBy(group.id), service: await serviceOf(page, group) };
  if (textOf(form, "confirmed") !== deletionMark(model)) return page.render(deletionView, model);
  await remove(group.id, entryOf(page, "deleted_group", group.name));
  return page.redirect(adminPaths.groups);
}

async function serviceOf({ services }: SignedInRequest, group: Group): Promise<DeletionModel["service"]> {
  const { accounts, pushes } = services;
  const account = await accounts.findServiceAccount(group.id);
  if (account === undefined) return { tokens: 0, pushes: 0 };
  return {
    tokens: await accounts.countTokensInUse(account.id),
    pushes: await pushes.countLive(account.id, tokenLimits.inUseMax),
  };
}

/** A deletion confirms only what the page has said. The number of active pushes changes all the time. */
function deletionMark({ weakened, service }: DeletionModel): string {
  return `${weakened.length} ${service.tokens}`;
}

interface DeletionModel {
  readonly group: Group;
  /** The addresses of those whose rules get weaker. */
  readonly weakened: readonly string[];
  /** What ends with the service account: tokens in use, and active pushes, which are counted up to 1,000. */
  readonly service: { readonly tokens: number; readonly pushes: number };
}

/** The page says only the number of the others. */
const namedMax = 50;

export function deletionView(model: DeletionModel, page: PageContext): Page {
  const { group, weakened, service } = model;
  const { admin, edit } = page.messages;
  const text = admin.groupsPage;
  const path = groupPath(group.id);
  return (
    <AdminFrame page={page} current="groups" lead={admin.groupsLead} asksFirstAt={path}>
      <Card
        id="delete"
        heading={admin.actionOn.parts({ action: text.delete, name: <bdi translate={untranslated}>{group.name}</bdi> })}
      >
        <PostForm class="form form-narrow" action={`${path}/delete`}>
          <input type="hidden" name="confirmed" value={deletionMark(model)} />
          <p>{text.deleteText({ count: weakened.length })}</p>
          {weakened.length > 0 && (
            <ul>
              {weakened.slice(0, namedMax).map((email) => (
                <li key={email} dir="ltr" translate={untranslated}>
                  {email}
                </li>
              ))}
            </ul>
          )}
          {service.tokens + service.pushes > 0 && <p>{text.service.deleted(service)}</p>}
          <div class="page-actions">
            <Submit label={text.delete} look="danger" />
            <ButtonLink to={path} label={edit.cancel} />
          </div>
        </PostForm>
      </Card>
    </AdminFrame>
  );
}

import { pageOf } from "../../http/parameters.ts";
import type { AdminTrailPage } from "../../pushes/pushes.ts";
import { Trail } from "../audit/view.tsx";
import { listPath } from "../lists/filters.tsx";
import type { Page, PageContext } from "../page.ts";
import { Card } from "../parts/card.tsx";
import { Confirm } from "../parts/post-form.tsx";
import type { Reply, SignedInRequest } from "../request.ts";
import { AdminFrame, administratorOf, adminPaths, entryOf } from "./frame.tsx";
import { filterOf, ownersOf, PushFacts } from "./pushes.tsx";

/** `GET /admin/pushes/:id`: the facts and the audit trail of a push. That an administrator read it is recorded. */
export async function showPush(page: SignedInRequest): Promise<Reply> {
  const { accounts, pushes } = page.services;
  const { id } = page;
  const number = pageOf(page.request);
  const trail = (await pushes.adminTrail(id, page.actor, number)) ?? page.notFound();
  await accounts.recordAccess("read_trail", String(id), administratorOf(page));
  return page.render(pushView, await pushModel(page, trail, number), { selfPath: pathOf(id, number) });
}

type PushModel = Awaited<ReturnType<typeof pushModel>>;

async function pushModel(page: SignedInRequest, trail: AdminTrailPage, number: number) {
  return {
    ...trail,
    page: number,
    /** Email addresses by user id. */
    owners: await ownersOf([trail.push], page),
    nowMs: page.services.clock.now(),
  };
}

/** `POST /admin/pushes/:id/delete` */
export async function deletePush(page: SignedInRequest): Promise<Reply> {
  // Read the form first: one that is refused must not delete the push.
  await page.form();
  const entry = entryOf(page, "deleted_push", String(page.id));
  const isDeleted = await page.services.pushes.removeAsAdministrator(page.id, page.actor, entry);
  return isDeleted ? page.redirect(adminPaths.pushes) : page.notFound();
}

function pathOf(id: number, page: number): string {
  return listPath(`${adminPaths.pushes}/${id}`, { page });
}

export function pushView(model: PushModel, page: PageContext): Page {
  const { admin, dashboard } = page.messages;
  const { push } = model;
  const name = admin.pushName({ id: String(push.id) });
  return (
    <AdminFrame page={page} current="pushes" heading={name} lead={admin.pushLead}>
      <PushFacts push={push} model={{ ...model, filter: filterOf(() => undefined) }} />
      <Card id="push_trail" heading={dashboard.auditTitle}>
        <Trail model={model} none={admin.noEvents} byOwner={admin.byOwner} path={(number) => pathOf(push.id, number)} />
      </Card>
      <Confirm
        icon="trash"
        label={admin.deletePush}
        accessibleLabel={admin.actionOn({ action: admin.deletePush, name })}
        explanation={admin.deletePushText}
        action={`${adminPaths.pushes}/${push.id}/delete`}
      />
    </AdminFrame>
  );
}

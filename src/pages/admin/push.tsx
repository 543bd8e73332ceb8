import { pageMax, pageOf } from "../../http/parameters.ts";
import type { AdminTrailPage } from "../../pushes/pushes.ts";
import { Timeline } from "../audit/view.tsx";
import type { Page, PageContext } from "../page.ts";
import { Card } from "../parts/card.tsx";
import { Pager } from "../parts/pager.tsx";
import { Confirm } from "../parts/post-form.tsx";
import type { Reply, SignedInRequest } from "../request.ts";
import { AdminFrame, administratorOf, adminPaths, entryOf } from "./frame.tsx";
import { filterOf, ownersOf, PushFacts } from "./pushes.tsx";

/** `GET /admin/pushes/:id`: the facts and the audit trail of a push. That an administrator read it is recorded. */
export async function showPush(page: SignedInRequest): Promise<Reply> {
  const { accounts, pushes, clock } = page.services;
  const { id } = page;
  const number = pageOf(page.request);
  const trail = (await pushes.adminTrail(id, page.actor, number)) ?? page.notFound();
  await accounts.recordAccess("read_trail", String(id), administratorOf(page));
  const model: PushModel = {
    ...trail,
    page: number,
    hasMore: trail.hasMore && number < pageMax,
    owners: await ownersOf([trail.push], page),
    nowMs: clock.now(),
  };
  return page.render(pushView, model, { selfPath: pathOf(trail.push.id, number) });
}

/** `POST /admin/pushes/:id/delete` */
export async function deletePush(page: SignedInRequest): Promise<Reply> {
  // Read the form first: one that is refused must not delete the push.
  await page.form();
  const entry = entryOf(page, "deleted_push", String(page.id));
  const isDeleted = await page.services.pushes.removeAsAdministrator(page.id, page.actor, entry);
  return isDeleted ? page.redirect(adminPaths.pushes) : page.notFound();
}

interface PushModel extends AdminTrailPage {
  readonly page: number;
  /** Email addresses by user id. */
  readonly owners: ReadonlyMap<number, string>;
  readonly nowMs: number;
}

function pathOf(id: number, number: number): string {
  return `${adminPaths.pushes}/${id}${number === 1 ? "" : `?page=${number}`}`;
}

export function pushView(model: PushModel, page: PageContext): Page {
  const { admin, dashboard } = page.messages;
  const { push, events, nowMs } = model;
  const name = admin.pushName({ id: String(push.id) });
  return (
    <AdminFrame page={page} current="pushes" heading={name} lead={admin.pushLead}>
      <PushFacts push={push} model={{ ...model, filter: filterOf(() => undefined) }} />
      <Card id="push_trail" heading={dashboard.auditTitle}>
        {events.length === 0 ? (
          <p>{admin.noEvents}</p>
        ) : (
          <Timeline events={events} nowMs={nowMs} byOwner={admin.byOwner} />
        )}
        <Pager number={model.page} hasMore={model.hasMore} path={(number) => pathOf(push.id, number)} />
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

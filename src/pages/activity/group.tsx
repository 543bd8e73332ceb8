import { pageOf } from "../../http/parameters.ts";
import { type Group, type GroupMember, membersPerPage } from "../../policies/policies.ts";
import { everyPush, type ListedPush, type OthersTrailPage } from "../../pushes/pushes.ts";
import { Trail } from "../audit/view.tsx";
import { dashboardPath } from "../dashboard/filter.ts";
import { shownName } from "../dashboard/push-parts.tsx";
import { Layout } from "../layout.tsx";
import { listPath } from "../lists/filters.tsx";
import { Facts, List } from "../lists/list.tsx";
import { pushColumns } from "../lists/push-columns.tsx";
import { type Page, type PageContext, pageHref, untranslated } from "../page.ts";
import { Card, PageHeading } from "../parts/card.tsx";
import type { Reply, SignedInRequest } from "../request.ts";
import { ActivityList, type ActivityModel } from "./list.tsx";
import { groupActivityPath, memberPath, memberPushPath } from "./paths.ts";

/** In UTF-16 code units, of a part of an address. */
const searchTextMax = 255;

/** The group of the path, if it shows its members' activity to the reader. Nothing is remembered between two requests. @throws AppError not_found. */
async function getGroup(page: SignedInRequest): Promise<Group> {
  return (await page.services.groups.findSharing(page.user.id)).find(({ id }) => id === page.id) ?? page.notFound();
}

/** The group and the member of the path. Service accounts are members that no page shows. @throws AppError not_found. */
async function getMember(page: SignedInRequest): Promise<MemberOfGroup> {
  const { accounts, groups } = page.services;
  const group = await getGroup(page);
  const { id: userId, email } = (await accounts.findUser(page.idIn("member"))) ?? page.notFound();
  const isMember = (await groups.findSharing(userId)).some(({ id }) => id === group.id);
  return isMember ? { group, userId, email } : page.notFound();
}

interface MemberOfGroup {
  readonly group: Pick<Group, "id" | "name">;
  readonly userId: number;
  readonly email: string;
}

/** `GET /groups/:id`: the members of a group that shows their activity. */
export async function showGroup(page: SignedInRequest): Promise<Reply> {
  const model = await groupActivityModel(page, await getGroup(page));
  const { group, text: q, page: number } = model;
  return page.render(groupActivityView, model, {
    selfPath: listPath(groupActivityPath(group.id), { q, page: number }),
  });
}

async function groupActivityModel(page: SignedInRequest, group: Pick<Group, "id" | "name">) {
  /** A part of the address; "": all members. */
  const text = (page.query("q") ?? "").trim().slice(0, searchTextMax);
  const number = pageOf(page.request);
  return { group, text, page: number, found: await page.services.groups.searchMembers(group.id, text, number) };
}

export function groupActivityView(model: Awaited<ReturnType<typeof groupActivityModel>>, page: PageContext): Page {
  const { admin, dashboard } = page.messages;
  const { id, name } = model.group;
  return (
    <Layout page={page} title={dashboard.activity({ name })} width="wide">
      <PageHeading
        heading={dashboard.activity({ name })}
        lead={dashboard.activityLead({ name })}
        back={<a href={pageHref(page, dashboardPath)}>{dashboard.back}</a>}
      />
      <List<GroupMember>
        caption={admin.groupsPage.members}
        rows={model.found}
        columns={[
          {
            label: admin.email,
            long: true,
            value: ({ userId, email }) => (
              <a href={pageHref(page, memberPath(id, userId))} dir="ltr" translate={untranslated}>
                {email}
              </a>
            ),
          },
        ]}
        empty={<p>{admin.groupsPage.noMembers}</p>}
        at={{ path: groupActivityPath(id), query: { q: model.text } }}
        search={{
          submit: admin.search,
          filters: [{ name: "q", label: admin.searchUsers, hint: admin.email, value: model.text }],
        }}
        paging={{ number: model.page, hasMore: model.found.length === membersPerPage, newestFirst: false }}
      />
    </Layout>
  );
}

/** `GET /groups/:id/members/:member`: the pushes of a member. */
export async function showMember(page: SignedInRequest): Promise<Reply> {
  const { clock, pushes } = page.services;
  const member = await getMember(page);
  const number = pageOf(page.request);
  const found = await pushes.search(member.userId, everyPush(number));
  const model = { member, ...found, page: number, nowMs: clock.now() };
  return page.render(memberView, model, {
    selfPath: listPath(memberPath(member.group.id, member.userId), { page: number }),
  });
}

export function memberView(model: ActivityModel & { readonly member: MemberOfGroup }, page: PageContext): Page {
  const { admin, dashboard } = page.messages;
  const { group, userId, email } = model.member;
  const title = dashboard.pushesOf({ email });
  return (
    <Layout page={page} title={title} width="wide">
      <PageHeading
        heading={title}
        lead={dashboard.activityLead(group)}
        back={<a href={pageHref(page, groupActivityPath(group.id))}>{dashboard.activity(group)}</a>}
      />
      <ActivityList
        caption={title}
        empty={admin.groupsPage.service.noPushes}
        model={model}
        pathOf={(pushId) => memberPushPath(group.id, userId, pushId)}
        path={memberPath(group.id, userId)}
      />
    </Layout>
  );
}

/** `GET /groups/:id/members/:member/pushes/:push`: the trail of a member's push. */
export async function showMembersPush(page: SignedInRequest): Promise<Reply> {
  const { clock, pushes } = page.services;
  const member = await getMember(page);
  const number = pageOf(page.request);
  const trail = (await pushes.trailOfOwner(page.idIn("push"), member.userId, number)) ?? page.notFound();
  const model = { member, ...trail, page: number, nowMs: clock.now() };
  return page.render(membersPushView, model, { selfPath: trailPage(model, number) });
}

interface MembersPushModel extends OthersTrailPage {
  readonly member: MemberOfGroup;
  /** From 1. */
  readonly page: number;
  readonly nowMs: number;
}

function trailPage({ member, push }: Pick<MembersPushModel, "member" | "push">, page: number): string {
  return listPath(memberPushPath(member.group.id, member.userId, push.id), { page });
}

/** As the list: no link, note, file name or recipient. */
export function membersPushView(model: MembersPushModel, page: PageContext): Page {
  const { messages } = page;
  const { admin, dashboard } = messages;
  const { member, push } = model;
  const columns = pushColumns(page, "administrator");
  return (
    <Layout page={page} title={dashboard.auditTitle} width="regular">
      <PageHeading
        heading={dashboard.auditTitle}
        lead={dashboard.trailOf(member)}
        back={<a href={pageHref(page, memberPath(member.group.id, member.userId))}>{dashboard.pushesOf(member)}</a>}
      />
      <Card id="about" heading={<bdi translate={untranslated}>{shownName(push, messages)}</bdi>} class="about-push">
        <Facts<ListedPush>
          nowMs={model.nowMs}
          row={push}
          columns={[columns.kind, columns.state, columns.views, columns.made, columns.end]}
        />
      </Card>
      <div class="card">
        <Trail
          model={model}
          none={dashboard.noEvents}
          byOwner={admin.byOwner}
          path={(number) => trailPage(model, number)}
        />
      </div>
    </Layout>
  );
}

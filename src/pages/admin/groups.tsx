import { isVisibleLine } from "../../base/one-line.ts";
import { type FormFields, textOf, wholeNumberOf } from "../../http/body/form-fields.ts";
import { pageOf } from "../../http/parameters.ts";
import {
  claimMax,
  everybodyElse,
  type Group,
  type GroupMember,
  type GroupSummary,
  groupNameMax,
  membersPerPage,
} from "../../policies/policies.ts";
import { listPath } from "../lists/filters.tsx";
import { type Column, List } from "../lists/list.tsx";
import { type Page, type PageContext, type PartProps, pageHref, untranslated, useMessages, usePage } from "../page.ts";
import { FormEnd, Submit } from "../parts/buttons.tsx";
import { Card } from "../parts/card.tsx";
import { EmailAddress } from "../parts/email-address.tsx";
import { Checkbox, TextField } from "../parts/fields.tsx";
import { FormNotices } from "../parts/form-messages.tsx";
import { Confirm, PostButton, PostForm } from "../parts/post-form.tsx";
import type { Reply, SignedInRequest } from "../request.ts";
import { type FormDeclaration, type FormState, formHandler, refused, untouched } from "../take-form.ts";
import { AdminFrame, adminPaths, entryOf, getGroup, groupPath, otherRulesPath } from "./frame.tsx";
import { groupRulesPath } from "./rules.tsx";
import { emailCharactersMax, userPath } from "./user.tsx";

/** `GET /admin/groups` */
export function showGroups(page: SignedInRequest): Promise<Reply> {
  return renderGroups(page, emptyGroup, untouched);
}

/** `POST /admin/groups` */
export const createGroup = formHandler({ read: readGroup, show: renderGroups }, async (page, typed) => {
  const { groups } = page.services;
  const { taken, tooMany } = page.messages.admin.groupsPage;
  const refusal = problemOf(typed, page);
  if (refusal !== undefined) return refused({}, { refusal });
  const made = await groups.create(storedFrom(typed), entryOf(page, "created_group", describe(typed)));
  return typeof made === "string"
    ? refused({}, { refusal: made === "taken" ? taken : tooMany })
    : page.redirect(groupPath(made.id));
});

/** `GET /admin/groups/:id` */
export function showGroup(page: SignedInRequest): Promise<Reply> {
  return renderGroup(page, {}, untouched);
}

const groupForm: FormDeclaration<SignedInRequest, TypedGroup, never> = {
  read: readGroup,
  show: (page, typed, state) => renderGroup(page, { typed }, state),
};

/** `POST /admin/groups/:id` */
export const changeGroup = formHandler(groupForm, async (page, typed) => {
  const { id } = page;
  const refusal = problemOf(typed, page);
  if (refusal !== undefined) return refused({}, { refusal });
  const outcome = await page.services.groups.change({ id, ...storedFrom(typed) }, (before) =>
    entryOf(page, "changed_group", `${describe(before)} → ${describe(typed)}`),
  );
  if (outcome === "unknown") return page.notFound();
  if (outcome === "taken") return refused({}, { refusal: page.messages.admin.groupsPage.taken });
  return page.redirect(groupPath(id));
});

const membersForm: FormDeclaration<SignedInRequest, string, never> = {
  read: (fields) => textOf(fields, "members"),
  show: (page, members, state) => renderGroup(page, { members }, state),
};

/** `POST /admin/groups/:id/members`: several addresses at once. Nobody is added if one of them is unknown. */
export const addMembers = formHandler(membersForm, async (page, typed) => {
  const { groups, accounts } = page.services;
  const { tooManyAdded, unknownMembers } = page.messages.admin.groupsPage;
  const group = await getGroup(page);
  const addresses = [...new Set(typed.split(/[\s,;]+/).filter((address) => address !== ""))];
  if (addresses.length > addedMax) return refused({}, { refusal: tooManyAdded });
  const found = await Promise.all(addresses.map((address) => accounts.findUserByEmail(address)));
  const unknown = addresses.filter((_, at) => found[at] === undefined);
  if (unknown.length > 0 || addresses.length === 0) {
    return refused({}, { refusal: unknownMembers({ addresses: unknown.join(", ") || "-" }) });
  }
  for (const user of found) {
    if (user === undefined) continue;
    const entry = entryOf(page, "added_member", memberSubject(group, user.email));
    await groups.setMember({ userId: user.id, groupId: group.id, isMember: true }, entry);
  }
  return page.redirect(groupPath(group.id));
});

/** `POST /admin/groups/:id/members/remove` */
export async function removeMember(page: SignedInRequest): Promise<Reply> {
  const { groups, accounts } = page.services;
  const userId = wholeNumberOf(await page.form(), "user");
  const group = await getGroup(page);
  const { email } = (await accounts.findUser(userId)) ?? page.notFound();
  const entry = entryOf(page, "removed_member", memberSubject(group, email));
  await groups.setMember({ userId, groupId: group.id, isMember: false }, entry);
  return page.redirect(groupPath(group.id));
}

const addedMax = 100;

interface TypedGroup {
  readonly name: string;
  /** "": none. */
  readonly claim: string;
  readonly sharesActivity: boolean;
}

const emptyGroup: TypedGroup = { name: "", claim: "", sharesActivity: false };

function readGroup(form: FormFields): TypedGroup {
  // A claim is compared exactly, so nothing is removed from it.
  return {
    name: textOf(form, "name").trim().normalize("NFC"),
    claim: textOf(form, "claim"),
    sharesActivity: textOf(form, "sharesActivity") === "1",
  };
}

function storedFrom(typed: TypedGroup): Omit<Group, "id"> {
  return { ...typed, claim: typed.claim === "" ? null : typed.claim };
}

function problemOf({ name, claim }: TypedGroup, { messages }: SignedInRequest): string | undefined {
  const { groupsPage } = messages.admin;
  const isReserved = name.toLowerCase() === everybodyElse.toLowerCase();
  const isName = isVisibleLine(name) && [...name].length <= groupNameMax && !isReserved;
  const isClaim = claim === "" || (isVisibleLine(claim) && [...claim].length <= claimMax);
  return isName && isClaim ? undefined : groupsPage.badGroup({ max: groupNameMax });
}

/** For the administrators' trail. */
function describe({ name, claim, sharesActivity }: TypedGroup | Group): string {
  const shown = claim === "" || claim === null ? name : `${name} (${claim})`;
  return sharesActivity ? `${shown}, sharesActivity: true` : shown;
}

function memberSubject({ name }: Group, email: string): string {
  return `${email} (${name})`;
}

async function renderGroups(page: SignedInRequest, typed: TypedGroup, state: FormState): Promise<Reply> {
  const model = await groupsModel(page, typed, state);
  return page.renderForm(groupsView, model, { status: state.status, path: adminPaths.groups });
}

type GroupsModel = Awaited<ReturnType<typeof groupsModel>>;

async function groupsModel(page: SignedInRequest, typed: TypedGroup, state: FormState) {
  const { groups, config } = page.services;
  return {
    typed,
    state,
    groups: await groups.list(),
    usersInNoGroup: await groups.countUsersInNoGroup(),
    hasClaims: config.singleSignOn !== undefined,
  };
}

export function groupsView(model: GroupsModel, page: PageContext): Page {
  const { admin } = page.messages;
  const text = admin.groupsPage;
  const claims: Column<ListedGroup> = {
    label: text.claim,
    long: true,
    value: ({ claim }) => claim !== null && <bdi translate={untranslated}>{claim}</bdi>,
  };
  return (
    <AdminFrame page={page} current="groups" lead={admin.groupsLead} asksFirstAt={adminPaths.groups}>
      <FormNotices state={model.state} />
      <Confirm
        isOpen={model.state !== untouched}
        label={text.create}
        explanation={text.createText}
        confirm={text.create}
        action={adminPaths.groups}
        tone="plain"
      >
        <GroupFields typed={model.typed} hasClaims={model.hasClaims} />
      </Confirm>
      <List<ListedGroup>
        caption={admin.groups}
        rows={[...model.groups, { id: null, name: text.everybodyElse, claim: null, members: model.usersInNoGroup }]}
        columns={[
          {
            label: text.name,
            long: true,
            value: ({ id, name }) =>
              id === null ? (
                name
              ) : (
                <a href={pageHref(page, groupPath(id))} dir="auto" translate={untranslated}>
                  {name}
                </a>
              ),
          },
          ...(model.hasClaims ? [claims] : []),
          { label: text.members, value: ({ members }) => page.messages.formats.number(members) },
          {
            label: admin.rules,
            value: ({ id, name }) => (
              <a
                href={pageHref(page, id === null ? otherRulesPath : groupRulesPath(id))}
                aria-label={text.rulesOf({ name })}
              >
                {admin.rules}
              </a>
            ),
          },
        ]}
        empty={null}
      />
    </AdminFrame>
  );
}

/** The id of null: the users who are in no group. */
type ListedGroup = Pick<GroupSummary, "name" | "claim" | "members"> & { readonly id: number | null };

interface GroupFieldsProps {
  readonly typed: TypedGroup;
  /** False: this server has no single sign-on. */
  readonly hasClaims: boolean;
}

function GroupFields({ typed, hasClaims }: GroupFieldsProps) {
  const text = useMessages().admin.groupsPage;
  return (
    <>
      <TextField id="name" label={text.name} value={typed.name} required />
      {hasClaims || typed.claim !== "" ? (
        <TextField id="claim" label={text.claim} hint={text.claimHint} value={typed.claim} />
      ) : null}
      <Checkbox
        id="sharesActivity"
        label={text.sharesActivity}
        hint={text.sharesActivityHint}
        checked={typed.sharesActivity}
      />
    </>
  );
}

/** undefined: nothing was typed there. */
interface TypedInGroup {
  readonly typed?: TypedGroup;
  /** The addresses of new members. */
  readonly members?: string;
}

async function renderGroup(page: SignedInRequest, typed: TypedInGroup, state: FormState): Promise<Reply> {
  const model = await groupModel(page, typed, state);
  const { group, text, page: number } = model;
  const path = listPath(groupPath(group.id), { q: text, page: number });
  return page.renderForm(groupView, model, { status: state.status, path });
}

type GroupModel = Awaited<ReturnType<typeof groupModel>>;

async function groupModel(page: SignedInRequest, typed: TypedInGroup, state: FormState) {
  const { groups, config } = page.services;
  const group = await getGroup(page);
  const text = (page.query("q") ?? "").trim().slice(0, emailCharactersMax);
  const number = pageOf(page.request);
  return {
    ...{ ...typed, state, group, text, page: number },
    hasClaims: config.singleSignOn !== undefined,
    memberCount: await groups.countMembers(group.id),
    found: await groups.searchMembers(group.id, text, number),
  };
}

export function groupView(model: GroupModel, page: PageContext): Page {
  const { group } = model;
  const { admin } = page.messages;
  const text = admin.groupsPage;
  const path = groupPath(group.id);
  const typed = model.typed ?? { ...group, claim: group.claim ?? "" };
  return (
    <AdminFrame
      page={page}
      current="groups"
      group={{ ...group, current: "members" }}
      lead={text.groupLead({ count: model.memberCount })}
      asksFirstAt={path}
    >
      <FormNotices state={model.state} />
      <MemberList model={model} />
      <Card id="group_settings" heading={admin.settings}>
        <PostForm class="form form-narrow" action={path} autoComplete="off">
          <GroupFields typed={typed} hasClaims={model.hasClaims} />
          <FormEnd label={admin.save} />
        </PostForm>
      </Card>
      <PostButton action={`${path}/delete`} label={text.delete} look="quiet-danger" />
    </AdminFrame>
  );
}

function MemberList({ model }: PartProps<GroupModel>) {
  const page = usePage();
  const { group } = model;
  const { admin } = page.messages;
  const text = admin.groupsPage;
  return (
    <List<GroupMember>
      caption={text.members}
      rows={model.found}
      columns={[
        {
          label: admin.email,
          value: ({ userId, email }) => (
            <a href={pageHref(page, userPath(userId))} dir="ltr" translate={untranslated}>
              <EmailAddress email={email} />
            </a>
          ),
          long: true,
        },
        {
          label: text.memberBy,
          value: ({ byHand, byClaim }) =>
            [...(byHand ? [text.byHand] : []), ...(byClaim ? [text.byClaim] : [])].join(", "),
        },
      ]}
      actions={(member) =>
        member.byHand && (
          <PostForm class="row-actions" action={`${groupPath(group.id)}/members/remove`}>
            <input type="hidden" name="user" value={String(member.userId)} />
            <Submit
              label={text.remove}
              look="action-danger"
              aria-label={admin.actionOn({ action: text.remove, name: member.email })}
            />
          </PostForm>
        )
      }
      empty={<p>{text.noMembers}</p>}
      at={{ path: groupPath(group.id), query: { q: model.text } }}
      {...(model.memberCount > 0 && {
        search: {
          submit: admin.search,
          filters: [{ name: "q", label: admin.searchUsers, hint: admin.email, value: model.text }],
        },
      })}
      paging={{ number: model.page, hasMore: model.found.length === membersPerPage, newestFirst: false }}
    >
      <Confirm
        isOpen={model.members !== undefined}
        label={text.addMembers}
        explanation={text.addMembersText}
        confirm={text.addMembers}
        action={`${groupPath(group.id)}/members`}
        tone="plain"
      >
        <TextField id="members" label={text.addresses} value={model.members ?? ""} required />
      </Confirm>
    </List>
  );
}

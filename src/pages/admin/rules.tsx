import { type KindName, kindNames } from "../../base/push-kinds.ts";
import { readDomains, ruleBounds } from "../../config/topics/policies.ts";
import { type FormFields, textOf, wholeNumberOf } from "../../http/body/form-fields.ts";
import type { Messages } from "../../i18n/i18n.ts";
import {
  activeRules,
  allowedKinds,
  combine,
  describeChange,
  noRules,
  type Policy,
  type PolicyScope,
  type RuleName,
  ruleNames,
} from "../../policies/policies.ts";
import { type Page, type PageContext, type PartProps, useMessages, usePage } from "../page.ts";
import { FormEnd } from "../parts/buttons.tsx";
import { Checkbox, NumberField, TextField } from "../parts/fields.tsx";
import { FormNotices } from "../parts/form-messages.tsx";
import { Notice } from "../parts/notice.tsx";
import { PostForm } from "../parts/post-form.tsx";
import type { Reply, SignedInRequest } from "../request.ts";
import { type FormDeclaration, type FormState, formHandler, refused, untouched } from "../take-form.ts";
import { AdminFrame, adminPaths, entryOf, getGroup, groupPath, otherRulesPath } from "./frame.tsx";

/** Whose rules a form shows. */
interface RulesTarget {
  readonly scope: PolicyScope;
  readonly path: string;
  /** null: everybody's. */
  readonly group: { readonly name: string } | null;
  /** How many people with an account they apply to. */
  readonly people: number;
}

type NumberRuleName = "passphraseMinLength" | "maxMinutes" | "maxViews";

interface RulesModel {
  readonly target: RulesTarget;
  readonly rules: Policy;
  /** What was typed and is no number. */
  readonly notNumbers: Partial<Record<NumberRuleName, string>>;
  /** What holds besides: the rules of the settings, for a group those of the instance too. */
  readonly outer: Policy;
  /** The revision of the rules from which the form was made. */
  readonly revision: number;
  /** The rules that somebody else saved while the form was open; undefined: nobody did. */
  readonly savedMeanwhile: Policy | undefined;
  readonly state: FormState<RuleName>;
  /** What becomes impossible, and where the rules do not hold: the form is sent once more to confirm it. */
  readonly warnings: readonly string[];
  readonly isSaved: boolean;
  /** Somebody has changed the stored rules in the database. */
  readonly isForged: boolean;
}

export function groupRulesPath(groupId: number): string {
  return `${groupPath(groupId)}/rules`;
}

type GetTarget = (page: SignedInRequest) => Promise<RulesTarget>;

export const instanceRules: GetTarget = async ({ services }) => {
  const { total: people } = await services.accounts.countUsers();
  return { scope: "instance", path: adminPaths.rules, group: null, people };
};

export const rulesOfEverybodyElse: GetTarget = async ({ services, messages }) => {
  const { everybodyElse: name } = messages.admin.groupsPage;
  const people = await services.groups.countUsersInNoGroup();
  return { scope: "everybody else", path: otherRulesPath, group: { name }, people };
};

export const groupRules: GetTarget = async (page) => {
  const { id, name } = await getGroup(page);
  const people = await page.services.groups.countMembers(id);
  return { scope: { groupId: id }, path: groupRulesPath(id), group: { name }, people };
};

/** `GET /admin/rules`, `/admin/groups/:id/rules`, `/admin/groups/else/rules` */
export function showRules(getTarget: GetTarget) {
  return async (page: SignedInRequest): Promise<Reply> => {
    const target = await getTarget(page);
    const { policy: rules, ...stored } = await page.services.policies.read(target.scope);
    return renderRules(page, target, { rules, ...stored, isSaved: page.query("done") === "saved" });
  };
}

interface TypedRules extends Pick<RulesModel, "rules" | "notNumbers" | "revision"> {
  readonly problems: FormState<RuleName>["problems"];
  /** The warnings that were shown. */
  readonly confirmed: string;
}

/** `POST` of the same. */
export function saveRules(getTarget: GetTarget) {
  const form: FormDeclaration<SignedInRequest, TypedRules, RuleName> = {
    read: (fields, page) => ({
      ...readRules(fields, page.messages),
      revision: wholeNumberOf(fields, "revision"),
      confirmed: textOf(fields, "confirmed"),
    }),
    show: async (page, { rules, notNumbers, revision }, state) =>
      renderRules(page, await getTarget(page), { rules, notNumbers, revision, state }),
  };
  return formHandler(form, async (page, { rules, problems, revision, confirmed }) => {
    const { policies } = page.services;
    const target = await getTarget(page);
    const { scope, path, group } = target;
    if (Object.keys(problems).length > 0) return refused(problems);
    const stored = await policies.read(scope);
    if (stored.revision !== revision) return showBoth(page, target, rules);
    const change = describeChange(stored.policy, rules);
    if (change === "" && !stored.isForged) return page.redirect(`${path}?done=saved`);
    const warnings = await warningsOf(page, target, rules, await outerOf(page, scope));
    if (warnings.length > 0 && confirmed !== warningMark(warnings)) {
      return renderRules(page, target, { rules, revision, warnings, state: { ...untouched, status: 422 } });
    }
    const subject = group === null ? change : `${group.name}: ${change}`;
    const entry = entryOf(page, "changed_rules", subject);
    if (await policies.save(scope, { policy: rules, revision }, entry)) return page.redirect(`${path}?done=saved`);
    return showBoth(page, await getTarget(page), rules);
  });
}

/** Somebody else was quicker: the form with what was typed, beside what is stored. */
async function showBoth(page: SignedInRequest, target: RulesTarget, rules: Policy): Promise<Reply> {
  const stored = await page.services.policies.read(target.scope);
  const state = { ...untouched, status: 409 };
  return renderRules(page, target, { rules, revision: stored.revision, savedMeanwhile: stored.policy, state });
}

async function outerOf({ services: { policies } }: SignedInRequest, scope: PolicyScope): Promise<Policy> {
  return scope === "instance" ? policies.ofSettings : await policies.ofEverybody();
}

function readRules(form: FormFields, messages: Messages) {
  const problems: Partial<Record<RuleName, string>> = {};
  const notNumbers: Partial<Record<NumberRuleName, string>> = {};
  const isOn = (name: RuleName) => textOf(form, name) === "1";
  const numberIn = (name: NumberRuleName) => {
    const typed = textOf(form, name).trim();
    if (typed === "") return null;
    const { min, max } = ruleBounds[name];
    const isNumber = /^\d{1,9}$/.test(typed);
    const value = isNumber ? Number(typed) : null;
    if (!isNumber) notNumbers[name] = typed;
    if (value === null || value < min || value > max) problems[name] = messages.problems.range({ min, max });
    return value;
  };
  const typedDomains = textOf(form, "mailDomains").trim();
  const mailDomains = typedDomains === "" ? null : readDomains(typedDomains);
  if (mailDomains === undefined) problems.mailDomains = messages.problems.field;
  const rules: Policy = {
    passphraseRequired: isOn("passphraseRequired"),
    passphraseMinLength: numberIn("passphraseMinLength") ?? 0,
    passphraseCommonAllowed: !isOn("passphraseCommonAllowed"),
    maxMinutes: numberIn("maxMinutes"),
    maxViews: numberIn("maxViews"),
    kinds: kindNames.filter((kind) => textOf(form, `kind_${kind}`) === "1"),
    encryptionRequired: isOn("encryptionRequired"),
    notifyOnViewRequired: isOn("notifyOnViewRequired"),
    requests: isOn("requests"),
    mailDomains: mailDomains ?? (typedDomains === "" ? null : [typedDomains]),
  };
  return { rules, notNumbers, problems };
}

/** The tokens in use of the groups that these rules are for. */
async function countServiceTokens({ services }: SignedInRequest, scope: PolicyScope): Promise<number> {
  const { accounts, groups } = services;
  if (scope === "everybody else") return 0;
  const groupIds = scope === "instance" ? (await groups.list()).map(({ id }) => id) : [scope.groupId];
  let tokens = 0;
  for (const groupId of groupIds) {
    const account = await accounts.findServiceAccount(groupId);
    if (account !== undefined) tokens += await accounts.countTokensInUse(account.id);
  }
  return tokens;
}

async function warningsOf(
  page: SignedInRequest,
  { scope, group }: RulesTarget,
  rules: Policy,
  outer: Policy,
): Promise<readonly string[]> {
  const { services, messages } = page;
  const { rulesPage, groupsPage } = messages.admin;
  const { allowAnonymous, mail } = services.config;
  const together = combine(outer, rules);
  const left = allowedKinds(together);
  const lost = allowedKinds(outer).filter((kind) => !left.includes(kind));
  const isNotifyImpossible = together.notifyOnViewRequired && mail === undefined;
  if (left.length === 0 || isNotifyImpossible) return [group === null ? rulesPage.nothing : groupsPage.nothing];
  const anonymousCreates = allowAnonymous && allowedKinds(outer).length > 0 && !outer.notifyOnViewRequired;
  const losesAnonymous = group === null && allowAnonymous && together.notifyOnViewRequired;
  const asksForNotices = together.notifyOnViewRequired && !outer.notifyOnViewRequired;
  // A service account has no address that a notification could go to.
  const stoppedTokens = asksForNotices ? await countServiceTokens(page, scope) : 0;
  const escaped = group !== null && anonymousCreates ? rulesThatDiffer(outer, together) : [];
  return [
    ...(lost.length > 0 ? [rulesPage.lostKinds({ kinds: kindsText(lost, messages) })] : []),
    ...(losesAnonymous ? [rulesPage.anonymous] : []),
    ...(stoppedTokens > 0 ? [groupsPage.service.stopped({ count: stoppedTokens })] : []),
    ...(escaped.length > 0
      ? [groupsPage.anonymous({ rules: escaped.map((name) => rulesPage.fields[name]).join("; ") })]
      : []),
  ];
}

function rulesThatDiffer(one: Policy, other: Policy): readonly RuleName[] {
  return ruleNames.filter((name) => describeChange(one, { ...one, [name]: other[name] }) !== "");
}

/** A form that was changed after a warning confirms only what it was warned of. */
function warningMark(warnings: readonly string[]): string {
  return warnings.join(" ");
}

function kindsText(kinds: readonly KindName[], { kinds: names }: Messages): string {
  return kinds.map((kind) => names[kind]).join(", ");
}

async function renderRules(
  page: SignedInRequest,
  target: RulesTarget,
  shown: Pick<RulesModel, "rules" | "revision"> & Partial<RulesModel>,
): Promise<Reply> {
  const model: RulesModel = {
    target,
    outer: await outerOf(page, target.scope),
    notNumbers: {},
    savedMeanwhile: undefined,
    state: untouched,
    warnings: [],
    isSaved: false,
    isForged: false,
    ...shown,
  };
  return page.renderForm(rulesView, model, { status: model.state.status, path: target.path });
}

function RulesNotices({ model }: PartProps<RulesModel>) {
  const text = useMessages().admin.rulesPage;
  const { savedMeanwhile, warnings, isSaved, isForged } = model;
  return (
    <>
      {isSaved && <Notice tone="success" icon="check" alert text={text.saved} />}
      {isForged && <Notice tone="danger" icon="alert" alert text={text.forged} />}
      <FormNotices state={model.state} />
      {savedMeanwhile !== undefined && <Notice tone="warning" icon="alert" alert text={text.conflict} />}
      {warnings.length > 0 && (
        <Notice tone="warning" icon="alert" alert>
          {[...warnings, text.confirm].map((warning) => (
            <p key={warning}>{warning}</p>
          ))}
        </Notice>
      )}
    </>
  );
}

export function rulesView(model: RulesModel, page: PageContext): Page {
  const { target, rules, revision, warnings } = model;
  const { admin } = page.messages;
  const text = admin.rulesPage;
  const { group, path, scope, people } = target;
  const lead = group === null ? admin.rulesLead({ people }) : admin.groupsPage.rulesLead({ people });
  const id = typeof scope === "object" ? scope.groupId : undefined;
  return (
    <AdminFrame
      page={page}
      current={group === null ? "rules" : "groups"}
      {...(group !== null && { group: { id, name: group.name, current: "rules" } })}
      lead={lead}
      asksFirstAt={path}
    >
      <RulesNotices model={model} />
      <section class="card">
        <PostForm class="form admin-rules" action={path} autoComplete="off">
          <input type="hidden" name="revision" value={String(revision)} />
          {warnings.length > 0 && <input type="hidden" name="confirmed" value={warningMark(warnings)} />}
          <Box name="passphraseRequired" isOn={rules.passphraseRequired} hint={text.endToEnd} model={model} />
          <Box name="passphraseCommonAllowed" isOn={!rules.passphraseCommonAllowed} model={model} />
          <Box name="encryptionRequired" isOn={rules.encryptionRequired} model={model} />
          <NumberRule name="passphraseMinLength" model={model} />
          <NumberRule name="maxMinutes" model={model} />
          <NumberRule name="maxViews" model={model} />
          <Box name="notifyOnViewRequired" isOn={rules.notifyOnViewRequired} model={model} />
          <Box name="requests" isOn={rules.requests} model={model} />
          <fieldset class="choices">
            <legend class="field-label">{text.fields.kinds}</legend>
            <p class="field-hint">{hintOf("kinds", model, page)}</p>
            {kindNames.map((kind) => (
              <Checkbox
                key={kind}
                id={`kind_${kind}`}
                label={page.messages.kinds[kind]}
                hint=""
                checked={rules.kinds.includes(kind)}
              />
            ))}
          </fieldset>
          <TextField
            id="mailDomains"
            label={text.fields.mailDomains}
            hint={`${text.empty} ${hintOf("mailDomains", model, page)}`.trim()}
            problem={model.state.problems.mailDomains}
            value={rules.mailDomains?.join(", ") ?? ""}
          />
          <FormEnd label={text.save} />
        </PostForm>
      </section>
    </AdminFrame>
  );
}

interface RuleProps {
  readonly name: RuleName;
  readonly model: RulesModel;
}

function Box({ name, isOn, hint = "", model }: RuleProps & { readonly isOn: boolean; readonly hint?: string }) {
  const page = usePage();
  const label = page.messages.admin.rulesPage.fields[name];
  const full = `${hint} ${hintOf(name, model, page)}`.trim();
  return <Checkbox id={name} label={label} hint={full} checked={isOn} />;
}

function NumberRule({ name, model }: RuleProps & { readonly name: NumberRuleName }) {
  const page = usePage();
  const { fields, empty } = page.messages.admin.rulesPage;
  const value = model.rules[name];
  return (
    <NumberField
      id={name}
      label={fields[name]}
      hint={`${empty} ${hintOf(name, model, page)}`.trim()}
      problem={model.state.problems[name]}
      value={model.notNumbers[name] ?? (value === noRules[name] ? "" : String(value))}
      range={ruleBounds[name]}
    />
  );
}

/** What is asked for already, and what somebody else saved meanwhile, where it differs. */
function hintOf(
  name: RuleName,
  { target, rules, outer, savedMeanwhile }: RulesModel,
  { messages }: PageContext,
): string {
  const { rulesPage, groupsPage } = messages.admin;
  const already = target.group === null ? rulesPage.bySettings : groupsPage.byInstance;
  const isSet = activeRules(outer).includes(name);
  const differs = savedMeanwhile !== undefined && rulesThatDiffer(rules, savedMeanwhile).includes(name);
  return [
    ...(isSet ? [already({ value: valueText(name, outer, messages) })] : []),
    ...(differs ? [rulesPage.savedMeanwhile({ value: valueText(name, savedMeanwhile, messages) })] : []),
  ].join(" ");
}

/** As the form shows the value: the box of common passphrases is on where they are refused. */
function valueText(name: RuleName, policy: Policy, messages: Messages): string {
  const { yes, no, empty } = messages.admin.rulesPage;
  if (name === "kinds") return kindsText(policy.kinds, messages) || "-";
  const value = policy[name];
  if (typeof value === "boolean") return value !== (name === "passphraseCommonAllowed") ? yes : no;
  return value === null ? empty : Array.isArray(value) ? value.join(", ") : String(value);
}

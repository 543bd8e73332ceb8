import type { FastifyReply } from "fastify";
import { type KindName, kindNames } from "../../base/push-kinds.ts";
import { readDomains, ruleBounds } from "../../config/topics/policies.ts";
import { type FormFields, textOf } from "../../http/body/form-fields.ts";
import type { Messages } from "../../i18n/i18n.ts";
import {
  activeRules,
  combine,
  describeChange,
  type InstancePolicy,
  noRules,
  type Policy,
  type RuleName,
} from "../../policies/policies.ts";
import type { Page, PageContext } from "../page.ts";
import { Checkbox, NumberField, TextField } from "../parts/fields.tsx";
import { Notice } from "../parts/notice.tsx";
import { PostForm } from "../parts/post-form.tsx";
import { allowedKinds } from "../push-form/form.ts";
import type { SignedInRequest } from "../request.ts";
import { AdminFrame, administratorOf, adminPaths } from "./frame.tsx";

interface RulesModel {
  readonly rules: Policy;
  /** What the settings ask for. */
  readonly settings: Policy;
  /** The revision of the rules from which the form was made. */
  readonly revision: number;
  /** The rules that somebody else saved while the form was open; undefined: nobody did. */
  readonly savedMeanwhile: Policy | undefined;
  readonly problems: Readonly<Partial<Record<RuleName, string>>>;
  /** What becomes impossible: the form is sent once more to confirm it. */
  readonly warnings: readonly string[];
  readonly isSaved: boolean;
}

/** `GET /admin/rules` */
export async function showRules(page: SignedInRequest): Promise<FastifyReply> {
  const { policy: rules, revision } = await page.services.policies.readInstance();
  return renderRules(page, 200, { rules, revision, isSaved: page.query("done") === "saved" });
}

/** `POST /admin/rules` */
export async function saveRules(page: SignedInRequest): Promise<FastifyReply> {
  const { policies, accounts } = page.services;
  const form = await page.form();
  const { rules, problems } = readRules(form, page.messages);
  const revision = Number(textOf(form, "revision"));
  if (Object.keys(problems).length > 0) return renderRules(page, 422, { rules, revision, problems });
  const stored = await policies.readInstance();
  if (stored.revision !== revision) return showBoth(page, rules, stored);
  const warnings = warningsOf(page, rules);
  const isConfirmed = textOf(form, "confirmed") === warningMark(warnings);
  if (warnings.length > 0 && !isConfirmed) return renderRules(page, 422, { rules, revision, warnings });
  const change = describeChange(stored.policy, rules);
  if (change === "") return page.redirect(`${adminPaths.rules}?done=saved`);
  const entry = accounts.adminEntry("changed_rules", change, administratorOf(page));
  if (!(await policies.saveInstance(rules, revision, entry))) {
    return showBoth(page, rules, await policies.readInstance());
  }
  return page.redirect(`${adminPaths.rules}?done=saved`);
}

/** Somebody else was quicker: the form with what was typed, beside what is stored. */
function showBoth(page: SignedInRequest, rules: Policy, stored: InstancePolicy): FastifyReply {
  return renderRules(page, 409, { rules, revision: stored.revision, savedMeanwhile: stored.policy });
}

function readRules(form: FormFields, messages: Messages) {
  const problems: Partial<Record<RuleName, string>> = {};
  const isOn = (name: RuleName) => textOf(form, name) === "1";
  const numberIn = (name: "passphraseMinLength" | "maxMinutes" | "maxViews") => {
    const typed = textOf(form, name).trim();
    if (typed === "") return null;
    const { min, max } = ruleBounds[name];
    const value = /^\d{1,9}$/.test(typed) ? Number(typed) : Number.NaN;
    if (!(value >= min && value <= max)) problems[name] = messages.problems.range({ min, max });
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
  return { rules, problems };
}

function warningsOf({ services, messages }: SignedInRequest, rules: Policy): readonly string[] {
  const { rulesPage } = messages.admin;
  const settings = services.policies.ofSettings;
  const together = combine(settings, rules);
  const left = allowedKinds(together);
  const lost = allowedKinds(settings).filter((kind) => !left.includes(kind));
  const isNotifyImpossible = together.notifyOnViewRequired && services.config.mail === undefined;
  if (left.length === 0 || isNotifyImpossible) return [rulesPage.nothing];
  const losesAnonymous = services.config.allowAnonymous && together.notifyOnViewRequired;
  return [
    ...(lost.length > 0 ? [rulesPage.lostKinds({ kinds: kindsText(lost, messages) })] : []),
    ...(losesAnonymous ? [rulesPage.anonymous] : []),
  ];
}

/** A form that was changed after a warning confirms only what it was warned of. */
function warningMark(warnings: readonly string[]): string {
  return warnings.join(" ");
}

function kindsText(kinds: readonly KindName[], { kinds: names }: Messages): string {
  return kinds.map((kind) => names[kind]).join(", ");
}

function renderRules(
  page: SignedInRequest,
  status: number,
  shown: Pick<RulesModel, "rules" | "revision"> & Partial<RulesModel>,
): FastifyReply {
  const model: RulesModel = {
    settings: page.services.policies.ofSettings,
    savedMeanwhile: undefined,
    problems: {},
    warnings: [],
    isSaved: false,
    ...shown,
  };
  return page.render(rulesView, model, {
    status,
    selfPath: page.isGet ? adminPaths.rules : null,
  });
}

export function rulesView(model: RulesModel, page: PageContext): Page {
  const { rules, revision, savedMeanwhile, warnings, isSaved } = model;
  const { admin } = page.messages;
  const text = admin.rulesPage;
  return (
    <AdminFrame page={page} current="rules" lead={admin.rulesLead} asksFirstAt={adminPaths.rules}>
      {isSaved && (
        <Notice tone="success" icon="check" alert>
          <p>{text.saved}</p>
        </Notice>
      )}
      {savedMeanwhile !== undefined && (
        <Notice tone="warning" icon="alert" alert>
          <p>{text.conflict}</p>
        </Notice>
      )}
      {warnings.length > 0 && (
        <Notice tone="warning" icon="alert" alert>
          {[...warnings, text.confirm].map((warning) => (
            <p key={warning}>{warning}</p>
          ))}
        </Notice>
      )}
      <section class="card">
        <PostForm page={page} class="form" action={adminPaths.rules} autoComplete="off">
          <input type="hidden" name="revision" value={String(revision)} />
          {warnings.length > 0 && <input type="hidden" name="confirmed" value={warningMark(warnings)} />}
          <Box name="passphraseRequired" isOn={rules.passphraseRequired} hint={text.endToEnd} {...{ model, page }} />
          <NumberRule name="passphraseMinLength" {...{ model, page }} />
          <Box name="passphraseCommonAllowed" isOn={!rules.passphraseCommonAllowed} {...{ model, page }} />
          <NumberRule name="maxMinutes" {...{ model, page }} />
          <NumberRule name="maxViews" {...{ model, page }} />
          <fieldset class="choices">
            <legend class="field-label">{text.fields.kinds}</legend>
            <p class="field-hint">{hintOf("kinds", model, page)}</p>
            {kindNames.map((kind) => (
              <Checkbox
                key={kind}
                id={`kind_${kind}`}
                name={`kind_${kind}`}
                label={page.messages.kinds[kind]}
                hint=""
                checked={rules.kinds.includes(kind)}
              />
            ))}
          </fieldset>
          <Box name="encryptionRequired" isOn={rules.encryptionRequired} {...{ model, page }} />
          <Box name="notifyOnViewRequired" isOn={rules.notifyOnViewRequired} {...{ model, page }} />
          <Box name="requests" isOn={rules.requests} {...{ model, page }} />
          <TextField
            id="mailDomains"
            label={text.fields.mailDomains}
            hint={`${text.empty} ${hintOf("mailDomains", model, page)}`.trim()}
            problem={model.problems.mailDomains}
            value={rules.mailDomains?.join(", ") ?? ""}
          />
          <div class="form-end">
            <button type="submit" class="button button-primary">
              {text.save}
            </button>
          </div>
        </PostForm>
      </section>
    </AdminFrame>
  );
}

interface RuleProps {
  readonly name: RuleName;
  readonly model: RulesModel;
  readonly page: PageContext;
}

function Box({ name, isOn, hint = "", model, page }: RuleProps & { readonly isOn: boolean; readonly hint?: string }) {
  const label = page.messages.admin.rulesPage.fields[name];
  const full = `${hint} ${hintOf(name, model, page)}`.trim();
  return <Checkbox id={name} name={name} label={label} hint={full} checked={isOn} />;
}

function NumberRule({
  name,
  model,
  page,
}: RuleProps & { readonly name: "passphraseMinLength" | "maxMinutes" | "maxViews" }) {
  const { fields, empty } = page.messages.admin.rulesPage;
  const value = model.rules[name];
  const isEmpty = value === noRules[name];
  return (
    <NumberField
      id={name}
      label={fields[name]}
      hint={`${empty} ${hintOf(name, model, page)}`.trim()}
      problem={model.problems[name]}
      value={isEmpty || Number.isNaN(value) ? "" : String(value)}
      range={ruleBounds[name]}
    />
  );
}

/** What the settings ask for, and what somebody else saved meanwhile, where it differs. */
function hintOf(name: RuleName, { rules, settings, savedMeanwhile }: RulesModel, { messages }: PageContext): string {
  const text = messages.admin.rulesPage;
  const isSet = activeRules(settings).includes(name);
  const differs =
    savedMeanwhile !== undefined && describeChange(rules, { ...rules, [name]: savedMeanwhile[name] }) !== "";
  return [
    ...(isSet ? [text.bySettings({ value: valueText(name, settings, messages) })] : []),
    ...(differs ? [text.savedMeanwhile({ value: valueText(name, savedMeanwhile, messages) })] : []),
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

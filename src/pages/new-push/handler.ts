import { type KindDefaults, noDefaults } from "../../accounts/accounts.ts";
import { minuteMs } from "../../base/clock.ts";
import { invalidFields } from "../../base/errors.ts";
import { isTimeZone, readInstant, readWallClock } from "../../base/instant.ts";
import { byKind, isSealable, type KindName } from "../../base/push-kinds.ts";
import type { KindSettings, Range } from "../../config/config.ts";
import { makeOpaqueToken } from "../../crypto/tokens.ts";
import { signInPath } from "../../http/authentication.ts";
import { textOf } from "../../http/body/form-fields.ts";
import { readCreatePush } from "../../http/push-fields.ts";
import { allowedKinds, type Policy, settingsUnder } from "../../policies/policies.ts";
import { asksForLinkDelivery, type CallerPreset, type CreatePush } from "../../pushes/pushes.ts";
import { linkPagePath } from "../created/handler.ts";
import { renderGone } from "../gone.tsx";
import { listPath } from "../lists/filters.tsx";
import { exactEnd, offeredTimes, offersDays } from "../push-form/controls.tsx";
import { describeProblems, type FieldName, filesTooLarge, ownersFields, valuesOf } from "../push-form/fields.tsx";
import {
  accountMark,
  enabledKinds,
  formLimits,
  offeredMails,
  type PushForm,
  readSentForm,
  receivePushForm,
  type SentFields,
  type SentForm,
  textIn,
} from "../push-form/form.ts";
import { byKindOption } from "../push-form/options.ts";
import { labelsOf, type OfferedPresets, presetValues } from "../push-form/presets.tsx";
import type { PageRequest, Reply, SignedInRequest } from "../request.ts";
import { withNext } from "../return-path.ts";
import { isOwn } from "../secret/model.ts";
import { type FormDeclaration, type FormState, isSessionProblem, refused, takeForm, untouched } from "../take-form.ts";
import { adoptOldCookies, rememberedSettings, rememberSettings } from "./remembered.ts";
import { type NewPushForm, newPushView } from "./view.tsx";

/** `GET /` and `GET /p/new` */
export async function showNewPush(page: PageRequest): Promise<Reply> {
  adoptOldCookies(page);
  const starting = await startingSettings(page);
  const { kind } = formFor(page.query("kind"), starting, page);
  const asked = page.query("preset");
  const query = { kind: kind === starting.firstKind ? null : kind, preset: asked ?? null };
  return renderUntouched(page, kind, starting, listPath("/", query));
}

/**
 * `POST /share`: the form with what another app shares with this one. The request cannot carry a form token, so it creates
 * and stores nothing.
 */
export async function showShared(page: PageRequest): Promise<Reply> {
  const shared = await page.form();
  const parts = ["title", "text", "url"].map((name) => textOf(shared, name)).filter((part) => part.trim() !== "");
  const starting = await startingSettings(page);
  const form = untouchedForm(page, formFor("text", starting, page).kind, starting);
  const payload = [...new Set(parts)].join("\n");
  return renderForm(page, { ...form, values: { ...form.values, payload } }, 200, { starting });
}

function renderUntouched(page: PageRequest, kind: KindName, starting: StartingSettings, selfPath: string): Reply {
  const form = untouchedForm(page, kind, starting);
  // A form that is sent back is not compressible: it repeats what was typed.
  return renderForm(page, form, 200, { starting, selfPath, keepsTyped: true, compressible: true });
}

function untouchedForm(page: PageRequest, kind: KindName, starting: StartingSettings): NewPushForm {
  const form = formFor(kind, starting, page);
  const others = otherForms(form, {}, starting, page);
  return { ...form, ...newForm(page), others, values: { ...valuesOf(form), ...shownValues(form, starting) } };
}

/**
 * `GET /p/:token/another`: the form with the kind, expiry, views and options of a push of the same user, ended or not. For
 * anybody else the page does not exist. Nothing of the secret, the passphrase or the labels is used.
 */
export async function showAnother(page: SignedInRequest): Promise<Reply> {
  const push = await page.findPush();
  if (push === undefined || !isOwn(push, page.actor)) return renderGone(page);
  const own = await startingSettings(page);
  const { kinds } = page.services.config;
  const settings = withDefaults(settingsUnder(own.policy, push.kind, kinds[push.kind]), push);
  const like = withExpiry(settings, own.policy, (push.expiresAt - push.createdAt) / minuteMs);
  // The push is the preset.
  const presets = { ...own.presets, shown: undefined };
  const starting = { ...own, presets, kinds: { ...own.kinds, [push.kind]: like } };
  return renderUntouched(page, push.kind, starting, `/p/${push.urlToken}/another`);
}

/** The settings are those at the start of the request, so that the form can be sent back while nothing can be read. */
function newPushForm(starting: StartingSettings): FormDeclaration<PageRequest, SentForm, FieldName> {
  const formOf = (page: PageRequest, sent: SentForm) => formForSent(sent, starting, page);
  const show = (page: PageRequest, sent: SentForm, state: FormState<FieldName>) =>
    renderForm(page, sentForm(sent, state, presetIn(sent, starting), page), state.status, {
      starting: presetIn(sent, starting),
    });
  return {
    read: readSentForm,
    async receive(page) {
      const received = await receivePushForm(page);
      return { ...received, sessionProblem: sessionProblemOf(received.typed, page) };
    },
    show,
    early(page, sent) {
      if (isClosedTo(page)) return page.redirect(signInPath);
      if (namesMissingPreset(sent, starting)) {
        return show(page, sent, { ...untouched, status: 422, refusal: page.messages.presets.missing });
      }
      const isShown = (["show_kind", "use_preset"] as const).some((name) => textIn(sent.fields, name) !== undefined);
      return isShown ? show(page, sent, untouched) : undefined;
    },
    signedOut: (page, { accountMark: mark }) =>
      mark === undefined ? page.redirect(withNext(signInPath, "/?kind=file")) : undefined,
    tooLarge: (page, sent) => filesTooLarge(formOf(page, sent), page.messages),
    describe(page, sent, found) {
      const { problems, rules } = page.messages;
      if (found.idempotencyKey !== undefined) return { reason: "form_used", refusal: problems.formUsed };
      return {
        problems: describeProblems(found, formOf(page, sent), page.messages),
        refusal: found.encryption === undefined ? null : rules.encryption,
      };
    },
  };
}

/** `POST /p` */
export async function createPush(page: PageRequest): Promise<Reply> {
  const starting = await startingSettings(page);
  return takeForm(page, newPushForm(starting), (sent) => createFrom(page, sent, starting));
}

async function createFrom(page: PageRequest, sent: SentForm, starting: StartingSettings) {
  const wanted = readNewPush(sent, starting);
  // The server seals in browsers by default, but this browser has not sealed, and nobody has agreed to that: its scripts do not
  // run, or it has no cryptography because the connection is not HTTPS. Rules that ask for sealing refuse it anyway.
  const sealsByDefault = page.services.config.sealedInBrowser && !starting.policy.encryptionRequired;
  const isUnsealed = isSealable(wanted.kind) && wanted.encryption === undefined;
  if (sealsByDefault && isUnsealed && textIn(sent.fields, "unsealed") !== "1") {
    return refused<FieldName>({}, { refusal: page.messages.endToEnd.unsealedRefused, reason: "unsealed" });
  }
  const push = await page.services.pushes.create(wanted, page.actor);
  await rememberChoices(page, sent, push.kind, wanted);
  return page.redirectAfterForm(linkPagePath(push.urlToken, { isMailed: asksForLinkDelivery(wanted) }));
}

async function rememberChoices(page: PageRequest, sent: SentForm, kind: KindName, wanted: CreatePush): Promise<void> {
  const { user, services } = page;
  if (user === null) {
    if (isRemembered(sent)) rememberSettings(page, kind, wanted);
  } else if (wanted.senderShown !== undefined) {
    await services.accounts.rememberSenderShown(user.id, wanted.senderShown);
  }
}

/** The route is open, so that a form comes back filled after its session has ended. */
function isClosedTo({ user, services }: PageRequest): boolean {
  return user === null && !services.config.allowAnonymous;
}

/** A push must not belong to another account than the form said, or to none. */
function sessionProblemOf({ accountMark: mark, withoutAccount }: SentForm, { user }: PageRequest) {
  if (mark === undefined || mark === accountMark(user)) return null;
  if (user !== null) return "other_account";
  return withoutAccount ? null : "signed_out";
}

/** The form of the kind that was asked for, else of that which was sent. */
function formForSent({ fields }: SentForm, starting: StartingSettings, page: PageRequest): PushForm {
  const ofPreset = textIn(fields, "use_preset") === undefined ? undefined : starting.presets.shown?.settings.kind;
  return formFor(textIn(fields, "show_kind") ?? ofPreset ?? textIn(fields, "kind"), starting, page);
}

/** What was sent. Without its session, the form keeps the account that it is for, and what only owners can set. */
function sentForm(
  sent: SentForm,
  state: FormState<FieldName>,
  starting: StartingSettings,
  page: PageRequest,
): NewPushForm {
  const form = formForSent(sent, starting, page);
  const { idempotencyKey, account } = newForm(page);
  return {
    ...form,
    others: otherForms(form, sent.fields, starting, page),
    state,
    problems: state.problems,
    filesLost: sent.hasFiles && !page.isSentByScript,
    values: {
      ...valuesOf(form, sent.fields),
      ...(textIn(sent.fields, "use_preset") !== undefined && shownValues(form, starting)),
    },
    remember: isRemembered(sent),
    account: account ?? (isSessionProblem(state.reason) ? (sent.accountMark ?? null) : null),
    hiddenFields: state.reason === "signed_out" ? ownersFields(sent.fields) : [],
    // Sent again after a failure, the form must not create another push.
    idempotencyKey:
      page.user === null || state.reason === "form_used" ? idempotencyKey : (sent.idempotencyKey ?? idempotencyKey),
  };
}

const newKey = ({ services }: PageRequest) => makeOpaqueToken(services.random);

function newForm(page: PageRequest) {
  return {
    problems: {},
    state: untouched,
    remember: false,
    account: accountMark(page.user),
    hiddenFields: [],
    idempotencyKey: page.user === null ? null : newKey(page),
  } as const;
}

/** The payload is in the form that is shown: the script carries it over. */
function otherForms({ kind: shown }: PushForm, sent: SentFields, starting: StartingSettings, page: PageRequest) {
  const { payload: _, ...fields } = sent;
  return allowedKinds(starting.policy)
    .filter((kind) => kind !== shown)
    .map((kind) => {
      const form = formFor(kind, starting, page);
      const ofPreset = Object.keys(fields).length === 0 ? shownValues(form, starting) : {};
      return { ...form, values: { ...valuesOf(form, fields), ...ofPreset }, problems: {} };
    });
}

/** What the preset that the form shows changes in the form of a kind. */
function shownValues(form: PushForm, { presets: { shown } }: StartingSettings) {
  return shown === undefined ? {} : presetValues(form, shown.settings);
}

/** With the preset that was chosen in the form, in place of the default. */
function presetIn({ fields }: SentForm, starting: StartingSettings): StartingSettings {
  const name = textIn(fields, "shown_preset");
  const { all } = starting.presets;
  return { ...starting, presets: { all, shown: all.find((preset) => preset.name === name) } };
}

/** The preset that shall be used was deleted or renamed while the form named it. */
function namesMissingPreset({ fields }: SentForm, { presets }: StartingSettings): boolean {
  const name = textIn(fields, "shown_preset") ?? "";
  return (
    textIn(fields, "use_preset") !== undefined && name !== "" && !presets.all.some((preset) => preset.name === name)
  );
}

const isRemembered = ({ fields }: SentForm) => textIn(fields, "remember") === "1";

/** What the form leaves out is as in the untouched form. @throws AppError as `readCreatePush`. */
function readNewPush(
  { fields, upload, withoutAccount, idempotencyKey }: SentForm,
  { firstKind, kinds }: StartingSettings,
) {
  const { notifyEmailsToLocale, ...given } = readCreatePush(
    withInstant(withoutAccount ? withoutOwnersFields(fields) : fields),
  ).request;
  const hasFiles = upload !== undefined && upload.fileCount > 0;
  const firstWithoutFiles = firstKind === "file" ? "text" : firstKind;
  const kind = given.kind ?? (hasFiles ? "file" : firstWithoutFiles);
  const { days, views } = kinds[kind];
  return {
    // Without days to choose, the server's default follows the rules.
    ...(given.expireAfterMs === undefined &&
      offersDays({ settings: kinds[kind] }) && { expireAfterDays: days.default }),
    expireAfterViews: views.default,
    ...byKindOption((option) => kinds[kind][option].default),
    ...given,
    // The form always sends the language, which it has chosen itself.
    ...(notifyEmailsToLocale !== undefined && asksForLinkDelivery(given) && { notifyEmailsToLocale }),
    kind,
    ...(upload && { upload }),
    idempotencyKey,
  };
}

/**
 * The exact end as the API takes it. Without scripts it counts wherever it is filled in, as in the API. Programs that send the
 * form may write it as in the API, too.
 * @throws AppError invalid_fields.
 */
function withInstant(fields: SentFields): SentFields {
  const { expires_at: typed = "", time_zone: _, expire_after_duration: chosen, ...others } = fields;
  const duration = chosen === exactEnd ? {} : { expire_after_duration: chosen };
  const zone = (textIn(fields, "time_zone") ?? "").trim() || "UTC";
  if (typed === "" && chosen !== exactEnd) return { ...others, ...duration };
  if (!isTimeZone(zone)) throw invalidFields({ timeZone: ["is no time zone."] });
  const instant = readInstant(String(typed)) ?? readWallClock(String(typed), zone);
  if (instant === undefined) throw invalidFields({ expiresAt: ["is no time."] });
  return { ...others, ...duration, expires_at: new Date(instant).toISOString() };
}

function withoutOwnersFields(fields: SentFields): SentFields {
  const owners = new Set(ownersFields(fields).map(({ name }) => name));
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !owners.has(name)));
}

interface StartingKind extends KindSettings {
  readonly expiryMinutes?: number | undefined;
}

type StartingSettings = Awaited<ReturnType<typeof startingSettings>>;

/**
 * The settings that the form starts with: the account's, else those that the browser remembers, else the server's. The API
 * uses those of the server alone.
 */
async function startingSettings(page: PageRequest) {
  const { user, services } = page;
  const { accounts, config } = services;
  const remembered = rememberedSettings(page);
  const defaults = user === null ? noDefaults : await accounts.pushDefaults(user.id);
  const policy = await services.policies.of(user);
  const enabled = allowedKinds(policy);
  const presets = offeredPresets(await services.presets.of(user), page.query("preset"), {
    hasOwnSettings: [defaults.kinds, remembered].some(saysAnything),
  });
  const first = presets.shown?.settings.kind ?? defaults.kind;
  return {
    policy,
    presets,
    senderShown: defaults.senderShown,
    /** The kind that is shown first. Text if every kind is switched off: sending the form then shows the problem. */
    firstKind: enabled.find((kind) => kind === first) ?? enabled[0] ?? "text",
    kinds: byKind((kind): StartingKind => {
      const { expireAfterMinutes, ...ofBrowser } = remembered[kind] ?? {};
      const ofAccount = defaults.kinds[kind] ?? {};
      const settings = withDefaults(settingsUnder(policy, kind, config.kinds[kind]), { ...ofBrowser, ...ofAccount });
      return withExpiry(settings, policy, ofAccount.expireAfterDays === undefined ? expireAfterMinutes : undefined);
    }),
  };
}

const saysAnything = (kinds: Readonly<Partial<Record<KindName, KindDefaults>>>) =>
  Object.values(kinds).some((chosen) => Object.values(chosen).some((value) => value !== undefined));

/** Settings that a person has chosen go before the default of a group or of the instance. @param asked "": none. */
function offeredPresets(
  all: readonly CallerPreset[],
  asked: string | undefined,
  { hasOwnSettings }: { readonly hasOwnSettings: boolean },
): OfferedPresets {
  const byDefault = all.find(({ isDefault, from }) => isDefault && (from === "own" || !hasOwnSettings));
  return { all, shown: asked === undefined ? byDefault : all.find(({ name }) => name === asked) };
}

/** A stored number that is out of range, because settings changed since, is ignored. */
function withDefaults(settings: KindSettings, defaults: KindDefaults): KindSettings {
  const { days, views } = settings;
  return {
    ...settings,
    days: rangeWith(days, defaults.expireAfterDays),
    views: rangeWith(views, defaults.expireAfterViews),
    ...byKindOption((option) => ({ ...settings[option], default: defaults[option] ?? settings[option].default })),
  };
}

/** An expiry that the form does not offer is ignored. Where rules leave less than a day, the longest one is the default. */
function withExpiry(settings: KindSettings, policy: Policy, expiryMinutes: number | undefined): StartingKind {
  const offered = offeredTimes(settings, policy).map(({ minutes }) => minutes);
  if (expiryMinutes !== undefined && offered.includes(expiryMinutes)) return { ...settings, expiryMinutes };
  return offersDays({ settings }) ? settings : { ...settings, expiryMinutes: offered.at(-1) };
}

function rangeWith(range: Range, wanted: number | undefined): Range {
  return wanted !== undefined && wanted >= range.min && wanted <= range.max ? { ...range, default: wanted } : range;
}

function formFor(askedKind: string | undefined, starting: StartingSettings, page: PageRequest): PushForm {
  const { config } = page.services;
  const kind: KindName = allowedKinds(starting.policy).find((allowed) => allowed === askedKind) ?? starting.firstKind;
  return {
    kind,
    settings: starting.kinds[kind],
    policy: starting.policy,
    expiryMinutes: starting.kinds[kind].expiryMinutes,
    limits: formLimits(kind, config),
    generator: config.generator,
    mails: offeredMails(page.user, config, starting.policy),
    senderShown: starting.senderShown,
    labels: starting.presets.shown && labelsOf(starting.presets.shown.settings),
    takesFiles: starting.kinds.file.enabled,
    edited: null,
    removedFileIds: [],
    filesLost: false,
    locale: page.messages.locale.tag,
  };
}

function renderForm(
  page: PageRequest,
  form: NewPushForm,
  status: number,
  {
    starting,
    ...options
  }: {
    readonly starting: StartingSettings;
    readonly selfPath?: string;
    readonly keepsTyped?: boolean;
    readonly compressible?: boolean;
  },
): Reply {
  const { config } = page.services;
  const mayAttachFiles = form.account !== null || config.files.allowAnonymous;
  const offersFiles = mayAttachFiles || !config.accounts.loginsDisabled;
  const model = {
    presets: starting.presets,
    formOf: (kind: KindName) => formFor(kind, starting, page),
    sealedByDefault: config.sealedInBrowser || form.policy.encryptionRequired,
    form,
    kinds: allowedKinds(form.policy).filter((kind) => kind !== "file" || offersFiles),
    hidesKinds: allowedKinds(form.policy).length < enabledKinds(config).length,
    mayAttachFiles,
    hasFieldEditor: page.query("fields") === "1",
    mayCreateWithoutAccount: config.allowAnonymous && (form.kind !== "file" || config.files.allowAnonymous),
  };
  return page.render(newPushView, model, { status, ...options });
}

import { AppError, unreachable } from "../../base/errors.ts";
import { readCreatePush } from "../../http/push-fields.ts";
import { noRules, type Policy } from "../../policies/policies.ts";
import type { EditablePush, EditPush } from "../../pushes/pushes.ts";
import { renderGone } from "../gone.tsx";
import {
  describeProblems,
  editableFields,
  type FieldName,
  type FilledForm,
  filesTooLarge,
  hiddenFieldsOf,
  mayHaveFiles,
  type PushValues,
  valuesOf,
} from "../push-form/fields.tsx";
import {
  enabledKinds,
  formLimits,
  offeredMails,
  type PushForm,
  readSentForm,
  receivePushForm,
  receiveWithoutFiles,
  type SentFields,
  type SentForm,
  textIn,
} from "../push-form/form.ts";
import { byOption } from "../push-form/options.ts";
import type { PageRequest, Reply, SignedInRequest } from "../request.ts";
import { type FormDeclaration, refused, takeForm, untouched } from "../take-form.ts";
import { editView } from "./view.tsx";

interface Editable extends EditablePush {
  readonly policy: Policy;
}

async function findEditable({ urlToken, services, actor }: SignedInRequest): Promise<Editable | undefined> {
  const editable = urlToken === undefined ? undefined : await services.pushes.findEditable(urlToken, actor);
  return editable && { ...editable, policy: await services.policies.of(actor.user) };
}

/** `GET /p/:token/edit`: for the owner, while the push can be retrieved. For anybody else the page does not exist. */
export async function showEdit(page: SignedInRequest): Promise<Reply> {
  const editable = await findEditable(page);
  if (editable === undefined) return renderGone(page);
  const form = formFor(editable, page);
  const filled = { ...form, values: valuesOf(form), problems: {} };
  const selfPath = `/p/${editable.push.urlToken}/edit`;
  return page.render(editView, modelOf(filled, editable), { selfPath, keepsTyped: true });
}

/** The form comes back beside the push as it is stored by then. */
function editForm(editable: Editable): FormDeclaration<SignedInRequest, SentForm, FieldName> {
  return {
    read: readSentForm,
    receive: receivePushForm,
    async show(page, { fields, hasFiles }, state) {
      const current = await findEditable(page);
      if (current === undefined) return renderGone(page);
      const filesLost = hasFiles && !page.isSentByScript;
      const form = { ...formFor(current, page), removedFileIds: fileIdsIn(fields.remove_files), filesLost };
      const filled = { ...form, values: valuesOf(form, fields), problems: state.problems };
      return page.render(editView, { ...modelOf(filled, current), state }, { status: state.status });
    },
    tooLarge(page, { hasFiles }) {
      const form = formFor(editable, page);
      const { messages } = page;
      if (hasFiles) return filesTooLarge(form, messages);
      return { payload: messages.problems.tooLong({ max: form.limits.payloadCharactersMax }) };
    },
    describe(page, { hasFiles }, found) {
      const form = formFor(editable, page);
      const { edit, rules } = page.messages;
      const filesOff = hasFiles && !form.takesFiles;
      return {
        problems: filesOff ? { files: edit.filesOff } : describeProblems(found, form, page.messages),
        refusal: found.encryption === undefined ? null : rules.encryption,
      };
    },
  };
}

/** `POST /p/:token/edit` */
export async function saveEdit(page: SignedInRequest): Promise<Reply> {
  const editable = await findEditable(page);
  if (editable === undefined) page.notFound();
  const form = formFor(editable, page);
  const { urlToken } = editable.push;
  const { edit: text, problems } = page.messages;
  return takeForm(page, editForm(editable), async ({ fields, upload }) => {
    const values = valuesOf(form, fields);
    if (values.removePassphrase && values.passphrase !== "") return refused({ passphrase: text.passphraseEither });
    const wanted = readEdit(fields, values, form);
    const edited = await page.services.pushes.edit(urlToken, upload ? { ...wanted, upload } : wanted, page.actor);
    switch (edited.outcome) {
      case "edited":
        return page.redirectAfterForm(`/p/${urlToken}/preview`);
      case "passphrase_required":
        return refused({ currentPassphrase: mayHaveFiles(form) ? text.passphraseNeededFiles : text.passphraseNeeded });
      case "wrong_passphrase":
        return refused({ currentPassphrase: text.wrongPassphrase });
      case "too_many_attempts": {
        const count = edited.retryAfterSeconds;
        page.retryAfter(count);
        return refused({ currentPassphrase: problems.tooManyAttempts({ count }) }, { status: 429 });
      }
      case "changed_meanwhile":
        return refused({}, { status: 409, reason: "changed_meanwhile" });
      case "gone":
      case "unknown":
        return renderGone(page);
      default:
        return unreachable(edited);
    }
  });
}

/** `POST /p/:token/edit` without a session: the form as it was sent. It says nothing about the push, not even that it exists. */
export async function returnEdit(page: PageRequest): Promise<Reply> {
  const { urlToken, services, messages } = page;
  if (urlToken === undefined) page.notFound();
  // The script's page still has everything, and what it shows of the push.
  if (page.isSentByScript) throw new AppError("not_authenticated", "This session has ended.");
  const { fields, hasFiles } = await receiveWithoutFiles(page);
  const { config } = services;
  const kind = enabledKinds(config).find((enabled) => enabled === textIn(fields, "kind")) ?? "text";
  const push = {
    passphraseRequired: textIn(fields, "current_passphrase") !== undefined,
    endToEnd: textIn(fields, "payload") === undefined ? {} : null,
    name: null,
    note: null,
    ...byOption(() => false),
  };
  const form: PushForm = {
    kind,
    settings: config.kinds[kind],
    // Nothing is known of the account: its rules are judged when the form is sent again.
    policy: noRules,
    limits: formLimits(kind, config),
    generator: config.generator,
    mails: offeredMails(null, config, noRules),
    senderShown: false,
    takesFiles: config.kinds.file.enabled,
    edited: { push, files: [] },
    removedFileIds: fileIdsIn(fields.remove_files),
    filesLost: hasFiles,
    locale: messages.locale.tag,
  };
  const model = {
    form: { ...form, values: valuesOf(form, fields), problems: {} },
    urlToken,
    push: null,
    hiddenFields: [...hiddenFieldsOf("sender", fields), ...hiddenFieldsOf("mail", fields)],
    state: { refusal: null, reason: "signed_out" },
  } as const;
  return page.render(editView, model, { status: 401 });
}

function modelOf(form: FilledForm, { push }: Editable) {
  return { form, urlToken: push.urlToken, push, hiddenFields: [], state: untouched };
}

function formFor(editable: Editable, { user, services, messages }: SignedInRequest): PushForm {
  const { config } = services;
  const { push } = editable;
  const mails = offeredMails(user, config, editable.policy);
  return {
    kind: push.kind,
    settings: {
      ...config.kinds[push.kind],
      days: { ...editable.days, default: push.expireAfterDays },
      views: { ...editable.views, default: push.expireAfterViews },
    },
    policy: editable.policy,
    limits: formLimits(push.kind, config),
    generator: config.generator,
    // What is not offered any more can still be switched off.
    mails: {
      ...mails,
      viewsTo: mails.viewsTo ?? (push.notifyOnView ? user.email : null),
      sender: mails.sender ?? (push.senderShown ? user.email : null),
    },
    senderShown: push.senderShown,
    takesFiles: config.kinds.file.enabled && editable.policy.kinds.includes("file"),
    edited: editable,
    removedFileIds: [],
    filesLost: false,
    locale: messages.locale.tag,
  };
}

/** @throws AppError invalid_fields (by domain name), too_large (payload). */
function readEdit(fields: SentFields, values: PushValues, { kind }: PushForm): Omit<EditPush, "upload"> {
  const { payload, ...shared } = readCreatePush(editableFields(fields)).request;
  const removesMessage = kind === "file" && values.removeMessage;
  const keepsPayload = payload === undefined || payload === "";
  return {
    ...shared,
    ...(!keepsPayload && { payload }),
    ...(keepsPayload && removesMessage && { payload: "" }),
    ...(shared.passphrase === undefined && values.removePassphrase && { passphrase: null }),
    removedFileIds: fileIdsIn(fields.remove_files),
    currentPassphrase: values.currentPassphrase,
  };
}

const idShape = /^\d{1,15}$/;
/** No file has this id: a malformed id is refused like one that is not of this push. */
const noId = -1;

function fileIdsIn(value: unknown): readonly number[] {
  if (!Array.isArray(value)) return [];
  return value.map((id) => (typeof id === "string" && idShape.test(id) ? Number(id) : noId));
}

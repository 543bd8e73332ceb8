import type { FastifyReply } from "fastify";
import { AppError, unreachable } from "../../base/errors.ts";
import { readCreatePush } from "../../http/push-fields.ts";
import { noRules, type Policy } from "../../policies/policies.ts";
import type { EditablePush, EditOutcome, EditPush, PushOption } from "../../pushes/pushes.ts";
import { renderGone } from "../gone.tsx";
import {
  describeProblems,
  editableFields,
  type FilledForm,
  filesTooLarge,
  hiddenFieldsOf,
  mayHaveFiles,
  type PushProblems,
  type PushValues,
  valuesOf,
} from "../push-form/fields.tsx";
import {
  describeWait,
  enabledKinds,
  formLimits,
  offeredMails,
  type PushForm,
  receivePushForm,
  receiveWithoutFiles,
  type SentFields,
  type SessionProblem,
  textIn,
} from "../push-form/form.ts";
import { optionNames } from "../push-form/options.ts";
import type { PageRequest, SignedInRequest } from "../request.ts";
import { editView } from "./view.tsx";

interface Editable extends EditablePush {
  readonly policy: Policy;
}

async function findEditable({ urlToken, services, actor }: SignedInRequest): Promise<Editable | undefined> {
  const editable = urlToken === undefined ? undefined : await services.pushes.findEditable(urlToken, actor);
  return editable && { ...editable, policy: await services.policies.of(actor.user) };
}

/** `GET /p/:token/edit`: for the owner, while the push can be retrieved. For anybody else the page does not exist. */
export async function showEdit(page: SignedInRequest): Promise<FastifyReply> {
  const editable = await findEditable(page);
  if (editable === undefined) return renderGone(page);
  const form = formFor(editable, page);
  const filled = { ...form, values: valuesOf(form), problems: {}, refusal: null };
  const selfPath = `/p/${editable.push.urlToken}/edit`;
  return page.render(editView, modelOf(filled, editable), { selfPath, keepsTyped: true });
}

/** An edit that was sent, for sending its form back. */
interface SentEdit {
  readonly form: PushForm;
  readonly editable: Editable;
  readonly fields: SentFields;
  readonly hasFiles: boolean;
}

/** `POST /p/:token/edit` */
export async function saveEdit(page: SignedInRequest): Promise<FastifyReply> {
  const editable = await findEditable(page);
  if (editable === undefined) page.notFound();
  const form = formFor(editable, page);
  const { fields, upload, fileRefusal, isOutdated } = await receivePushForm(page);
  const sent = { form, editable, fields, hasFiles: upload !== undefined || fileRefusal !== undefined };
  try {
    if (isOutdated) return await sendBack(page, sent, { status: 403, sessionProblem: "outdated" });
    if (fileRefusal !== undefined) throw fileRefusal;
    const values = valuesOf(form, fields);
    if (values.removePassphrase && values.passphrase !== "") {
      const problems = { passphrase: page.messages.edit.passphraseEither };
      return await sendBack(page, sent, { status: 422, problems });
    }
    const wanted = readEdit(fields, values, form);
    const edit = upload === undefined ? wanted : { ...wanted, upload };
    return await answer(page, sent, await page.services.pushes.edit(editable.push.urlToken, edit, page.actor));
  } catch (error) {
    return await refuse(page, sent, error);
  } finally {
    await upload?.abandon();
  }
}

const noOptions = Object.fromEntries(optionNames.map((option) => [option, false])) as Record<PushOption, boolean>;

/** `POST /p/:token/edit` without a session: the form as it was sent. It says nothing about the push, not even that it exists. */
export async function returnEdit(page: PageRequest): Promise<FastifyReply> {
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
    ...noOptions,
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
    form: { ...form, values: valuesOf(form, fields), problems: {}, refusal: null },
    urlToken,
    push: null,
    hiddenFields: [...hiddenFieldsOf("sender", fields), ...hiddenFieldsOf("mail", fields)],
    changedMeanwhile: false,
    sessionProblem: "signed_out",
  } as const;
  return page.render(editView, model, { status: 401 });
}

function modelOf(form: FilledForm, { push }: Editable) {
  return { form, urlToken: push.urlToken, push, hiddenFields: [], changedMeanwhile: false, sessionProblem: null };
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

async function answer(page: SignedInRequest, sent: SentEdit, edited: EditOutcome): Promise<FastifyReply> {
  const { edit, problems } = page.messages;
  const refused = (status: number, currentPassphrase: string) =>
    sendBack(page, sent, { status, problems: { currentPassphrase } });
  switch (edited.outcome) {
    case "edited":
      return page.redirectAfterForm(`/p/${sent.editable.push.urlToken}/preview`);
    case "passphrase_required":
      return refused(422, mayHaveFiles(sent.form) ? edit.passphraseNeededFiles : edit.passphraseNeeded);
    case "wrong_passphrase":
      return refused(422, edit.wrongPassphrase);
    case "too_many_attempts":
      page.retryAfter(edited.retryAfterSeconds);
      return refused(429, problems.tooManyAttempts({ count: edited.retryAfterSeconds }));
    case "changed_meanwhile":
      return sendBack(page, sent, { status: 409, changedMeanwhile: true });
    case "gone":
    case "unknown":
      return renderGone(page);
    default:
      return unreachable(edited);
  }
}

/** @throws every error that is not about the form. */
async function refuse(page: SignedInRequest, sent: SentEdit, error: unknown): Promise<FastifyReply> {
  if (!(error instanceof AppError)) throw error;
  const { form, hasFiles } = sent;
  const { messages } = page;
  switch (error.code) {
    case "unavailable":
      page.reportUnavailable(error);
      return await sendBack(page, sent, { status: 503, refusal: messages.failure.unavailableText });
    case "too_many_requests":
    case "bytes_used_up":
      return await sendBack(page, sent, { status: 429, refusal: describeWait(page, error) });
    case "too_large": {
      const max = form.limits.payloadCharactersMax;
      const problems = hasFiles ? filesTooLarge(form, messages) : { payload: messages.problems.tooLong({ max }) };
      return await sendBack(page, sent, { status: 413, problems });
    }
    case "invalid_fields": {
      const filesOff = hasFiles && !form.takesFiles;
      const problems = filesOff
        ? { files: messages.edit.filesOff }
        : describeProblems(error.fields ?? {}, form, messages);
      const isUnsealed = error.fields?.encryption !== undefined;
      return await sendBack(page, sent, {
        status: 422,
        problems,
        ...(isUnsealed && { refusal: messages.rules.encryption }),
      });
    }
    default:
      throw error;
  }
}

/** The form with everything that was typed, beside the push as it is stored by now. */
async function sendBack(
  page: SignedInRequest,
  { fields, hasFiles }: SentEdit,
  shown: {
    status: number;
    problems?: PushProblems;
    refusal?: string;
    changedMeanwhile?: boolean;
    sessionProblem?: SessionProblem;
  },
): Promise<FastifyReply> {
  const editable = await findEditable(page);
  if (editable === undefined) return renderGone(page);
  const { status, problems = {}, refusal = null, changedMeanwhile = false, sessionProblem = null } = shown;
  const filesLost = hasFiles && !page.isSentByScript;
  const form = { ...formFor(editable, page), removedFileIds: fileIdsIn(fields.remove_files), filesLost };
  const filled = { ...form, values: valuesOf(form, fields), problems, refusal };
  return page.render(editView, { ...modelOf(filled, editable), changedMeanwhile, sessionProblem }, { status });
}

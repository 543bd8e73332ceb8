import type { FastifyReply } from "fastify";
import { AppError } from "../../base/errors.ts";
import type { KindName } from "../../base/push-kinds.ts";
import { signInPath } from "../../http/authentication.ts";
import { readCreatePush } from "../../http/push-fields.ts";
import { asksForLinkDelivery } from "../../pushes/pushes.ts";
import { linkPagePath } from "../created/handler.ts";
import { describeProblems, type FilledForm, filesTooLarge, valuesOf } from "../push-form/fields.tsx";
import { FormFiles, formLimits, offeredMails, type PushForm, pushFieldsOf, textIn } from "../push-form/form.ts";
import type { PageRequest } from "../request.ts";
import { completed, enabledKinds, type StartingSettings, startingSettings } from "./starting-settings.ts";
import { newPushView } from "./view.tsx";

/** `GET /` and `GET /p/new` */
export async function showNewPush(page: PageRequest): Promise<FastifyReply> {
  const starting = await startingSettings(page);
  const form = formFor(page.query("kind"), starting, page);
  const filled = { ...form, values: valuesOf(form), problems: {}, unavailable: false };
  return renderForm(page, filled, 200, form.kind === starting.firstKind ? "/" : `/?kind=${form.kind}`);
}

/** `POST /p` */
export async function createPush(page: PageRequest): Promise<FastifyReply> {
  const files = new FormFiles(page);
  try {
    const fields = pushFieldsOf(await page.formWithFiles(files.take));
    const starting = await startingSettings(page);
    try {
      if (files.refusal !== undefined) throw files.refusal;
      const { upload } = files;
      const wanted = completed(readCreatePush(fields).request, upload?.fileCount ?? 0, starting);
      const push = await page.services.pushes.create({ ...wanted, ...(upload && { upload }) }, page.actor);
      return page.redirect(linkPagePath(push.urlToken, { isMailed: asksForLinkDelivery(wanted) }));
    } catch (error) {
      const form = formFor(textIn(fields, "kind"), starting, page);
      return sendBack(page, { ...form, values: valuesOf(form, fields) }, error);
    }
  } finally {
    await files.end();
  }
}

function formFor(askedKind: string | undefined, starting: StartingSettings, page: PageRequest): PushForm {
  const { config } = page.services;
  const kind: KindName = enabledKinds(config).find((enabled) => enabled === askedKind) ?? starting.firstKind;
  return {
    kind,
    settings: starting.kinds[kind],
    limits: formLimits(kind, config),
    mails: offeredMails(page.user, config),
    takesFiles: config.kinds.file.enabled,
    edited: null,
    removedFileIds: [],
    filesLost: false,
    locale: page.messages.locale.tag,
  };
}

/** The form with everything that was typed, each problem beside its field. @throws every error that is not about the form. */
function sendBack(page: PageRequest, form: Omit<FilledForm, "problems" | "unavailable">, error: unknown): FastifyReply {
  if (!(error instanceof AppError)) throw error;
  const { messages } = page;
  switch (error.code) {
    case "not_authenticated":
      return page.redirectToUrl(`${signInPath}?next=${encodeURIComponent("/?kind=file")}`);
    case "unavailable":
      page.reportUnavailable(error);
      return renderForm(page, { ...form, problems: {}, unavailable: true }, 503);
    case "too_large":
      return renderForm(page, { ...form, problems: filesTooLarge(form, messages), unavailable: false }, 413);
    case "invalid_fields": {
      const problems = describeProblems(error.fields ?? {}, form, messages);
      return renderForm(page, { ...form, problems, unavailable: false }, 422);
    }
    default:
      throw error;
  }
}

function renderForm(page: PageRequest, form: FilledForm, status: number, selfPath: string | null = null): FastifyReply {
  const { config } = page.services;
  const model = {
    form: { ...form, filesLost: Object.keys(form.problems).length > 0 },
    kinds: enabledKinds(config),
    mayAttachFiles: page.user !== null || config.files.allowAnonymous,
  };
  return page.render(newPushView, model, { status, selfPath });
}

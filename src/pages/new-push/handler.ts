import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { AppError, type FieldProblems } from "../../base/errors.ts";
import type { KindName } from "../../base/push-kinds.ts";
import { signInPath } from "../../http/authentication.ts";
import type { FormFields } from "../../http/body/form-fields.ts";
import { receiveBody } from "../../http/body/receive-body.ts";
import { sendPage } from "../../http/headers.ts";
import { readCreatePush } from "../../http/push-fields.ts";
import { asksForLinkDelivery } from "../../pushes/pushes.ts";
import { mayConfirm } from "../account/model.ts";
import { goTo } from "../answers.ts";
import { linkPagePath } from "../created/handler.ts";
import { renderPage } from "../page.ts";
import { type PageDeps, pageContext, queryOf } from "../page-scope.ts";
import { FormFiles } from "./form-files.ts";
import { limitsOf } from "./limits.ts";
import type { OfferedMails } from "./model.ts";
import { completed, enabledKinds, type StartingSettings, startingSettings } from "./starting-settings.ts";
import { describeProblems, filesTooLarge, initialValues, type NewPushModel, newPushView } from "./view.tsx";

export function registerNewPushPages(server: FastifyInstance, deps: PageDeps): void {
  const showing = { access: "page_creator", changesState: false } as const;
  const show = (request: FastifyRequest, reply: FastifyReply) => showForm(request, reply, deps);
  server.get("/", { config: showing }, show);
  server.get("/p/new", { config: showing }, show);
  server.post("/p", { config: { access: "page_creator", changesState: true, formInParts: true } }, (request, reply) =>
    makePush(request, reply, deps),
  );
}

async function showForm(request: FastifyRequest, reply: FastifyReply, deps: PageDeps): Promise<FastifyReply> {
  const starting = await startingSettings(request, deps);
  const kind = kindOf(queryOf(request, "kind"), starting, deps);
  const values = initialValues(starting.kinds[kind], localeOf(request, deps));
  const path = kind === starting.firstKind ? "/" : `/?kind=${kind}`;
  return sendForm(request, reply, deps, {
    kind,
    values,
    problems: {},
    unavailable: false,
    status: 200,
    selfPath: path,
  });
}

async function makePush(request: FastifyRequest, reply: FastifyReply, deps: PageDeps): Promise<FastifyReply> {
  const files = new FormFiles(deps.pushes, request.actor);
  try {
    const fields = formOf(await receiveBody(request, deps.bodyBudget, files.take));
    const starting = await startingSettings(request, deps);
    const kind = kindOf(typeof fields.kind === "string" ? fields.kind : undefined, starting, deps);
    const sent = { kind, fields, initial: initialValues(starting.kinds[kind], localeOf(request, deps)) };
    if (files.refusal !== undefined) return await refuse(request, reply, deps, sent, files.refusal);
    try {
      const { upload } = files;
      const wanted = completed(readCreatePush(fields).request, upload?.fileCount ?? 0, starting);
      const push = await deps.pushes.create({ ...wanted, ...(upload === undefined ? {} : { upload }) }, request.actor);
      return goTo(linkPagePath(push.urlToken, { isMailed: asksForLinkDelivery(wanted) }), request, reply, deps);
    } catch (error) {
      return await refuse(request, reply, deps, sent, error);
    }
  } finally {
    await files.end();
  }
}

interface SentForm {
  readonly kind: KindName;
  readonly fields: PushFields;
  /** For what was not sent. */
  readonly initial: NewPushModel["values"];
}

/** Sends the form back with everything that was typed, each problem beside its field. */
async function refuse(
  request: FastifyRequest,
  reply: FastifyReply,
  deps: PageDeps,
  sent: SentForm,
  error: unknown,
): Promise<FastifyReply> {
  const { kind } = sent;
  if (!(error instanceof AppError)) throw error;
  if (error.code === "not_authenticated") {
    return reply.redirect(`${signInPath}?next=${encodeURIComponent("/?kind=file")}`, 303);
  }
  const values = valuesOf(sent);
  if (error.code === "unavailable") {
    deps.events.refusedUnavailable({ requestId: request.id, method: request.method, route: "/p" }, error);
    reply.header("retry-after", String(error.retryAfterSeconds ?? 1));
    return sendForm(request, reply, deps, {
      kind,
      values,
      problems: {},
      unavailable: true,
      status: 503,
      selfPath: null,
    });
  }
  const { messages } = pageContext(request, deps, null);
  const form = { kind, settings: deps.config.kinds[kind], limits: limitsOf(kind, deps.config) };
  const problems =
    error.code === "too_large" ? filesTooLarge(form, messages) : describeProblems(fieldProblems(error), form, messages);
  const status = error.code === "too_large" ? 413 : 422;
  return sendForm(request, reply, deps, { kind, values, problems, unavailable: false, status, selfPath: null });
}

function fieldProblems(error: AppError): FieldProblems {
  if (error.code !== "invalid_fields" || error.fields === undefined) throw error;
  return error.fields;
}

function sendForm(
  request: FastifyRequest,
  reply: FastifyReply,
  deps: PageDeps,
  shown: Pick<NewPushModel, "kind" | "values" | "problems" | "unavailable"> & {
    status: number;
    selfPath: string | null;
  },
): FastifyReply {
  const { kind, values, problems, unavailable, status, selfPath } = shown;
  const model: NewPushModel = {
    ...{ kind, values, problems, unavailable },
    kinds: enabledKinds(deps.config),
    settings: deps.config.kinds[kind],
    limits: limitsOf(kind, deps.config),
    mayAttachFiles: request.user !== null || deps.config.files.allowAnonymous,
    mails: offeredMails(request, deps.config),
  };
  return sendPage(reply, status, renderPage(newPushView(model, pageContext(request, deps, selfPath))));
}

function localeOf(request: FastifyRequest, deps: PageDeps): string {
  return pageContext(request, deps, null).messages.locale.tag;
}

/** Mails that others can bring about go to an address only when its owner has confirmed it. */
export function offeredMails({ user }: FastifyRequest, config: PageDeps["config"]): OfferedMails {
  if (user === null) return { links: false, viewsTo: null, viewsAfterConfirmation: false };
  const isReached = config.mail !== undefined && user.confirmedAt !== null;
  return {
    links: config.linkDeliveries.enabled,
    viewsTo: isReached ? user.email : null,
    viewsAfterConfirmation: mayConfirm(user, config),
  };
}

function kindOf(asked: string | undefined, { firstKind }: StartingSettings, deps: PageDeps): KindName {
  return enabledKinds(deps.config).find((kind) => kind === asked) ?? firstKind;
}

export type PushFields = Readonly<Record<string, unknown>>;

/** Browsers send line ends as CR LF; what was typed has LF, and a key with other line ends is not a valid key. */
export function formOf(body: { encoding: "json" | "form"; value: unknown }): PushFields {
  if (body.encoding !== "form") throw new AppError("unsupported_media_type", "Send a form.");
  const push = (body.value as FormFields).push;
  if (push === undefined || typeof push === "string" || Array.isArray(push)) {
    throw new AppError("invalid_request", "The form has no push.");
  }
  return Object.fromEntries(
    Object.entries(push).map(([name, value]) => [
      name,
      typeof value === "string" ? value.replaceAll("\r\n", "\n") : value,
    ]),
  );
}

function valuesOf({ fields, initial }: SentForm): NewPushModel["values"] {
  const text = (name: string, otherwise = "") => {
    const value = fields[name];
    return typeof value === "string" ? value : otherwise;
  };
  return {
    payload: text("payload"),
    passphrase: text("passphrase"),
    expireAfterDays: text("expire_after_days", initial.expireAfterDays),
    expireAfterViews: text("expire_after_views", initial.expireAfterViews),
    retrievalStep: text("retrieval_step", initial.retrievalStep ? "1" : "0") === "1",
    deletableByViewer: text("deletable_by_viewer", initial.deletableByViewer ? "1" : "0") === "1",
    name: text("name"),
    note: text("note"),
    notifyEmailsTo: text("notify_emails_to"),
    notifyEmailsToLocale: text("notify_emails_to_locale", initial.notifyEmailsToLocale),
    notifyOnView: text("notify_on_view") === "1",
  };
}

import type { FastifyReply, FastifyRequest } from "fastify";
import { AppError, invalidFields, unreachable } from "../../base/errors.ts";
import type { Config } from "../../config/config.ts";
import { reserveAnswer } from "../../http/answers.ts";
import type { BodyIntake } from "../../http/body/body-intake.ts";
import { sendJson, sendJsonList, sendJsonText } from "../../http/headers.ts";
import { idempotencyKeyOf, pageOf, urlTokenOf } from "../../http/parameters.ts";
import type { Policies } from "../../policies/policies.ts";
import type {
  Actor,
  ClaimOutcome,
  CreatePush,
  EditOutcome,
  ListedPush,
  Presets,
  Push,
  Pushes,
} from "../../pushes/pushes.ts";
import type { Requests } from "../../requests/requests.ts";
import {
  type LinkParts,
  presentAudit,
  presentCreated,
  presentGone,
  presentOwnedPush,
  presentPolicy,
  presentPresets,
  presentPreview,
  presentPush,
  presentRevealed,
  presentVersion,
} from "./presenters.ts";
import { localeOf, receiveCreatePush, receiveEditPush, receiveNotifyEmails, receivePassphrase } from "./receive.ts";
import {
  configuredFeatures,
  type FeaturesAnswer,
  features,
  type MessageAnswer,
  type WrongPassphraseAnswer,
} from "./schemas.ts";

export interface ApiDeps {
  readonly config: Config;
  readonly pushes: Pushes;
  readonly requests: Requests;
  readonly policies: Policies;
  readonly presets: Pick<Presets, "of">;
  readonly bodyIntake: BodyIntake;
  /** The application's. */
  readonly version: string;
}

export type ApiHandler = (request: FastifyRequest, reply: FastifyReply, deps: ApiDeps) => unknown;

export const version: ApiHandler = async (_request, reply, deps) =>
  sendJson(reply, 200, presentVersion(deps.config, deps.version, await deps.policies.ofEverybody()));

export const showFeatures: ApiHandler = (_request, reply, { config: { scim, singleSignOn, accounts } }) => {
  const has = { "sign-on": singleSignOn !== undefined && !accounts.loginsDisabled, scim: scim !== undefined };
  const configured = configuredFeatures.filter((name) => has[name]);
  return sendJson(reply, 200, { features: [...features, ...configured] } satisfies FeaturesAnswer);
};

export const showPolicy: ApiHandler = async (request, reply, { policies }) =>
  sendJson(reply, 200, presentPolicy(await policies.find(request.actor.user)));

export const showPresets: ApiHandler = async (request, reply, { pushes, presets }) => {
  pushes.assertMayCreate(false, request.actor);
  return sendJson(reply, 200, presentPresets(await presets.of(request.actor.user)));
};

export const create: ApiHandler = async (request, reply, deps) => {
  const { wanted, locale } = await receiveCreatePush(request, deps);
  reserveEcho(reply, wanted);
  const push = await deps.pushes.create(wanted, request.actor);
  return sendJson(reply, 201, presentCreated(push, wanted, { baseUrl: request.pushBaseUrl, locale }));
};

/** The answer to a creation repeats these texts. @throws AppError unavailable. */
export function reserveEcho(reply: FastifyReply, { name = "", note = "", passphrase = "" }: CreatePush): void {
  reserveAnswer(reply, Buffer.byteLength(name) + Buffer.byteLength(note) + Buffer.byteLength(passphrase));
}

export function linksOf(request: FastifyRequest): LinkParts {
  return { baseUrl: request.pushBaseUrl, locale: localeOf(request) };
}

export const retrieve: ApiHandler = async (request, reply, deps) => {
  const claimed = await claimView(request, reply, deps, "everyone");
  if (claimed.outcome === "gone") return sendJson(reply, 200, presentGone(claimed.push, linksOf(request)));
  if (claimed.outcome === "refused") return sendWrongPassphrase(reply);
  return sendJson(reply, 200, presentRevealed(claimed.push, claimed, linksOf(request)));
};

export const preview: ApiHandler = async (request, reply, deps) => {
  const push = await findPush(request, deps);
  return sendJson(reply, 200, presentPreview(push, linksOf(request), await deps.pushes.findSender(push)));
};

/** @throws AppError not_found. */
export async function findPush(request: FastifyRequest, { pushes }: Pick<ApiDeps, "pushes">): Promise<Push> {
  const push = await pushes.find(urlTokenOf(request), request.actor);
  if (push === undefined) throw new AppError("not_found", "not-found");
  return push;
}

export const audit: ApiHandler = async (request, reply, deps) => {
  const page = pageOf(request);
  return sendJson(reply, 200, presentAudit(await deps.pushes.audit(urlTokenOf(request), request.actor, page)));
};

export const notifyEmails: ApiHandler = async (request, reply, deps) => {
  const readRequest = await receiveNotifyEmails(request, deps);
  await deps.pushes.deliverLink(urlTokenOf(request), readRequest, request.actor);
  return sendJson(reply, 201, { message: "The link is on its way to the recipients." } satisfies MessageAnswer);
};

export const edit: ApiHandler = async (request, reply, deps) => {
  const urlToken = urlTokenOf(request);
  const { wanted, removedNames, locale } = await receiveEditPush(request, deps);
  try {
    const removedFileIds = await fileIdsOf(removedNames, urlToken, request.actor, deps);
    const edited = await deps.pushes.edit(urlToken, { ...wanted, removedFileIds }, request.actor);
    if (edited.outcome !== "edited") throw editRefused(edited);
    return sendJson(reply, 200, presentPush(edited.push, { baseUrl: request.pushBaseUrl, locale }));
  } finally {
    await wanted.upload?.abandon();
  }
};

/** The files that have these names; none if it is not the caller's push, which the edit refuses. */
async function fileIdsOf(
  names: readonly string[],
  urlToken: string,
  actor: Actor,
  { pushes }: Pick<ApiDeps, "pushes">,
) {
  const editable = names.length === 0 ? undefined : await pushes.findEditable(urlToken, actor);
  if (editable === undefined) return [];
  const removed = new Set(names);
  const files = editable.files.filter(({ filename }) => removed.has(filename));
  // Several files may have one name.
  if (new Set(files.map(({ filename }) => filename)).size < removed.size) {
    throw invalidFields({ removeFiles: ["must be names of files of this push."] });
  }
  return files.map(({ id }) => id);
}

function editRefused(edit: Exclude<EditOutcome, { outcome: "edited" }>): AppError {
  switch (edit.outcome) {
    case "unknown":
      return new AppError("not_found", "not-found");
    case "gone":
      return new AppError("ended", "The push has ended.");
    case "changed_meanwhile":
      return new AppError(
        "conflict",
        "The push was changed by another request at the same time. Nothing was changed by this one.",
      );
    case "passphrase_required":
      return invalidFields({ currentPassphrase: ["is needed, because part of the content stays."] });
    case "wrong_passphrase":
      return invalidFields({ currentPassphrase: ["is not the passphrase of this push."] });
    case "too_many_attempts":
      return tooManyPassphrases(edit);
    default:
      return unreachable(edit);
  }
}

function tooManyPassphrases({ retryAfterSeconds }: { readonly retryAfterSeconds: number }): AppError {
  return new AppError("too_many_requests", "Too many passphrases were tried. Try again later.", { retryAfterSeconds });
}

export const expire: ApiHandler = async (request, reply, deps) => {
  const push = await deps.pushes.expire(urlTokenOf(request), request.actor);
  return sendJson(reply, 200, presentPush(push, linksOf(request)));
};

export const { listActive, listExpired } = listHandlers(presentOwnedPush, pageOf);

/** The lists of an API version. @param readPage throws AppError invalid_request. */
export function listHandlers(
  present: (push: ListedPush, links: LinkParts) => object,
  readPage: (request: FastifyRequest) => number,
): Readonly<Record<"listActive" | "listExpired", ApiHandler>> {
  const list = async (request: FastifyRequest, reply: FastifyReply, deps: ApiDeps, state: "active" | "expired") => {
    const pushes = await deps.pushes.list(userIdOf(request), state, readPage(request));
    return sendJsonList(reply, pushes.labelBytes, presented(pushes, linksOf(request)));
  };
  function* presented(pushes: Iterable<ListedPush>, links: LinkParts) {
    for (const push of pushes) yield present(push, links);
  }
  return {
    listActive: (request, reply, deps) => list(request, reply, deps, "active"),
    listExpired: (request, reply, deps) => list(request, reply, deps, "expired"),
  };
}

/** The token's user, on a route that needs a token. @throws AppError not_authenticated. */
function userIdOf({ actor }: FastifyRequest): number {
  if (actor.user === null) throw new AppError("not_authenticated", "This needs an API token.");
  return actor.user.id;
}

type Claimed = Extract<ClaimOutcome, { outcome: "revealed" | "gone" }> | { readonly outcome: "refused" };

/** The retrieval of every API version. `refused`: the passphrase is missing or wrong. */
export async function claimView(
  request: FastifyRequest,
  reply: FastifyReply,
  deps: Pick<ApiDeps, "pushes" | "bodyIntake">,
  counting: "everyone" | "strangers",
): Promise<Claimed> {
  const passphrase = await receivePassphrase(request, reply, deps);
  const idempotencyKey = idempotencyKeyOf(request);
  const claim = { counting, idempotencyKey, reserveAnswer: (textBytes: number) => reserveAnswer(reply, textBytes) };
  const claimed = await deps.pushes.claimView(
    urlTokenOf(request),
    passphrase === undefined ? claim : { ...claim, passphrase },
    request.actor,
  );
  switch (claimed.outcome) {
    case "revealed":
    case "gone":
      return claimed;
    case "passphrase_required":
    case "wrong_passphrase":
      return { outcome: "refused" };
    case "too_many_attempts":
      throw tooManyPassphrases(claimed);
    case "key_used":
      throw invalidFields({
        idempotencyKey: [
          "was used for an earlier retrieval, whose answer cannot be repeated any more. Send a new random key for each retrieval.",
        ],
      });
    case "unknown":
      throw new AppError("not_found", "not-found");
    default:
      return unreachable(claimed);
  }
}

const wrongPassphrase: WrongPassphraseAnswer = {
  error: "That passphrase is incorrect.",
  message: "Send the passphrase in the X-Push-Passphrase header or the passphrase parameter.",
  status: "unauthorized",
};
const wrongPassphraseJson = JSON.stringify(wrongPassphrase);

/** The same answer for a missing and for a wrong passphrase. */
export function sendWrongPassphrase(reply: FastifyReply): FastifyReply {
  reply.header("www-authenticate", "Bearer");
  return sendJsonText(reply, 401, wrongPassphraseJson);
}

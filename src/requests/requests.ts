import { fingerprintOf } from "@sealpush/age/key-check";
import { writeAnswer } from "@sealpush/age/sealed-content";
import { type Clock, dayMs } from "../base/clock.ts";
import { AppError, invalidFields } from "../base/errors.ts";
import { assertNoProblems } from "../base/field-problems.ts";
import type { KindName } from "../base/push-kinds.ts";
import type { Random } from "../base/random.ts";
import type { Config } from "../config/config.ts";
import { digest, equalDigests } from "../crypto/digests.ts";
import type { Keyring } from "../crypto/keyring.ts";
import type { UrlTokens } from "../crypto/url-token.ts";
import type { InTransaction, Transaction } from "../database/database.ts";
import type { Ids } from "../database/ids.ts";
import { type Limits, tooManyAttempts } from "../limits/limits.ts";
import { createNetworkCounter } from "../limits/network-counter.ts";
import { findViolations, type Policies } from "../policies/policies.ts";
import {
  type AccountStoredLinkKey,
  type Actor,
  codePointsUpTo,
  type ListedPush,
  type Pushes,
  pushLimits,
  type StoredLinkKeys,
} from "../pushes/pushes.ts";
import { AnswerUpload } from "./answer-upload.ts";
import {
  daysDefaultOf,
  daysMaxOf,
  findRequestProblems,
  type ListedRequest,
  type NewRequest,
  type OpenRequest,
  type OwnedRequest,
  type RequestState,
  requestLimits,
} from "./request.ts";
import { sealInSlices } from "./seal-answer.ts";
import { type RequestRow, type RequestStore, requests as requestTable } from "./store/request-store.ts";

export type { AnswerUpload } from "./answer-upload.ts";
export {
  daysDefaultOf,
  daysMaxOf,
  type ListedRequest,
  type NewRequest,
  type OpenRequest,
  type OwnedRequest,
  requestLimits,
} from "./request.ts";

export const requestsPerPage = 50;

/** Notifies owners of answers. The domain implements it: this room knows no addresses. */
export interface AnswerEmails {
  /** undefined: the account does not exist any more, or is disabled. */
  findOwner(ownerId: number): Promise<AnswerOwner | undefined>;
  /** Runs in the transaction of the answer, so that both are written or neither. */
  putAnswered(tx: Transaction, owner: AnswerOwner, answered: AnsweredRequest, now: number): Promise<void>;
}

export interface AnswerOwner {
  /** "": the service account of a group, which has none. */
  readonly email: string;
  readonly isConfirmed: boolean;
  readonly language: string | null;
}

interface AnsweredRequest {
  readonly title: string;
  readonly urlToken: string;
  readonly at: number;
}

export interface RequestDeps {
  readonly config: Config;
  readonly clock: Clock;
  readonly random: Random;
  readonly keyring: Keyring;
  readonly storedLinkKeys: Pick<StoredLinkKeys, "find" | "findOrDraw">;
  /** They are not those of pushes: the link of one opens no other. */
  readonly urlTokens: UrlTokens;
  readonly ids: Ids;
  readonly store: RequestStore;
  readonly pushes: Pick<Pushes, "beginUpload" | "create" | "endByIds" | "listByIds">;
  readonly policies: Pick<Policies, "of">;
  readonly emails: AnswerEmails;
  readonly limits: Limits;
  /** Resolves after the event loop has served everything else that is ready. */
  readonly nextTurn: () => Promise<unknown>;
  /** The row was not sealed for this owner. */
  readonly onForgedRow: (table: string) => void;
}

/** What somebody answers. */
export interface NewAnswer {
  /** The text; with `isSealed` the armored age file, see docs/end-to-end.md. */
  readonly payload: string;
  /** It was sealed before it got here, and so were the files. */
  readonly isSealed: boolean;
  readonly files: AnswerUpload | undefined;
}

/** The part of a row that is sealed, and by that authenticated. */
type Details = Omit<NewRequest, "answersMax" | "expireAfterDays" | "ownerProof"> & {
  /** Hexadecimal, of the url_token. */
  readonly linkDigest: string;
  readonly fingerprint: string;
  /** Hexadecimal, of the owner's proof; null: an account owns the request. */
  readonly proofDigest: string | null;
  /** The longest life of answers by the rules when the request was made; null or absent: no rule. */
  readonly answerMinutesMax?: number | null;
};
type OpenedRow = RequestRow & { readonly details: Details };

export type Requests = ReturnType<typeof createRequests>;

function creation(deps: RequestDeps) {
  const { config, clock, store } = deps;
  /** So that one client, or a network that one person may have as a whole, does not keep the others from making requests. */
  const anonymousCounter = createNetworkCounter((shares) => {
    const max = Math.floor(requestLimits.anonymousPerDayMax * shares);
    return deps.limits.inWindows({ name: "anonymous requests", windowMs: dayMs, max, rememberedMax: 40_000 });
  });
  return {
    /** @throws AppError invalid_fields, not_authenticated, too_many_requests. */
    async create(wanted: NewRequest, actor: Actor): Promise<OwnedRequest> {
      const ownerId = actor.user?.id ?? null;
      if (ownerId === null && !config.allowAnonymousRequests) throw needsAccount();
      assertNoProblems(await findRequestProblems(wanted, config, ownerId === null));
      const policy = await deps.policies.of(actor.user);
      assertNoProblems(findViolations(policy, { asks: kindsAsked(wanted) }));
      if (ownerId === null) {
        const charge = await anonymousCounter.charge(actor.client, clock.now());
        if (charge.outcome === "refused") throw tooManyAttempts(charge);
      }
      const id = await deps.ids.next();
      const now = clock.now();
      const urlToken = deps.urlTokens.make(id, deps.random);
      const { answersMax, expireAfterDays = daysDefaultOf(config), ownerProof, ...asked } = wanted;
      const proofDigest = ownerId === null ? digest(ownerProof).toString("hex") : null;
      const fingerprint = await fingerprintOf(wanted.recipient);
      const linkDigest = digest(urlToken).toString("hex");
      const answerMinutesMax = policy.maxMinutes;
      const details = { ...asked, title: wanted.title.trim(), linkDigest, fingerprint, proofDigest, answerMinutesMax };
      const row = {
        id,
        ownerId,
        tokenSealed: actor.user?.isService === true ? null : await sealToken(deps, { id, ownerId }, urlToken),
        linkCheck: deps.urlTokens.checkOf(urlToken),
        detailsSealed: sealDetails(deps.keyring, { id, ownerId }, details),
        createdAt: now,
        expiresAt: now + expireAfterDays * dayMs,
        closedAt: null,
        answersMax,
        answers: 0,
      };
      if (!(await store.insert(row, requestLimits))) throw tooManyRequests(ownerId);
      return toOwned({ ...row, details }, urlToken, now);
    },

    /** For somebody who may answer. @returns undefined: there is none with this link, or its owner may have none now. */
    async find(urlToken: string): Promise<OpenRequest | undefined> {
      const row = await findRow(deps, urlToken);
      const owner = row && (await findOwner(deps, row));
      if (row === undefined || owner === undefined) return undefined;
      const askedBy = owner !== "anonymous" && owner.isConfirmed ? owner.email : null;
      return { ...toOpen(row, urlToken, clock.now()), askedBy };
    },
  };
}

function ownedRequests(deps: RequestDeps) {
  const { config, clock, store } = deps;
  return {
    /** Newest first. @param page from 1. */
    async list(actor: Actor, page: number): Promise<readonly ListedRequest[]> {
      const now = clock.now();
      if (actor.user === null) throw needsAccount();
      const rows = await store.list(actor.user.id, requestsPerPage, (page - 1) * requestsPerPage);
      const storedLinkKey = await deps.storedLinkKeys.find(actor.user.id);
      return rows.flatMap((row) => toListed(deps, row, storedLinkKey, now) ?? []);
    },

    /**
     * With the pushes that answer it, the first one first. @param proof of who made it without an account; "": none was sent.
     * @throws AppError not_authenticated, not_found.
     */
    async findOwned(
      urlToken: string,
      actor: Actor,
      proof = "",
    ): Promise<{ readonly request: OwnedRequest; readonly answers: readonly ListedPush[] }> {
      const row = await ownedRow(deps, urlToken, actor, proof);
      const answers = await deps.pushes.listByIds(row.ownerId, await store.answers(row.id));
      return { request: toOwned(row, urlToken, clock.now()), answers: [...answers] };
    },

    /** Whether this is the proof of who made the request, without an account. */
    async isProven(urlToken: string, proof: string): Promise<boolean> {
      const row = await findRow(deps, urlToken);
      return row !== undefined && row.ownerId === null && config.allowAnonymousRequests && isProof(row.details, proof);
    },

    /** Takes no more answers; those that have come stay. @throws AppError not_authenticated, not_found. */
    async close(urlToken: string, actor: Actor, proof = ""): Promise<OwnedRequest> {
      const row = await ownedRow(deps, urlToken, actor, proof);
      const now = clock.now();
      await store.close(row.id, now);
      return toOwned({ ...row, closedAt: row.closedAt ?? now }, urlToken, now);
    },

    /**
     * Deletes the request and its answers. They end first: without the request, its page no longer opens them, and a key under
     * a passphrase is lost. After a failure it can be repeated. @throws AppError not_authenticated, not_found.
     */
    async delete(urlToken: string, actor: Actor, proof = ""): Promise<Pick<OpenRequest, "isAnonymous">> {
      const row = await ownedRow(deps, urlToken, actor, proof);
      // From now on, no answer arrives that would be left.
      await store.close(row.id, clock.now());
      await deps.pushes.endByIds(row.ownerId, await store.answers(row.id), actor);
      await store.remove(row.id);
      return { isAnonymous: row.ownerId === null };
    },
  };
}

/** All requests of an owner, for administrators and the export of an account. */
function requestsOfOwner(deps: RequestDeps) {
  const { clock, store } = deps;
  return {
    /** How many requests of the owner can still be answered. */
    countOpen: (ownerId: number): Promise<number> => store.countOpen(ownerId, clock.now()),

    /** Closes all requests of an owner, for an administrator. @param together writes in the same transaction. */
    closeOwned: (ownerId: number, together: InTransaction): Promise<void> =>
      store.closeOwned(ownerId, clock.now(), together),

    /** All requests of an owner, newest first. */
    async *exportOwned(ownerId: number): AsyncGenerator<ListedRequest> {
      const now = clock.now();
      const storedLinkKey = await deps.storedLinkKeys.find(ownerId);
      let last: RequestRow | null = null;
      do {
        const rows: readonly RequestRow[] = await store.listAfter(ownerId, last, requestsPerPage);
        for (const row of rows) {
          const listed = toListed(deps, row, storedLinkKey, now);
          if (listed !== undefined) yield listed;
        }
        last = rows.at(requestsPerPage - 1) ?? null;
      } while (last !== null);
    },
  };
}

function answering(deps: RequestDeps) {
  const { config, clock, store } = deps;
  return {
    /**
     * Before the first file of an answer arrives.
     * @throws AppError not_found, invalid_fields (it takes no more answers, or no files), unavailable.
     */
    async beginUpload(urlToken: string, actor: Actor): Promise<AnswerUpload> {
      const { row } = await rowToAnswer(deps, urlToken);
      if (!row.details.wantsFiles) throw invalidFields({ files: ["are not wanted by this request."] });
      return new AnswerUpload(await deps.pushes.beginUpload(answerer(actor, row)));
    },

    /**
     * Makes a push of the owner from the answer, which one view ends. Takes ownership of the files, or abandons them on any
     * error. The sender gets nothing that leads to it.
     * @throws AppError not_found, invalid_fields, bytes_used_up, unavailable.
     */
    async answer(urlToken: string, answer: NewAnswer, actor: Actor): Promise<void> {
      const { files } = answer;
      try {
        const { row, owner } = await rowToAnswer(deps, urlToken);
        const { details } = row;
        const payload = await payloadOf(deps, { ...details, urlToken }, answer);
        const now = clock.now();
        await deps.pushes.create(
          {
            kind: files === undefined ? "text" : "file",
            payload,
            encryption: "age",
            encryptionCheck: details.encryptionCheck,
            expireAfterViews: 1,
            name: details.title,
            ...(files && { upload: files.upload, mentionsFiles: true }),
          },
          answerer(actor, row),
          async (tx, pushId) => {
            if (!(await store.addAnswer(tx, row.id, pushId, now))) throw notOpen();
            if (owner !== "anonymous" && owner.isConfirmed)
              await deps.emails.putAnswered(tx, owner, { title: details.title, urlToken, at: now }, now);
          },
        );
      } finally {
        // After a successful answer there is nothing to abandon.
        await files?.upload.abandon();
      }
    },

    /** For the timetable: when a request is removed, its answers have ended. @returns how many, at most `limit`. */
    removeOld: (limit: number): Promise<number> => store.removeExpired(clock.now() - daysMaxOf(config) * dayMs, limit),
  };
}

/** Requests for secrets: somebody asks for a text or files, and gets them as pushes that only their own key opens. */
export function createRequests(deps: RequestDeps) {
  return { ...creation(deps), ...ownedRequests(deps), ...requestsOfOwner(deps), ...answering(deps) };
}

/** Counts requests and answers, without identifying the request or the person. */
export interface RequestWatch {
  requested(): void;
  /** @param isSealed it was sealed before it arrived. */
  answered(isSealed: boolean): void;
}

/** Wraps the operations and reports requests and answers to `watch`. */
export function watchRequests(requests: Requests, watch: RequestWatch): Requests {
  return {
    ...requests,
    async create(wanted, actor) {
      const made = await requests.create(wanted, actor);
      watch.requested();
      return made;
    },
    async answer(urlToken, answer, actor) {
      await requests.answer(urlToken, answer, actor);
      watch.answered(answer.isSealed);
    },
  };
}

function needsAccount(): AppError {
  return new AppError("not_authenticated", "Requests need an API token or a signed-in user.");
}

function tooManyRequests(ownerId: number | null): AppError {
  const { openMax, anonymousMax } = requestLimits;
  const refusal =
    ownerId === null
      ? `At most ${anonymousMax} requests without an account may exist. Try again later.`
      : `At most ${openMax} requests may be open: close one.`;
  return new AppError("too_many_requests", refusal, { retryAfterSeconds: 3_600 });
}

/** The push belongs to the owner of the request; what is charged and recorded is the client that sends it. */
function answerer(actor: Actor, { ownerId, details }: OpenedRow): Actor {
  const answersRequest = { maxMinutes: details.answerMinutesMax ?? null };
  return { ...actor, user: ownerId === null ? null : { id: ownerId, admin: false }, answersRequest };
}

/** By the field that asks. */
function kindsAsked({ wantsText, wantsFiles }: NewRequest): Readonly<Record<string, KindName>> {
  return { ...(wantsText && { wantsText: "text" }), ...(wantsFiles && { wantsFiles: "file" }) };
}

/** @returns undefined: the account does not exist any more or is disabled, or requests without one are switched off. */
async function findOwner({ config, emails }: RequestDeps, { ownerId }: RequestRow) {
  if (ownerId !== null) return await emails.findOwner(ownerId);
  return config.allowAnonymousRequests ? ("anonymous" as const) : undefined;
}

async function rowToAnswer(deps: RequestDeps, urlToken: string) {
  const row = await findRow(deps, urlToken);
  const owner = row && (await findOwner(deps, row));
  if (row === undefined || owner === undefined) throw new AppError("not_found", "not-found");
  if (stateOf(row, deps.clock.now()) !== "open") throw notOpen();
  return { row, owner };
}

function notOpen(): AppError {
  return invalidFields({ request: ["takes no more answers."] });
}

async function payloadOf(
  { nextTurn }: Pick<RequestDeps, "nextTurn">,
  details: Details & Pick<OpenRequest, "urlToken">,
  { payload, isSealed, files }: NewAnswer,
): Promise<string> {
  // The server cannot tell whether a text is in what was sealed elsewhere: the names of files are in it too.
  if (isSealed) {
    if (files === undefined && !details.wantsText) throw invalidFields({ files: ["A file is wanted."] });
    return payload;
  }
  if (payload !== "" && !details.wantsText) throw invalidFields({ payload: ["is not wanted: only files are."] });
  if (payload === "" && files === undefined) {
    throw invalidFields(details.wantsText ? { payload: ["can't be blank."] } : { files: ["A file is wanted."] });
  }
  const { max } = pushLimits.payloadCharacters.text;
  if (codePointsUpTo(max + 1, payload) > max) throw invalidFields({ payload: [`may have at most ${max} characters.`] });
  const content = writeAnswer(details.urlToken, { text: payload, files: files?.sealedHere ?? [] });
  return await sealInSlices(content, details.recipient, nextTurn);
}

async function findRow(deps: RequestDeps, urlToken: string): Promise<OpenedRow | undefined> {
  const { pushId: id, check } = deps.urlTokens.addressOf(urlToken);
  const row = await deps.store.find(id, check);
  const opened = row && openRow(deps, row);
  const isSame = opened && equalDigests(Buffer.from(opened.details.linkDigest, "hex"), digest(urlToken));
  return isSame === true ? opened : undefined;
}

async function ownedRow(deps: RequestDeps, urlToken: string, actor: Actor, proof: string): Promise<OpenedRow> {
  const mayProve = deps.config.allowAnonymousRequests && proof !== "";
  if (actor.user === null && !mayProve) throw needsAccount();
  const row = await findRow(deps, urlToken);
  const isOwner =
    row !== undefined &&
    (row.ownerId === null ? mayProve && isProof(row.details, proof) : row.ownerId === actor.user?.id);
  // Others with the link get the answer of an unknown one.
  if (!isOwner) throw new AppError("not_found", "not-found");
  return row;
}

/** The digest is sealed with the row: somebody who writes to the database cannot put another one in its place. */
function isProof({ proofDigest }: Details, proof: string): boolean {
  return proofDigest !== null && equalDigests(Buffer.from(proofDigest, "hex"), digest(proof));
}

/** @returns undefined: the row was not sealed for this owner, which is reported. */
function openRow({ keyring, onForgedRow }: RequestDeps, row: RequestRow): OpenedRow | undefined {
  const opened = keyring.open(requestTable.seals.requestDetails, row, row.detailsSealed);
  if (opened === undefined) onForgedRow("requests");
  return opened && { ...row, details: JSON.parse(opened.toString("utf8")) as Details };
}

function sealDetails(keyring: Keyring, row: Pick<RequestRow, "id" | "ownerId">, details: Details): Buffer {
  return keyring.seal(requestTable.seals.requestDetails, row, Buffer.from(JSON.stringify(details), "utf8"));
}

function stateOf(row: RequestRow, now: number): RequestState {
  if (row.closedAt !== null) return "closed";
  if (row.answers >= row.answersMax) return "full";
  return row.expiresAt <= now ? "expired" : "open";
}

/** The link of a request without an account is in nobody's list. */
async function sealToken(
  { config, storedLinkKeys, random }: RequestDeps,
  { id, ownerId }: Pick<RequestRow, "id" | "ownerId">,
  urlToken: string,
): Promise<Buffer | null> {
  if (ownerId === null || !config.keepLinks) return null;
  const storedLinkKey = await storedLinkKeys.findOrDraw(ownerId);
  return storedLinkKey.seal(requestTable.seals.requestToken, { id, ownerId }, urlToken, random);
}

/** @returns undefined: the row was not sealed for this owner, which is reported. */
function toListed(
  deps: RequestDeps,
  row: RequestRow,
  storedLinkKey: AccountStoredLinkKey | undefined,
  now: number,
): ListedRequest | undefined {
  const opened = openRow(deps, row);
  if (opened === undefined) return undefined;
  const link =
    row.tokenSealed === null ? undefined : storedLinkKey?.open(requestTable.seals.requestToken, row, row.tokenSealed);
  const urlToken = link === undefined || link === "other_key" ? null : link.link;
  return { ...toOwned(opened, "", now), urlToken };
}

function toOpen(row: OpenedRow, urlToken: string, now: number): Omit<OpenRequest, "askedBy"> {
  const { identitySealed: _, proofDigest: __, linkDigest: ___, fingerprint: ____, ...details } = row.details;
  return {
    ...details,
    urlToken,
    state: stateOf(row, now),
    expiresAt: row.expiresAt,
    isAnonymous: row.ownerId === null,
  };
}

function toOwned(row: OpenedRow, urlToken: string, now: number): OwnedRequest {
  const { createdAt, answers, answersMax, details } = row;
  const { identitySealed, fingerprint } = details;
  return { ...toOpen(row, urlToken, now), createdAt, answers, answersMax, identitySealed, fingerprint };
}

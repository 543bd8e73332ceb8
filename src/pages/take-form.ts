import { isDeepStrictEqual } from "node:util";
import { AppError, type FieldProblems } from "../base/errors.ts";
import type { FormFields } from "../http/body/form-fields.ts";
import { FormTokenRefusal } from "../http/cross-site.ts";
import type { PageRequest, Reply } from "./request.ts";

/** Why a form must not take effect, although it may be right: the session is not the one that it was rendered for. */
export type SessionProblem = "signed_out" | "other_account" | "outdated";
const statusOf: Readonly<Record<SessionProblem, number>> = { signed_out: 401, other_account: 409, outdated: 403 };

export function isSessionProblem(reason: FormState["reason"]): reason is SessionProblem {
  return reason !== null && Object.hasOwn(statusOf, reason);
}

/** Why a form is shown, besides what was typed in it. */
export interface FormState<Field extends string = string> {
  /** The status of the answer. */
  readonly status: number;
  /** A sentence for each field that is refused. */
  readonly problems: Readonly<Partial<Record<Field, string | undefined>>>;
  /** About the form as a whole. */
  readonly refusal: string | null;
  /** What only some forms show; a session's problem is shown by all. */
  readonly reason: SessionProblem | "changed_meanwhile" | "unsealed" | "form_used" | null;
}

/** A form that was not sent. */
export const untouched: FormState<never> = { status: 200, problems: {}, refusal: null, reason: null };

/** What the step of a form returns if the form shall be sent back. */
export class Refused<Field extends string> {
  readonly state: Partial<FormState<Field>>;

  constructor(state: Partial<FormState<Field>>) {
    this.state = state;
  }
}

export function refused<Field extends string>(
  problems: FormState<Field>["problems"],
  state: Partial<FormState<Field>> = {},
): Refused<Field> {
  return new Refused({ problems, ...state });
}

/** A form as it was received. */
export interface Received<Typed> {
  readonly typed: Typed;
  /** The files, already stored. They are abandoned unless the step has passed them to the domain. */
  readonly upload?: { abandon(): Promise<void> } | undefined;
  /** Why a file was refused. The fields after it were still read. */
  readonly fileRefusal?: AppError | undefined;
  readonly sessionProblem?: SessionProblem | null;
}

type Answer = Reply | Promise<Reply>;

/** A form: how it is read, how it is shown, and what its problems are called. `Typed` is what it is filled with again. */
export interface FormDeclaration<Request extends PageRequest, Typed, Field extends string> {
  /** What was typed; undefined: it is another form. */
  readonly read: (fields: FormFields, page: Request) => Typed | undefined;
  /** Absent: a form without files. @throws AppError as `receiveBody`, after abandoning the files. */
  readonly receive?: (page: Request) => Promise<Received<Typed>>;
  readonly show: (page: Request, typed: Typed, state: FormState<Field>) => Answer;
  /** What comes before the files are judged, such as showing the form for another kind; undefined: nothing. */
  readonly early?: (page: Request, typed: Typed) => Reply | undefined;
  /** The field that says that there were too many attempts. Absent: the form as a whole. */
  readonly attemptsAt?: Field;
  /** The sentence after too many attempts; absent: `describeWait`. */
  readonly waitText?: (page: Request, error: AppError) => string;
  /** How fields that the domain refuses are shown; null: the error is not about the form. */
  readonly describe?: (
    page: Request,
    typed: Typed,
    found: FieldProblems,
  ) => Partial<FormState<Field>> | Promise<Partial<FormState<Field>>> | null;
  /** The problems where the form as a whole is too large; absent: the error is not about the form. */
  readonly tooLarge?: (page: Request, typed: Typed) => FormState<Field>["problems"];
  /** Where the domain asks for a session. Absent: the error is not about the form. */
  readonly signedOut?: (page: Request, typed: Typed) => Reply | undefined;
}

/**
 * Takes a form: the step gets what was typed. The form comes back with it for every reason there is, in this order: the session
 * is another one, or the form has not its token; a file was refused; the step or the domain refuses a field; attempts or bytes
 * are used up; the server cannot take it now. @throws every error that is not about the form.
 */
export async function takeForm<Request extends PageRequest, Typed, Field extends string>(
  page: Request,
  form: FormDeclaration<Request, Typed, Field>,
  step: (typed: Typed) => Promise<Reply | Refused<NoInfer<Field>>>,
): Promise<Reply> {
  let received: Received<Typed | undefined>;
  try {
    received = form.receive === undefined ? { typed: form.read(await page.form(), page) } : await form.receive(page);
  } catch (error) {
    if (!(error instanceof FormTokenRefusal)) throw error;
    received = { typed: form.read(error.form, page), sessionProblem: "outdated" };
    // Nothing of this form was typed, so nothing is lost.
    if (received.typed === undefined || isDeepStrictEqual(received.typed, form.read({}, page))) throw error;
  }
  const { typed, upload, fileRefusal, sessionProblem = null } = received;
  if (typed === undefined) throw new AppError("invalid_request", "This is another form.");
  const show = (state: Partial<FormState<Field>>) => () =>
    form.show(page, typed, { ...untouched, status: 422, ...state });
  const take = async (): Promise<() => Answer> => {
    if (sessionProblem !== null) return show({ status: statusOf[sessionProblem], reason: sessionProblem });
    const early = form.early?.(page, typed);
    if (early !== undefined) return () => early;
    if (fileRefusal !== undefined) throw fileRefusal;
    const answered = await step(typed);
    return answered instanceof Refused ? show(answered.state) : () => answered;
  };
  let answer: () => Answer;
  try {
    answer = await take();
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const { signedOut } = form;
    answer =
      error.code === "not_authenticated" && signedOut !== undefined
        ? () => signedOut(page, typed) ?? show({ status: 401, reason: "signed_out" })()
        : show(await stateAfter(page, form, typed, error));
  } finally {
    // Before the answer: a form that is sent again has the bytes of the budget back.
    await giveBack(page, upload);
  }
  return await answer();
}

/** What cannot be given back now is removed by the sweeper later, and the form comes back all the same. */
async function giveBack(page: PageRequest, upload: Received<unknown>["upload"]): Promise<void> {
  try {
    await upload?.abandon();
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== "unavailable") throw error;
    page.reportUnavailable(error);
  }
}

/** A handler that does nothing before its form is taken, so that the form comes back also where the token of its session is checked. */
export interface FormHandler<Request extends PageRequest> {
  (page: Request): Promise<Reply>;
  readonly takesForm: true;
}

/** The handler of a form; see `takeForm`. */
export function formHandler<Request extends PageRequest, Typed, Field extends string>(
  form: FormDeclaration<Request, Typed, Field>,
  step: (page: Request, typed: Typed) => Promise<Reply | Refused<NoInfer<Field>>>,
): FormHandler<Request> {
  const handle = (page: Request) => takeForm(page, form, (typed) => step(page, typed));
  return Object.assign(handle, { takesForm: true as const });
}

async function stateAfter<Request extends PageRequest, Typed, Field extends string>(
  page: Request,
  { attemptsAt, waitText = describeWait, describe, tooLarge }: FormDeclaration<Request, Typed, Field>,
  typed: Typed,
  error: AppError,
): Promise<Partial<FormState<Field>>> {
  switch (error.code) {
    case "unavailable":
      page.reportUnavailable(error);
      return { status: 503, refusal: page.messages.failure.unavailableText };
    case "too_many_requests":
    case "bytes_used_up": {
      page.waitAfter(error);
      const text = waitText(page, error);
      if (attemptsAt === undefined) return { status: 429, refusal: text };
      return { status: 429, problems: { [attemptsAt]: text } as FormState<Field>["problems"] };
    }
    case "too_large":
      if (tooLarge !== undefined) return { status: 413, problems: tooLarge(page, typed) };
      break;
    case "invalid_fields": {
      const state = await describe?.(page, typed, error.fields ?? {});
      if (state) return state;
    }
  }
  throw error;
}

/** Says that the byte budget of the account or the client is used up, or how long to wait after too many attempts. */
export function describeWait(page: PageRequest, error: AppError): string {
  const { user, services, messages } = page;
  const count = page.waitAfter(error);
  if (error.code !== "bytes_used_up") return messages.problems.tooManyAttempts({ count });
  const { bytesPerDay } = services.config;
  const max = user === null ? bytesPerDay.client : bytesPerDay.account;
  return messages.problems.bytesUsedUp({ size: messages.formats.bytes(max) });
}

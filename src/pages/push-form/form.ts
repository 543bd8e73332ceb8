import type { User } from "../../accounts/accounts.ts";
import { AppError } from "../../base/errors.ts";
import { type KindName, kindNames } from "../../base/push-kinds.ts";
import type { Config, KindSettings } from "../../config/config.ts";
import { type FormFields, textOf } from "../../http/body/form-fields.ts";
import { receiveForm } from "../../http/body/receive-body.ts";
import { formIdempotencyKey } from "../../http/parameters.ts";
import type { Policy } from "../../policies/policies.ts";
import { type EditablePush, type PushOption, pushLimits, type Upload } from "../../pushes/pushes.ts";
import { withoutAccountField } from "../parts/form-messages.tsx";
import type { PageRequest } from "../request.ts";
import type { Received } from "../take-form.ts";

/** The kinds of push that this server creates. */
export function enabledKinds(config: Pick<Config, "kinds">): readonly KindName[] {
  return kindNames.filter((kind) => config.kinds[kind].enabled);
}

/** What the form that makes or edits a push depends on, besides the values of its fields. */
export interface PushForm {
  readonly kind: KindName;
  /** As far as the policy allows. Their defaults are what the untouched form of a new push shows. */
  readonly settings: KindSettings;
  readonly policy: Policy;
  /** The expiry that the untouched form of a new push shows; absent: the default days. */
  readonly expiryMinutes?: number | undefined;
  readonly limits: ReturnType<typeof formLimits>;
  readonly generator: Config["generator"];
  readonly mails: ReturnType<typeof offeredMails>;
  /** The fields that the preset asks for, as the script of the editor reads them; absent: none. */
  readonly labels?: string | undefined;
  /** The untouched form of a new push has chosen that recipients see the sender. */
  readonly senderShown: boolean;
  /** False: the server refuses new files; a push keeps those that it has. */
  readonly takesFiles: boolean;
  /** null: the form makes a new push. */
  readonly edited: EditedPush | null;
  /** The files that the edit removes. */
  readonly removedFileIds: readonly number[];
  /** The form is sent back without its files, because a browser does not choose them again. */
  readonly filesLost: boolean;
  /** Tag of the page's language. */
  readonly locale: string;
}

/** What the form shows of the push that it edits. */
interface EditedPush {
  readonly push: Pick<EditablePush["push"], "passphraseRequired" | "name" | "note" | PushOption> & {
    /** null: the server can change the content. */
    readonly endToEnd: object | null;
  };
  readonly files: EditablePush["files"];
}

/** Bounds that the form names; characters are code points. */
export function formLimits(kind: KindName, config: Pick<Config, "files" | "linkDeliveries">) {
  return {
    payloadCharactersMax: pushLimits.payloadCharacters[kind].max,
    passphraseCharactersMax: pushLimits.passphraseCharactersMax,
    nameCharactersMax: pushLimits.nameCharactersMax,
    noteCharactersMax: pushLimits.noteCharactersMax,
    maxFileUploads: config.files.maxFileUploads,
    pushBytesMax: config.files.pushBytesMax,
    /** Addresses of one push, and addresses of one account on one day. */
    recipientsMax: pushLimits.recipientsMax,
    recipientsDailyMax: config.linkDeliveries.dailyMax,
  };
}

/**
 * The emails that the form offers, and the address of the sender. View notifications go only to a confirmed address, since
 * strangers can trigger them.
 */
export function offeredMails(user: User | null, config: Config, policy: Policy) {
  const confirmedEmail = user !== null && user.confirmedAt !== null ? user.email : null;
  return {
    /** The address that recipients can see; null: none. */
    sender: confirmedEmail,
    links: user !== null && config.linkDeliveries.enabled && policy.mailDomains?.length !== 0,
    /** The address that view notifications go to; null: they are not offered. */
    viewsTo: config.mail === undefined ? null : confirmedEmail,
    /** They would be offered if the account's address were confirmed. */
    viewsAfterConfirmation: user !== null && mayConfirm(user, config),
  };
}

/** Whether the address is unconfirmed and the server can mail a confirmation link. */
export function mayConfirm({ confirmedAt }: Pick<User, "confirmedAt">, { mail }: Pick<Config, "mail">): boolean {
  return mail !== undefined && confirmedAt === null;
}

/** The fields of `push[...]`, by wire name. */
export type SentFields = Readonly<Record<string, unknown>>;

/** Works on bytes: replacing millions of line ends in a string would block the event loop for a tenth of a second. */
export function withLineFeeds(text: string): string {
  if (!text.includes("\r\n")) return text;
  const bytes = Buffer.from(text, "utf8");
  let length = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    if (bytes[at] === 0x0d && bytes[at + 1] === 0x0a) continue;
    bytes[length] = bytes[at] ?? 0;
    length += 1;
  }
  return bytes.toString("utf8", 0, length);
}

export function textIn(fields: SentFields, wireName: string): string | undefined {
  const value = fields[wireName];
  return typeof value === "string" ? value : undefined;
}

/** A form as it was sent. */
export interface SentForm {
  readonly fields: SentFields;
  /** The files, already stored; undefined: none. */
  readonly upload: Upload | undefined;
  /** It had files, which may have been refused. */
  readonly hasFiles: boolean;
  /** The random text of the form; undefined: none. */
  readonly idempotencyKey: string | undefined;
  /** `accountMark` of the account for which the form was rendered; undefined: for nobody. */
  readonly accountMark: string | undefined;
  /** The person has decided to create the push without the account for which the form was rendered. */
  readonly withoutAccount: boolean;
}

/** The name of the hidden field. */
export const accountField = "account";

/** Marks a form as rendered for this account, so that it does not take effect for another one, or for nobody. */
export function accountMark(user: User | null): string | null {
  return user === null ? null : String(user.id);
}

/**
 * Reads the form and stores its files as they arrive. A refused file does not end the reading: the fields after it are
 * still read, so that the form can be sent back with everything that was typed.
 * @throws AppError as `receiveBody`, and invalid_request; the files are then abandoned.
 */
export async function receivePushForm(page: PageRequest): Promise<Received<SentForm>> {
  let upload: Upload | undefined;
  let fileRefusal: AppError | undefined;
  const add = async (addTo: (upload: Upload) => Promise<void>) => {
    if (fileRefusal !== undefined) return;
    try {
      upload ??= await page.services.pushes.beginUpload(page.actor);
      await addTo(upload);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      fileRefusal = error;
    }
  };
  let named = 0;
  const addNamed = async (form: FormFields) => {
    for (const address of uploadsIn({ ...findPush(form) }).slice(named)) {
      named += 1;
      await add((to) => to.addUploaded(address));
    }
  };
  try {
    const form = await receiveForm(page.request, page.services.bodyIntake, async (file, before) => {
      // The script sends what it can in several requests and the rest with the form, in the order of the form.
      await addNamed(before);
      await add((to) => to.addFile(file));
    });
    await addNamed(form);
    const sent = readSentForm(form);
    if (sent === undefined) throw new AppError("invalid_request", "The form contains no push.");
    const hasFiles = upload !== undefined || fileRefusal !== undefined;
    return { typed: { ...sent, upload, hasFiles }, upload, fileRefusal };
  } catch (error) {
    await upload?.abandon();
    throw error;
  }
}

/** Reads the form without its files, for a form that is only sent back. @throws AppError as `receiveBody`. */
export async function receiveWithoutFiles({ request, services }: PageRequest) {
  let hasFiles = false;
  const form = await receiveForm(request, services.bodyIntake, async () => {
    hasFiles = true;
  });
  return { fields: readSentForm(form)?.fields ?? {}, hasFiles };
}

/** The addresses of files that the page's script has sent before the form. */
export function uploadsIn({ uploads }: SentFields): readonly string[] {
  return Array.isArray(uploads) ? uploads.filter((address) => typeof address === "string") : [];
}

/** A form without its files; undefined: it has no push. */
export function readSentForm(form: FormFields): SentForm | undefined {
  const push = findPush(form);
  if (push === undefined) return undefined;
  return {
    fields: withLineFeedsIn(push),
    upload: undefined,
    hasFiles: false,
    idempotencyKey: formIdempotencyKey(form),
    accountMark: textOf(form, accountField) || undefined,
    withoutAccount: textOf(form, withoutAccountField) !== "",
  };
}

/** Browsers send line ends as CR LF; they become LF again, because a key with other line ends is not a valid key. */
function withLineFeedsIn(push: SentFields): SentFields {
  return Object.fromEntries(
    Object.entries(push).map(([name, value]) => [name, typeof value === "string" ? withLineFeeds(value) : value]),
  );
}

function findPush({ push }: FormFields): SentFields | undefined {
  return typeof push !== "object" || Array.isArray(push) ? undefined : { ...push };
}

/** The controls of a push's fields that are more than one plain input. `fields.tsx` says which field has which. */
export interface ControlProps {
  readonly field: {
    readonly id: string;
    readonly name: string;
    readonly label: string;
    /** As typed; "" where the control has no text. */
    readonly value: string;
    readonly problem: string | undefined;
  };
  readonly form: PushForm;
}

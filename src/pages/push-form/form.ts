import type { User } from "../../accounts/accounts.ts";
import { AppError } from "../../base/errors.ts";
import type { KindName } from "../../base/push-kinds.ts";
import type { Config, KindSettings } from "../../config/config.ts";
import type { FormFields } from "../../http/body/form-fields.ts";
import type { FormFile } from "../../http/body/multipart.ts";
import { type EditablePush, pushLimits, type Upload } from "../../pushes/pushes.ts";
import { mayConfirm } from "../account/model.ts";
import type { PageRequest } from "../request.ts";

/** What the form that makes or edits a push depends on, besides the values of its fields. */
export interface PushForm {
  readonly kind: KindName;
  /** Their defaults are what the untouched form of a new push shows. */
  readonly settings: Pick<KindSettings, "days" | "views" | "retrievalStep" | "deletableByViewer">;
  readonly limits: ReturnType<typeof formLimits>;
  readonly mails: ReturnType<typeof offeredMails>;
  /** False: the server refuses new files; a push keeps those that it has. */
  readonly takesFiles: boolean;
  /** null: the form makes a new push. */
  readonly edited: EditablePush | null;
  /** The files that the edit removes. */
  readonly removedFileIds: readonly number[];
  /** The form is sent back, and a browser does not choose its files again. */
  readonly filesLost: boolean;
  /** Tag of the page's language. */
  readonly locale: string;
}

/** Bounds that the form names; characters are code points. */
export function formLimits(kind: KindName, config: Pick<Config, "files" | "linkDeliveries">) {
  return {
    payloadCharactersMax: pushLimits.payloadCharactersMax[kind],
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

/** Which emails the form offers. View notifications go only to a confirmed address, since strangers can trigger them. */
export function offeredMails(user: User | null, config: Config) {
  const confirmedEmail = config.mail !== undefined && user !== null && user.confirmedAt !== null ? user.email : null;
  return {
    links: user !== null && config.linkDeliveries.enabled,
    /** The address that view notifications go to; null: they are not offered. */
    viewsTo: confirmedEmail,
    /** They would be offered if the account's address were confirmed. */
    viewsAfterConfirmation: user !== null && mayConfirm(user, config),
  };
}

/** The fields of `push[...]`, by wire name. */
export type SentFields = Readonly<Record<string, unknown>>;

/**
 * The push of a form. Browsers send line ends as CR LF; they become LF again, because a key with other line ends is not a
 * valid key.
 */
export function pushFieldsOf({ push }: FormFields): SentFields {
  if (push === undefined || typeof push === "string" || Array.isArray(push)) {
    throw new AppError("invalid_request", "The form contains no push.");
  }
  return Object.fromEntries(
    Object.entries(push).map(([name, value]) => [
      name,
      typeof value === "string" ? value.replaceAll("\r\n", "\n") : value,
    ]),
  );
}

export function textIn(fields: SentFields, wireName: string): string | undefined {
  const value = fields[wireName];
  return typeof value === "string" ? value : undefined;
}

/**
 * Stores the files of a form as they arrive. A refused file does not end the reading: the fields after it are still read,
 * so that the form can be sent back with everything that was typed.
 */
export class FormFiles {
  readonly #page: PageRequest;
  upload: Upload | undefined;
  refusal: AppError | undefined;

  constructor(page: PageRequest) {
    this.#page = page;
  }

  /** The form had files, refused or not. */
  get hasAny(): boolean {
    return this.upload !== undefined || this.refusal !== undefined;
  }

  readonly take = async (file: FormFile): Promise<void> => {
    if (this.refusal !== undefined) return;
    try {
      this.upload ??= await this.#page.services.pushes.beginUpload(this.#page.actor);
      await this.upload.addFile(file);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      this.refusal = error;
    }
  };

  /** Deletes what no push took over. */
  async end(): Promise<void> {
    await this.upload?.abandon();
  }
}

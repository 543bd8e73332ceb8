import type { Unit } from "../db/database.ts";
import type { KindName } from "./push.ts";

/** Mails about pushes, as the house sends them: this room knows neither addresses of owners nor how a mail leaves. */
export interface PushLetters {
  /** Whether owners may have links mailed here. */
  readonly mailsLinks: boolean;
  /** Whether owners can be told of views here. */
  readonly tellsOfViews: boolean;
  /** To how many addresses one owner may have links mailed on one day. */
  readonly dailyMax: number;
  /** undefined: there is no such account any more. */
  findOwner(ownerId: number): Promise<LetterOwner | undefined>;
  /** @throws AppError unavailable when so many mails wait already that more should not. */
  assertRoom(): Promise<void>;
  /** In the unit of its dispatch: the letter stands when that stands. */
  putLink(unit: Unit, letter: LinkLetter, now: number): Promise<void>;
  /** In the unit that takes the notice away. */
  putViewNotice(unit: Unit, letter: ViewLetter, now: number): Promise<void>;
}

export interface LetterOwner {
  readonly email: string;
  /** Its owner has proven it. */
  readonly isConfirmed: boolean;
  readonly language: string | null;
}

/** One mail of a dispatch. */
export interface LinkLetter {
  /** One normalised address. */
  readonly to: string;
  /** The reader's language; null: none was chosen. */
  readonly locale: string | null;
  readonly dispatchId: number;
  /** Of the recipient in the dispatch. */
  readonly place: number;
  readonly pushId: number;
  readonly urlToken: string;
  readonly retrievalStep: boolean;
  readonly passphraseRequired: boolean;
  readonly viewsRemaining: number;
  readonly expiresAt: number;
  /** Who sends it; null: nobody knows whether that address is theirs. */
  readonly from: string | null;
}

export interface ViewLetter {
  readonly to: string;
  readonly language: string | null;
  /** "": it has none. */
  readonly name: string;
  readonly kind: KindName;
  readonly createdAt: number;
  readonly viewedAt: number;
  readonly address: string;
  readonly userAgent: string;
  readonly views: number;
  readonly expireAfterViews: number;
}

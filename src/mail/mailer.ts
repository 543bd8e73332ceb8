/** One mail, ready to be sent. */
export interface Message {
  /** One normalised address. */
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** Without angle brackets. The same for every attempt, so that a mail that arrives twice can be told to be one. */
  readonly messageId: string;
  /** ms since the epoch. */
  readonly date: number;
}

/** Why a mail did not leave: bounded, in ASCII, and without any address, link or token. */
export interface MailFailure {
  /** For logs: the server's status, such as "550", or the system's code, such as "ECONNREFUSED". */
  readonly code: string;
  /** For administrators. */
  readonly sentence: string;
}

export type Sending =
  /** From here on the server answers for it. `reply`: what it said, as bounded as a failure. */
  | { readonly outcome: "accepted"; readonly reply: string }
  /** The server does not want this mail or this recipient; permanently, or for now. */
  | { readonly outcome: "refused"; readonly permanent: boolean; readonly failure: MailFailure }
  /** The server could not be worked with (down, not to be trusted, no sign-in): it said nothing about this mail. */
  | { readonly outcome: "unavailable"; readonly failure: MailFailure }
  /** The process stops. The mail may have left or not. */
  | { readonly outcome: "stopped" };

export interface Mailer {
  /** Takes a minute at most. @param stop leaves the sending that runs a few seconds, then cuts it. */
  send(message: Message, stop: AbortSignal): Promise<Sending>;
  /** Connects, encrypts and signs in as a sending would. @returns undefined: all that worked. */
  check(): Promise<MailFailure | undefined>;
}

import type { KindName } from "../../base/push-kinds.ts";
import type { EarlierViews, EndToEnd, PushField } from "../../pushes/pushes.ts";
import type { Viewer } from "./step-view.tsx";

export interface SecretFile {
  readonly filename: string;
  readonly sizeBytes: number;
  /** Path of the download, with its ticket. */
  readonly href: string;
  /** Path at which the browser shows it; null: it can only be saved. */
  readonly viewHref: string | null;
}

export interface SecretModel {
  readonly kind: KindName;
  /** null: `payload` is the secret itself. */
  readonly endToEnd: EndToEnd | null;
  readonly payload: string;
  /** null: the payload is a text. */
  readonly fields: readonly PushField[] | null;
  readonly files: readonly SecretFile[];
  /** Path of all files as one archive; null where it is of no use. */
  readonly zipHref: string | null;
  /** How long the download links work. */
  readonly ticketTtlSeconds: number;
  /** Hidden until the reader shows it. */
  readonly blur: boolean;
  readonly viewsRemaining: number;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
  readonly viewer: Viewer;
  /** The address of the owner; null: it is not shown. */
  readonly sender: string | null;
  /** null: nothing is said about them. */
  readonly earlierViews: EarlierViews | null;
  /** The page was opened before and is reloaded. */
  readonly repeated: boolean;
  /** Where deleting is posted to; null where it is not allowed or the push has ended. */
  readonly deletePath: string | null;
}

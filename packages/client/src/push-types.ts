import type { CreatePushRequest, EditPushRequest, Push, RetrievedPush } from "./api-types.ts";
import type { FileToDownload } from "./download.ts";
import type { NewFile } from "./multipart.ts";

/** Password Pusher and API v1 leave these keys out. */
export type Foreign<Answer extends Push> = Omit<Answer, "kind" | "expires_at"> &
  Partial<Pick<Answer, "kind" | "expires_at">>;

export type NewPush = Omit<CreatePushRequest["push"], "files"> & { readonly files?: readonly NewFile[] };

/** Files are added. */
export type PushChanges = Omit<EditPushRequest["push"], "files"> & { readonly files?: readonly NewFile[] };

export type Retrieved = Omit<Foreign<RetrievedPush>, "files"> & {
  readonly files: readonly (RetrievedPush["files"][number] & FileToDownload)[];
  /** Only for end-to-end pushes with files. False: somebody sealed them without a list, so that their names and number are not protected. */
  readonly files_listed?: boolean;
};

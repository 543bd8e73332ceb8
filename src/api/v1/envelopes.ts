import type { Envelope } from "../v2/receive-create-push.ts";

type Wrapper = "password" | "file_push" | "url" | "file";

/** Text, unless the fields name another kind or carry files. */
export const passwordEnvelope: Envelope = {
  wrappers: wrappersAfter("password"),
  settle: (fields) => (Reflect.get(fields, "kind") === "url" ? notDeletable(fields) : fields),
};

export const filePushEnvelope: Envelope = {
  wrappers: wrappersAfter("file_push"),
  settle: (fields) => ({ ...fields, kind: "file" }),
};

export const urlEnvelope: Envelope = {
  wrappers: wrappersAfter("url"),
  settle: (fields) => ({ ...notDeletable(fields), kind: "url" }),
};

/** Clients put one address's wrapper into a request to another. The address decides what it becomes. */
function wrappersAfter(own: Wrapper): readonly [string, ...string[]] {
  const others = (["password", "file_push", "url", "file"] as const).filter((wrapper) => wrapper !== own);
  return [own, ...others];
}

/** For url pushes this version has no such option, whatever the default of the instance. */
function notDeletable(fields: object): object {
  return { ...fields, deletable_by_viewer: false };
}

import type { FastifyInstance } from "fastify";
import type { RouteEntry } from "../../src/http/route-access.ts";
import { password } from "./app.ts";

export type Fields = Readonly<Record<string, string>>;

/** The fields of all forms at once; each form reads those that it knows. */
export const everyField: Fields = {
  email: "moved@example.com",
  password,
  current_password: password,
  proof: password,
  language: "de",
  name: "every form",
  first_kind: "url",
  code: "000000",
  backup_code: "",
  set_up: "",
  style: "",
  q: "",
  passkey: "",
  token: "a".repeat(43),
  confirmation_token: "a".repeat(43),
  reset_password_token: "a".repeat(43),
  passphrase: "",
  may_create: "1",
  may_read: "0",
  may_expire: "0",
  expires_in_days: "7",
  networks: "",
  "push[payload]": "a secret",
  "push[name]": "every form",
  "push[expire_after_days]": "3",
};

export type Encoding = "urlencoded" | "multipart" | "json";
export const encodings: readonly Encoding[] = ["urlencoded", "multipart", "json"];

interface Body {
  readonly type: string;
  readonly payload: string;
}

export function encode(fields: Fields, encoding: Encoding): Body {
  switch (encoding) {
    case "urlencoded":
      return { type: "application/x-www-form-urlencoded", payload: new URLSearchParams(fields).toString() };
    case "multipart": {
      const parts = Object.entries(fields).map(
        ([name, value]) => `--of-a-test\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
      );
      return { type: "multipart/form-data; boundary=of-a-test", payload: `${parts.join("")}--of-a-test--\r\n` };
    }
    case "json":
      return { type: "application/json", payload: JSON.stringify(nested(fields)) };
  }
}

/** `a[b]` as nested JSON. */
function nested(fields: Fields): Readonly<Record<string, unknown>> {
  const whole: Record<string, unknown> = {};
  const inner: Record<string, Record<string, string>> = {};
  for (const [name, value] of Object.entries(fields)) {
    const [, outer, key] = /^(\w+)\[(\w+)\]$/.exec(name) ?? [];
    if (outer === undefined || key === undefined) whole[name] = value;
    else inner[outer] = { ...inner[outer], [key]: value };
  }
  return { ...whole, ...inner };
}

/** Sends the form as one of our pages does. */
export function sendForm(
  server: FastifyInstance,
  url: string,
  body: Body,
  sender: { readonly cookie?: string; readonly address?: string },
) {
  return server.inject({
    method: "POST",
    url,
    remoteAddress: sender.address ?? "192.0.2.7",
    payload: body.payload,
    headers: {
      "sec-fetch-site": "same-origin",
      "content-type": body.type,
      ...(sender.cookie !== undefined && { cookie: sender.cookie }),
    },
  });
}

/** Routes of a session that are only a button, or a search: without the session they lead to the sign-in. */
export const untypedForms: readonly string[] = [
  "/admin/groups/:id/delete",
  "/admin/groups/:id/members/remove",
  "/admin/groups/:id/presets/delete",
  "/admin/groups/:id/tokens/revoke",
  "/admin/jobs/retry_deletions",
  "/admin/jobs/retry_emails",
  "/admin/look/accent/reset",
  "/admin/look/logo/reset",
  "/admin/look/name/reset",
  "/admin/look/style/reset",
  "/admin/mails/:id/discard",
  "/admin/mails/:id/retry",
  "/admin/presets/delete",
  "/admin/pushes/:id/delete",
  "/admin/pushes/:id/expire",
  "/admin/pushes/find",
  "/admin/sessions/end",
  "/admin/sign_up",
  "/admin/users/:id/links/end",
  "/admin/users/:id/sessions/end",
  "/pushes/delete",
  "/users/edit/email/confirmation",
  "/users/edit/presets/delete",
  "/users/edit/sessions/:id/end",
  "/users/edit/sessions/end_others",
  "/users/factors/passkeys/options",
  "/users/factors/proof/options",
  "/users/single_sign_on/again",
  "/users/single_sign_on/link",
  "/users/token/:id/revoke",
];

/**
 * Paths that take a form, with ids that do not exist. Those that need a session come first, because a sign-up ends the
 * session of its browser. Paths that would end what the test depends on are left out.
 */
export function formPages(routes: readonly RouteEntry[]): readonly string[] {
  const pages = routes.filter(
    ({ method, access, pattern }) =>
      method === "POST" && access.startsWith("page") && !["/users/sign_out", "/users/edit/delete"].includes(pattern),
  );
  const isOpen = ({ access }: RouteEntry) => Number(access === "page" || access === "page_entry");
  return pages.sort((a, b) => isOpen(a) - isOpen(b)).map(({ pattern }) => pattern.replace(/:\w+/, "987654321"));
}

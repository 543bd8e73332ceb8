import type { ComponentChildren } from "preact";
import { formTokenField } from "../../http/cross-site.ts";
import { type PageContext, pageHref } from "../page.ts";

export interface PostFormProps {
  readonly page: PageContext;
  /** A path of ours. */
  readonly action: string;
  readonly class?: string;
  readonly id?: string;
  /** With files: the form is sent in parts. */
  readonly multipart?: boolean;
  /** The id of what the answer is about: where the page that comes back is first looked at. */
  readonly answerAt?: string;
  /** Nothing of it is worth remembering for the browser. */
  readonly autoComplete?: "off";
  readonly children: ComponentChildren;
}

/**
 * A form that changes something: it keeps the language that was asked for, and carries the session's form token, which
 * browsers that say neither Origin nor Sec-Fetch-Site need.
 */
export function PostForm({
  page,
  action,
  class: className,
  id,
  multipart = false,
  answerAt,
  autoComplete,
  children,
}: PostFormProps) {
  return (
    <form
      method="post"
      action={`${pageHref(page, action)}${answerAt === undefined ? "" : `#${answerAt}`}`}
      class={className}
      id={id}
      encType={multipart ? "multipart/form-data" : undefined}
      autoComplete={autoComplete}
    >
      {page.formToken !== null && <input type="hidden" name={formTokenField} value={page.formToken} />}
      {children}
    </form>
  );
}

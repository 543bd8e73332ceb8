import { MessagePage } from "../message-page.tsx";
import type { Page, PageContext } from "../page.ts";
import { PostForm } from "../parts/post-form.tsx";
import { answersPath } from "./paths.ts";

interface ProofModel {
  readonly urlToken: string;
  /** There is no request with this link and this proof. */
  readonly isRefused: boolean;
}

/**
 * In place of the answers to a request without an account: the script derives the proof from the key in the private link and
 * sends the form (browser/parts/prove-owner.ts).
 */
export function proofView({ urlToken, isRefused }: ProofModel, page: PageContext): Page {
  const { requests: text } = page.messages;
  return (
    <MessagePage page={page} scripts={["requests.js"]} title={text.heading} icon="key" heading={text.answers}>
      <div data-failure>
        <p hidden={isRefused} data-proof="needs-script">
          {text.proofNeedsScript}
        </p>
        <p hidden data-proof="insecure">
          {text.needsHttps}
        </p>
        <p hidden data-proof="needs-cookies">
          {text.proofNeedsCookies}
        </p>
        <p hidden={!isRefused} data-proof="incomplete">
          {text.proofIncomplete}
        </p>
      </div>
      <PostForm action={answersPath(urlToken)} id="prove" autoComplete="off">
        <input type="hidden" name="owner_proof" value="" data-refused={isRefused || undefined} />
      </PostForm>
    </MessagePage>
  );
}

/** A request without an account has no list to go back to. */
export function deletedView(page: PageContext): Page {
  const { requests: text } = page.messages;
  return (
    <MessagePage page={page} icon="check" heading={text.deleted}>
      <p>{text.deletedText}</p>
    </MessagePage>
  );
}

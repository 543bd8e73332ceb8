import { Layout } from "../layout.tsx";
import type { Page, PageContext } from "../page.ts";
import { MessageCard } from "../parts/notice.tsx";
import { PostForm } from "../parts/post-form.tsx";

/** For whoever comes by the address: following a link signs nobody out, a button does. */
export function signOutView(email: string, page: PageContext): Page {
  const { nav } = page.messages;
  return (
    <Layout page={page} title={nav.signOut} width="narrow">
      <MessageCard icon="hand" heading={nav.signOut}>
        <p class="lead">{nav.signedInAs({ email })}</p>
        <PostForm page={page} action="/users/sign_out">
          <button type="submit" class="button button-primary">
            {nav.signOut}
          </button>
        </PostForm>
      </MessageCard>
    </Layout>
  );
}

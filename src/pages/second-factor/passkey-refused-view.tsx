import { signInPath } from "../../http/authentication.ts";
import { Layout } from "../layout.tsx";
import { type Page, type PageContext, pageHref } from "../page.ts";
import { MessageCard } from "../parts/notice.tsx";
import { withNext } from "../return-path.ts";
import { PasskeySignIn } from "./passkey-sign-in.tsx";

/** The passkey that somebody gave opens nothing here. */
export function passkeyRefusedView({ next }: { readonly next: string | null }, page: PageContext): Page {
  const { factors, signIn } = page.messages;
  return (
    <Layout page={page} title={signIn.heading} width="narrow" scripts={["passkeys.js"]}>
      <MessageCard icon="key" heading={signIn.heading}>
        <p role="alert">{factors.passkeys.signInWrong}</p>
        <PasskeySignIn page={page} next={next} />
        <a href={pageHref(page, withNext(signInPath, next))}>{factors.passkeys.otherWay}</a>
      </MessageCard>
    </Layout>
  );
}

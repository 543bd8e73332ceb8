import { breakGlassPath } from "../../accounts/accounts.ts";
import { secondFactorPath } from "../../http/authentication.ts";
import { textOf } from "../../http/body/form-fields.ts";
import { enter } from "../entry.tsx";
import { MessagePage } from "../message-page.tsx";
import type { Page, PageContext } from "../page.ts";
import { Submit } from "../parts/buttons.tsx";
import { PostForm } from "../parts/post-form.tsx";
import type { PageRequest, Reply } from "../request.ts";

/** `GET /users/break_glass?token=`. Shows a button: a preview of the link must not use it up. */
export async function showBreakGlass(page: PageRequest): Promise<Reply> {
  const token = page.query("token") ?? "";
  const link = await page.services.accounts.findBreakGlass(token);
  if (link === undefined) return renderInvalid(page);
  return page.render(breakGlassView, { email: link.email, token, sendsEmail: page.services.config.mail !== undefined });
}

/** `POST /users/break_glass` */
export async function enterByBreakGlass(page: PageRequest): Promise<Reply> {
  const token = textOf(await page.form(), "token");
  const entered = await page.services.accounts.enterByBreakGlass(token, page.clientContext);
  if (entered === undefined) return renderInvalid(page);
  return enter(page, entered.sessionToken, entered.waitsForFactor ? secondFactorPath : "/");
}

function renderInvalid(page: PageRequest): Reply {
  return page.render(breakGlassView, null, { status: 404 });
}

/** @param link null: it does not work. */
export function breakGlassView(
  link: { readonly email: string; readonly token: string; readonly sendsEmail: boolean } | null,
  page: PageContext,
): Page {
  const { singleSignOn } = page.messages;
  const heading = link === null ? singleSignOn.breakGlassInvalid : singleSignOn.breakGlass;
  return (
    <MessagePage page={page} icon={link === null ? "clock" : "key"} heading={heading}>
      {link === null ? (
        <p>{singleSignOn.breakGlassInvalidText}</p>
      ) : (
        <>
          <p class="lead">
            {singleSignOn.breakGlassText({ email: link.email })}
            {link.sendsEmail && ` ${singleSignOn.breakGlassEmail}`}
          </p>
          <PostForm class="form" action={breakGlassPath}>
            <input type="hidden" name="token" value={link.token} />
            <Submit label={singleSignOn.breakGlassSubmit} look="wide" />
          </PostForm>
        </>
      )}
    </MessagePage>
  );
}

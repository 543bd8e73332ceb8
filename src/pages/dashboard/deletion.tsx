import { AppError } from "../../base/errors.ts";
import { type FormFields, textOf } from "../../http/body/form-fields.ts";
import type { ListedPush } from "../../pushes/pushes.ts";
import { FormPage } from "../form-page.tsx";
import { type Page, type PageContext, untranslated } from "../page.ts";
import { ButtonLink, Submit } from "../parts/buttons.tsx";
import { PostForm } from "../parts/post-form.tsx";
import type { Reply, SignedInRequest } from "../request.ts";
import { ownPath } from "../return-path.ts";
import { dashboardPath } from "./filter.ts";
import { beginningOf, shownName } from "./push-parts.tsx";

export const deletePath = "/pushes/delete";
/** The value of `?done=` after pushes were deleted. */
export const deleted = "deleted";
/** As many as a page of the list has. */
const selectedMax = 50;
const nameCharactersShown = 200;

/** `POST /pushes/delete`: asks whether to delete the selected pushes, and deletes them when that is confirmed. */
export async function deleteSelected(page: SignedInRequest): Promise<Reply> {
  const form = await page.form();
  const returnPath = ownPath(textOf(form, "next")) ?? dashboardPath;
  const selected = await findSelected(page, form);
  const isConfirmed = textOf(form, "confirmed") === "yes";
  if (!isConfirmed || selected.length === 0) {
    return page.render(deletionView, { selected, returnPath }, { status: selected.length === 0 ? 422 : 200 });
  }
  const ids = selected.map(({ id }) => id);
  await page.services.pushes.endByIds(page.user.id, ids, page.actor);
  const separator = returnPath.includes("?") ? "&" : "?";
  return page.redirect(`${returnPath}${separator}done=${deleted}`);
}

/** The actor's own pushes among the selected ones that have not ended. @throws AppError invalid_request: there are too many. */
async function findSelected(page: SignedInRequest, form: FormFields): Promise<readonly ListedPush[]> {
  const only = textOf(form, "only");
  const { push: given } = form;
  const ids = new Set((only !== "" ? [only] : Array.isArray(given) ? given : []).map(Number));
  if (ids.size > selectedMax) throw new AppError("invalid_request", `Select at most ${selectedMax} pushes.`);
  const found = await page.services.pushes.listByIds(page.user.id, [...ids].filter(Number.isSafeInteger));
  return [...found].filter(({ expired }) => !expired);
}

export interface DeletionModel {
  readonly selected: readonly ListedPush[];
  /** The list that they were selected in. */
  readonly returnPath: string;
}

export function deletionView({ selected, returnPath }: DeletionModel, page: PageContext): Page {
  const { dashboard, kinds } = page.messages;
  const count = selected.length;
  const title = count === 0 ? dashboard.noneSelectedHeading : dashboard.deleteHeading({ count });
  return (
    <FormPage page={page} heading={title}>
      {count === 0 ? (
        <>
          <p>{dashboard.noneSelectedText}</p>
          <ButtonLink to={returnPath} label={dashboard.back} />
        </>
      ) : (
        <PostForm class="form" action={deletePath}>
          <ul class="deletion">
            {selected.map(({ id, name, kind }) => (
              <li key={id} class="line">
                <input type="hidden" name="push[]" value={id} />
                <bdi translate={name === null ? undefined : untranslated}>
                  {beginningOf(shownName({ name }, page.messages), nameCharactersShown)}
                </bdi>
                <span>{kinds[kind]}</span>
              </li>
            ))}
          </ul>
          <p>{dashboard.deleteText({ count })}</p>
          <input type="hidden" name="next" value={returnPath} />
          <div class="page-actions">
            <Submit label={dashboard.deleteConfirm} look="danger" name="confirmed" value="yes" />
            <ButtonLink to={returnPath} label={dashboard.keep} />
          </div>
        </PostForm>
      )}
    </FormPage>
  );
}

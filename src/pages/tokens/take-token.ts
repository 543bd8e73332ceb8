import type { ChangeRefusal, MadeToken, ProtectedChange, User } from "../../accounts/accounts.ts";
import { changeOf, proofOffered, refusedChange } from "../factors/changes.ts";
import type { Reply, SignedInRequest } from "../request.ts";
import { type FormDeclaration, type FormState, formHandler, untouched } from "../take-form.ts";
import { describeProblems, emptyForm, pageNumberOf, readTokenForm, type TokenField, type TokenForm } from "./model.ts";

/** What a page of tokens shows besides the tokens. */
export interface ShownForm {
  readonly form: TokenForm;
  readonly state: FormState<TokenField>;
  /** A token that was just created: it is not stored, so it can be shown only once. */
  readonly made: { readonly name: string; readonly token: string } | null;
}

type Show = (page: SignedInRequest, shown: ShownForm) => Promise<Reply>;

export const emptyTokenForm: ShownForm = { form: emptyForm, state: untouched, made: null };

interface SentToken {
  readonly form: TokenForm;
  readonly change: ProtectedChange;
}

type Answer = ({ readonly outcome: "made" } & MadeToken) | { readonly outcome: "unknown" } | ChangeRefusal;

/**
 * The handler of the form of a new token, of a person or of a group. A token gives access for good, so its maker has to prove to be there.
 * @param make "unknown": whom it is for is gone.
 */
export function tokenFormHandler(show: Show, make: (page: SignedInRequest, sent: SentToken) => Promise<Answer>) {
  const declaration: FormDeclaration<SignedInRequest, SentToken, TokenField> = {
    read: (fields, page) => ({ form: readTokenForm(fields), change: changeOf(page, fields) }),
    show: (page, { form }, state) => show(page, { form, state, made: null }),
    describe: (page, { form }, found) => describeProblems(found, form, page.messages),
  };
  return formHandler(declaration, async (page, sent) => {
    const answer = await make(page, sent);
    if (answer.outcome === "unknown") return page.notFound();
    if (answer.outcome !== "made") return refusedChange(page, answer);
    const { token, apiToken } = answer;
    const made = { name: apiToken.name, token };
    // Answer without a redirect: the token is not stored, so it can be shown only here.
    return await show(page, { ...emptyTokenForm, state: { ...untouched, status: 201 }, made });
  });
}

export interface TokensModel extends ShownForm, Awaited<ReturnType<typeof tokensOf>> {
  /** The path of the page. The form is posted to it. */
  readonly path: string;
  /** The tokens are a group's. */
  readonly isService: boolean;
}

/** @param owner undefined: there are no tokens yet. */
export async function tokensOf(page: SignedInRequest, owner: Pick<User, "id"> | undefined) {
  const { accounts, clock } = page.services;
  const number = pageNumberOf(page.query("page"));
  const listed = owner === undefined ? { tokens: [], hasMore: false } : await accounts.listTokenPage(owner.id, number);
  return { ...listed, proof: await proofOffered(page), page: number, now: clock.now() };
}

import { allScopes, type Scope, type TokenLimits, tokenLimits } from "../../accounts/accounts.ts";
import type { FieldProblems } from "../../base/errors.ts";
import { parseNetwork } from "../../base/networks.ts";
import { type FormFields, textOf } from "../../http/body/form-fields.ts";
import type { Messages } from "../../i18n/i18n.ts";

/** The form as typed. */
export interface TokenForm {
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** In days; "": never. */
  readonly expiresInDays: string;
  /** Addresses and networks between line ends, commas or blanks. */
  readonly networks: string;
}

export type TokenField = "name" | "scopes" | "expiresInDays" | "networks" | "proof";

export const tokensPath = "/users/token";

export const scopeFields = { create: "may_create", read: "may_read", edit: "may_edit", expire: "may_expire" } as const;

export const offeredDays: readonly number[] = [7, 30, 90, 180, 365, 730];
/** What most programs need; other choices are made by hand. */
export const emptyForm: TokenForm = { name: "", scopes: ["create"], expiresInDays: "90", networks: "" };

const shownEntryCharacters = 60;

/** An invalid number gives the first page. */
export function pageNumberOf(given: string | undefined): number {
  return given !== undefined && /^[1-9]\d{0,2}$/.test(given) ? Number(given) : 1;
}

/** A form without any scope field, as programs may send it, requests all scopes; the page sends unticked boxes too. */
export function readTokenForm(fields: FormFields): TokenForm {
  const hasScopeFields = allScopes.some((scope) => fields[scopeFields[scope]] !== undefined);
  return {
    name: textOf(fields, "name").trim(),
    scopes: hasScopeFields ? allScopes.filter((scope) => textOf(fields, scopeFields[scope]) === "1") : allScopes,
    expiresInDays: textOf(fields, "expires_in_days").trim(),
    networks: textOf(fields, "networks"),
  };
}

export function limitsOf({ scopes, expiresInDays, networks }: TokenForm): Required<TokenLimits> {
  const days = /^\d{1,5}$/.test(expiresInDays) ? Number(expiresInDays) : Number.NaN;
  return { scopes, expiresInDays: expiresInDays === "" ? null : days, networks: entriesOf(networks) };
}

/** @param found the problems that `createToken` reported. */
export function describeProblems(found: FieldProblems, form: TokenForm, { tokens: messages }: Messages) {
  const { problems } = messages;
  const { nameCharactersMax, networksMax, inUseMax } = tokenLimits;
  return {
    problems: {
      name: found.name && problems.name({ max: nameCharactersMax }),
      scopes: found.scopes && problems.mayDo,
      expiresInDays: found.expiresInDays && problems.expires,
      networks: found.networks && (networkProblem(form, messages) ?? problems.networks({ max: networksMax })),
    },
    refusal: found.tokens ? problems.tooMany({ max: inUseMax }) : null,
  };
}

function networkProblem({ networks }: TokenForm, { problems }: Messages["tokens"]): string | undefined {
  const wrong = entriesOf(networks).find((entry) => parseNetwork(entry) === undefined);
  return wrong === undefined ? undefined : problems.network({ entry: wrong.slice(0, shownEntryCharacters) });
}

function entriesOf(networks: string): readonly string[] {
  return networks.split(/[\s,;]+/).filter((entry) => entry !== "");
}

import type { ComponentChildren } from "preact";
import {
  type BrandingPart,
  brandNameCharactersMax,
  logoBytesMax,
  productName,
  type StyleSheetProblem,
  type Theme,
} from "../../branding/branding.ts";
import type { Messages } from "../../i18n/i18n.ts";
import type { Page, PageContext } from "../page.ts";
import { Field, TextField } from "../parts/fields.tsx";
import { brandingHref } from "../parts/logo.tsx";
import { PostForm } from "../parts/post-form.tsx";
import { AdminFrame, adminPaths } from "./frame.tsx";

export interface ThemeModel {
  /** As typed, when a form is sent back. */
  readonly name: string;
  readonly style: string;
  readonly theme: Theme;
  readonly problems: Readonly<Partial<Record<BrandingPart, string>>>;
}

export function problemText(problem: StyleSheetProblem, { admin }: Messages): string {
  switch (problem.reason) {
    case "too_long":
      return admin.styleTooLong;
    case "unreadable":
      return admin.styleUnreadable({ line: problem.line, column: problem.column });
    case "at_rule":
      return admin.styleRefused({ line: problem.line, column: problem.column, name: `@${problem.name}` });
    case "function":
    case "address":
      return admin.styleRefused({ line: problem.line, column: problem.column, name: `${problem.name}()` });
    case "property":
      return admin.styleRefused({ line: problem.line, column: problem.column, name: problem.name });
  }
}

export function themeView({ name, style, theme, problems }: ThemeModel, page: PageContext): Page {
  const { admin, formats } = page.messages;
  return (
    <AdminFrame page={page} current="theme" lead={admin.themeLead}>
      <Part page={page} part="name" isSet={theme.name !== undefined}>
        <TextField
          id="name"
          label={admin.productName}
          hint={admin.productNameHint({ max: brandNameCharactersMax })}
          problem={problems.name}
          value={name}
          placeholder={productName}
          required
        />
      </Part>
      <Part page={page} part="logo" isSet={theme.logo !== undefined} multipart>
        {theme.logo !== undefined && <img class="brand-logo" src={brandingHref(theme.logo)} alt={admin.logoNow} />}
        <Field
          id="logo"
          label={admin.logo}
          hint={admin.logoHint({ size: formats.bytes(logoBytesMax) })}
          problem={problems.logo}
          control={(attributes) => (
            <input
              {...attributes}
              class="input"
              type="file"
              name="logo"
              accept="image/png,image/jpeg,image/webp,image/gif"
              required
            />
          )}
        />
      </Part>
      <Part page={page} part="style" isSet={theme.style !== undefined}>
        <Field
          id="style"
          label={admin.style}
          hint={admin.styleHint}
          problem={problems.style}
          control={(attributes) => (
            <textarea {...attributes} class="input admin-style" name="style" rows={12} dir="ltr" spellcheck={false}>
              {style}
            </textarea>
          )}
        />
      </Part>
    </AdminFrame>
  );
}

interface PartProps {
  readonly page: PageContext;
  readonly part: BrandingPart;
  readonly isSet: boolean;
  readonly multipart?: boolean;
  readonly children: ComponentChildren;
}

/** The form of one part of the theme, and the way back to ours beside it. */
function Part({ page, part, isSet, multipart = false, children }: PartProps) {
  const { admin } = page.messages;
  const path = `${adminPaths.theme}/${part}`;
  return (
    <section class="card admin-look">
      <PostForm page={page} class="form" action={path} multipart={multipart} id={`${part}_form`}>
        {children}
      </PostForm>
      <div class="page-actions">
        <button type="submit" class="button button-primary" form={`${part}_form`}>
          {admin.save}
        </button>
        {isSet && (
          <PostForm page={page} action={`${path}/reset`}>
            <button type="submit" class="button">
              {admin.reset}
            </button>
          </PostForm>
        )}
      </div>
    </section>
  );
}

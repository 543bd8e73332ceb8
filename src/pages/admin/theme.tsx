import type { ComponentChildren } from "preact";
import {
  type AccentProblem,
  type BrandingPart,
  brandNameCharactersMax,
  contrastMin,
  logoBytesMax,
  productName,
  type StyleSheetProblem,
  type Theme,
} from "../../branding/branding.ts";
import { type FormFields, textOf } from "../../http/body/form-fields.ts";
import type { FormFile } from "../../http/body/multipart.ts";
import { receiveForm } from "../../http/body/receive-body.ts";
import { immutableFor } from "../../http/headers.ts";
import type { Messages } from "../../i18n/i18n.ts";
import { Layout } from "../layout.tsx";
import { type Page, type PageContext, renderPage, useMessages } from "../page.ts";
import { Button, Submit } from "../parts/buttons.tsx";
import { fieldsOf, InputField, TextAreaField, TextField } from "../parts/fields.tsx";
import { FormNotices } from "../parts/form-messages.tsx";
import { brandingHref, inlineStyle } from "../parts/logo.tsx";
import { Notice } from "../parts/notice.tsx";
import { PostButton, PostForm } from "../parts/post-form.tsx";
import type { PageRequest, Reply, SignedInRequest } from "../request.ts";
import { type FormDeclaration, type FormState, formHandler, refused, untouched } from "../take-form.ts";
import { AdminFrame, adminPaths, entryOf } from "./frame.tsx";

/** As in tokens.css. */
const productAccent = "#0e5c4a";
/** The field of the button that only previews. */
const previewField = "preview";

/** `GET /branding/:filename`: the logo or the style sheet. */
export async function sendBrandingFile(page: PageRequest): Promise<Reply> {
  const filename: unknown = Reflect.get(Object(page.request.params), "filename");
  const file = await page.services.branding.findFile(String(filename));
  if (file === undefined) return page.notFound();
  return immutableFor(page.reply).type(file.contentType).send(file.content);
}

/** `GET /admin/look` */
export function showTheme(page: SignedInRequest): Reply {
  return renderTheme(page, {}, untouched);
}

interface SentPart {
  /** The file of the logo. */
  readonly value: string | Buffer;
  /** The form was sent by its preview button: nothing is stored. */
  readonly isPreview: boolean;
}

function partForm(part: BrandingPart): FormDeclaration<SignedInRequest, SentPart, BrandingPart> {
  const read = (fields: FormFields): SentPart => {
    const typed = textOf(fields, part);
    const value = part === "accent" ? typed.trim().toLowerCase() : typed;
    return { value, isPreview: textOf(fields, previewField) === "1" };
  };
  return {
    // A logo without the form's token has nothing to show again.
    read: part === "logo" ? () => undefined : read,
    ...(part === "logo" && {
      async receive(page: SignedInRequest) {
        let value: Buffer = Buffer.alloc(0);
        const fields = await receiveForm(page.request, page.services.bodyIntake, async (file) => {
          value = await readLogo(file);
        });
        return { typed: { ...read(fields), value } };
      },
    }),
    show: (page, { value }, state) => renderTheme(page, part === "logo" ? {} : { [part]: value }, state),
  };
}

/** `POST /admin/look/<part>` */
export function setTheme(part: BrandingPart) {
  return formHandler(partForm(part), async (page, sent) => {
    const outcome = await changePart(page, part, sent);
    if (typeof outcome === "string") return refused({ [part]: outcome });
    if (outcome === undefined) return page.redirect(`${adminPaths.theme}?done=saved`);
    return page.renderPlain((context) => previewView({ ...context, theme: outcome }), {
      styleText: inlineStyle(outcome),
    });
  });
}

/** @returns the theme to preview, what is wrong with the value, or undefined: it is stored. */
async function changePart(page: SignedInRequest, part: BrandingPart, { value, isPreview }: SentPart) {
  const { branding } = page.services;
  const { admin, formats } = page.messages;
  const entry = entryOf(page, "changed_branding", part);
  const text = String(value);
  switch (part) {
    case "name": {
      const stored = isPreview ? branding.preview.name(text) : await branding.setName(text, entry);
      return stored === true ? undefined : stored || admin.badName({ max: brandNameCharactersMax });
    }
    case "logo": {
      const bytes = Buffer.from(value);
      const stored = isPreview ? branding.preview.logo(bytes) : await branding.setLogo(bytes, entry);
      return stored === true ? undefined : stored || admin.badLogo({ size: formats.bytes(logoBytesMax) });
    }
    case "accent": {
      const found = isPreview ? branding.preview.accent(text) : await branding.setAccent(text, entry);
      return found && "reason" in found ? accentText(found, page.messages) : found;
    }
    case "style": {
      const found = isPreview ? await branding.preview.style(text) : await branding.setStyle(text, entry);
      return found && "reason" in found ? problemText(found, page.messages) : found;
    }
  }
}

/** @returns an empty buffer for a file that is too large, which is refused like any invalid image. */
async function readLogo({ content }: FormFile): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let sizeBytes = 0;
  for await (const chunk of content) {
    sizeBytes += chunk.length;
    if (sizeBytes <= logoBytesMax) chunks.push(chunk);
  }
  return sizeBytes > logoBytesMax ? Buffer.alloc(0) : Buffer.concat(chunks);
}

/** `POST /admin/look/<part>/reset` */
export function resetTheme(part: BrandingPart) {
  return async (page: SignedInRequest): Promise<Reply> => {
    await page.services.branding.reset(part, entryOf(page, "changed_branding", part));
    return page.redirect(`${adminPaths.theme}?done=reset`);
  };
}

type TypedTheme = Partial<Pick<ThemeModel, "name" | "accent" | "style">>;

function renderTheme(page: SignedInRequest, typed: TypedTheme, state: FormState<BrandingPart>): Reply {
  const theme = page.services.branding.theme();
  const model = {
    name: typed.name ?? theme.name ?? "",
    accent: typed.accent ?? theme.accent?.colour ?? productAccent,
    style: typed.style ?? theme.style?.content.toString("utf8") ?? "",
    theme,
    state,
    outcome: page.isGet ? (outcomes.find((name) => name === page.query("done")) ?? null) : null,
  };
  // Without the instance's style sheet: one that hides everything must not hide the button that removes it.
  const view = (context: PageContext) => {
    const preview = renderPage(previewView({ ...context, theme }, true));
    return themeView({ ...model, preview }, { ...context, theme: { ...context.theme, style: undefined } });
  };
  return page.renderPlain(view, {
    status: state.status,
    selfPath: page.isGet ? adminPaths.theme : null,
    keepsTyped: page.isGet,
  });
}

/** What the page says after a change; it is in the query of the address. */
const outcomes = ["saved", "reset"] as const;

interface ThemeModel {
  /** As typed, when a form is sent back. */
  readonly name: string;
  readonly accent: string;
  readonly style: string;
  readonly theme: Theme;
  readonly state: FormState<BrandingPart>;
  readonly outcome: (typeof outcomes)[number] | null;
  /** The HTML of the page that recipients see first, as it looks now. */
  readonly preview: string;
}

function accentText(problem: AccentProblem, { admin, formats }: Messages): string {
  if (problem.reason === "malformed") return admin.badAccent;
  // Rounded down: 4.49 is not enough.
  const contrast = formats.number(Math.floor(problem.contrast * 10) / 10);
  return admin.lightAccent({ contrast, least: formats.number(contrastMin) });
}

function problemText(problem: StyleSheetProblem, { admin }: Messages): string {
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

export function themeView(model: ThemeModel, page: PageContext): Page {
  const { name, accent, style, theme, state, outcome, preview } = model;
  const { problems } = state;
  const { admin, formats } = page.messages;
  const labels = { name: admin.productName, accent: admin.accent, style: admin.style };
  const field = fieldsOf(labels, { name, accent, style }, problems);
  return (
    <AdminFrame
      page={page}
      current="theme"
      lead={admin.themeLead}
      scripts={["theme-preview.js"]}
      asksFirstAt={adminPaths.theme}
    >
      {outcome !== null && (
        <Notice tone="success" icon="check" alert text={outcome === "saved" ? admin.saved : admin.resetDone} />
      )}
      <FormNotices state={state} />
      <div class="stack theme-columns">
        <div class="stack">
          <Part part="name" isSet={theme.name !== undefined}>
            <TextField
              {...field("name")}
              hint={admin.productNameHint({ max: brandNameCharactersMax })}
              placeholder={productName}
              required
            />
          </Part>
          <Part part="logo" isSet={theme.logo !== undefined} multipart>
            {theme.logo !== undefined && <img class="brand-logo" src={brandingHref(theme.logo)} alt={admin.logoNow} />}
            <InputField
              id="logo"
              label={admin.logo}
              hint={admin.logoHint({ size: formats.bytes(logoBytesMax) })}
              problem={problems.logo}
              input={{ type: "file", accept: "image/png,image/jpeg,image/webp,image/gif", required: true }}
            />
          </Part>
          <Part part="accent" isSet={theme.accent !== undefined}>
            <InputField
              {...field("accent")}
              hint={admin.accentHint({ least: formats.number(contrastMin) })}
              input={{ class: "input admin-accent", type: "color", required: true }}
            />
          </Part>
          <Part part="style" isSet={theme.style !== undefined}>
            <TextAreaField
              {...field("style")}
              hint={admin.styleHint}
              rows={12}
              area={{ class: "input admin-style", dir: "ltr", spellcheck: false }}
            />
          </Part>
        </div>
        <LivePreview preview={preview} />
      </div>
    </AdminFrame>
  );
}

/**
 * The current look, and with scripts how the form that was changed last would look (browser/parts/theme-preview.ts). No script
 * runs in the frame, and nothing in it can be pressed or reached by the keyboard.
 */
function LivePreview({ preview }: Pick<ThemeModel, "preview">) {
  const { admin } = useMessages();
  return (
    <section
      class="card theme-preview"
      aria-labelledby="live_preview"
      data-theme-preview
      data-failed={admin.previewFailed}
    >
      <h2 id="live_preview">{admin.preview}</h2>
      <div hidden data-scripted>
        <p>{admin.previewLead}</p>
        <p class="field-problem" role="status" />
      </div>
      <iframe title={admin.preview} sandbox="allow-same-origin" srcDoc={preview} tabIndex={-1} inert />
    </section>
  );
}

/** The page that recipients see first, which nobody can send from here. */
function previewView(context: PageContext, isFramed = false): Page {
  const page = { ...context, user: null, recipientsOnly: true };
  const { admin, step } = page.messages;
  return (
    <Layout page={page} title={admin.preview} width="narrow" isStill={isFramed}>
      {!isFramed && (
        <div data-only-in-tab>
          <Notice tone="info" icon="eye" text={admin.previewText} />
        </div>
      )}
      <div class="card">
        <h1>{step.heading}</h1>
        <p class="lead">{step.viewsLeft({ count: 2 })}</p>
        <TextField id="preview_passphrase" label={step.passphrase} value="" />
        <Button label={step.open} icon="key" look="wide" />
      </div>
    </Layout>
  );
}

interface PartProps {
  readonly part: BrandingPart;
  readonly isSet: boolean;
  readonly multipart?: boolean;
  readonly children: ComponentChildren;
}

/** The form of one part of the theme, with the button that restores Sealpush's own beside it. */
function Part({ part, isSet, multipart = false, children }: PartProps) {
  const { admin } = useMessages();
  const path = `${adminPaths.theme}/${part}`;
  return (
    <section class="card admin-theme">
      <PostForm class="form" action={path} multipart={multipart} id={`${part}_form`}>
        {children}
      </PostForm>
      <div class="page-actions">
        <Submit label={admin.save} form={`${part}_form`} />
        <Submit
          label={admin.preview}
          look="plain"
          form={`${part}_form`}
          formTarget="_blank"
          name={previewField}
          value="1"
          aria-label={admin.previewTab}
        />
        {isSet && <PostButton action={`${path}/reset`} label={admin.reset} look="plain" />}
      </div>
    </section>
  );
}

import type { ComponentChildren } from "preact";
import { nameOf, productName } from "../branding/branding.ts";
import { aboutPath } from "./about/path.ts";
import { accountPath, accountTabPath } from "./account/path.ts";
import type { AssetName } from "./assets.ts";
import { keepsLanguage } from "./language-choice.ts";
import { type PageContext, PageProvider, type PageUser, pageHref, useMessages, usePage, withLocale } from "./page.ts";
import { Button, Submit } from "./parts/buttons.tsx";
import { Icon } from "./parts/icon.tsx";
import { Keys } from "./parts/keys.tsx";
import { LinkCard } from "./parts/link-card.tsx";
import { brandingHref, inlineStyle, prefersDark, styleSheetsOf, Wordmark } from "./parts/logo.tsx";
import { Notice } from "./parts/notice.tsx";
import { PostButton, PostForm } from "./parts/post-form.tsx";
import { AsksFirst } from "./parts/unsent-notice.tsx";
import { newRequestPath } from "./requests/paths.ts";
import { themeChoicePath, themeModes } from "./theme-choice.ts";

export interface LayoutProps {
  readonly page: PageContext;
  /** Without the product's name. Never part of a secret: browsers keep titles in their history. */
  readonly title: string;
  /** The page has no secret address: robots may index it, and browsers can install the site from it. */
  readonly isPublic?: boolean;
  /** A page to which links are sent: chats show a card for it. */
  readonly hasCard?: boolean;
  /** `wide` has room for two columns, `narrow` for one short form or message. */
  readonly width?: "narrow" | "regular" | "wide";
  /** The browser goes to this URL immediately. */
  readonly leadsTo?: string;
  /** Scripts in addition to `page.js`, which every page has. */
  readonly scripts?: readonly AssetName[];
  /** Style sheets in addition to `sealpush.css`, which every page has. */
  readonly styles?: readonly AssetName[];
  /** The page is shown in a frame where no script runs. */
  readonly isStill?: boolean;
  /** The path of this page, for GET. With it, the forms of the page are sent only where the server answers; see AsksFirst. */
  readonly asksFirstAt?: string | undefined;
  readonly children: ComponentChildren;
}

/** The frame of every page, without inline script or style: the content security policy allows none. */
export function Layout({
  page,
  title,
  isPublic = false,
  hasCard = false,
  width = "regular",
  scripts = [],
  styles = [],
  asksFirstAt,
  leadsTo,
  isStill = false,
  children,
}: LayoutProps) {
  const { messages, assetUrl, assetIntegrity, theme, appearance } = page;
  const { themeMode } = appearance;
  return (
    <PageProvider value={page}>
      <html
        lang={messages.locale.tag}
        dir={messages.locale.dir}
        data-locale={messages.locale.formatTag}
        data-account={page.user?.id}
        data-keeps-keys={page.user?.staysSignedIn || undefined}
      >
        <head>
          <meta charset="utf-8" />
          <title>{`${title} · ${nameOf(theme)}`}</title>
          <meta name="viewport" content="width=device-width, initial-scale=1" />
          <meta name="color-scheme" content={themeMode === "auto" ? "light dark" : themeMode} />
          {themeMode !== "light" && <meta name="theme-color" content="#0f1514" media={darkMedia(themeMode)} />}
          {themeMode !== "dark" && <meta name="theme-color" content="#f5f6f3" />}
          <meta name="referrer" content="no-referrer" />
          {leadsTo !== undefined && <meta http-equiv="refresh" content={`0;url=${leadsTo}`} />}
          {hasCard && <LinkCard title={title} />}
          {!isPublic && <meta name="robots" content="noindex, nofollow, noarchive" />}
          {(["sealpush.css", ...(page.user === null ? [] : (["signed-in.css"] as const)), ...styles] as const).map(
            (name) => (
              <link key={name} rel="stylesheet" href={assetUrl(name)} />
            ),
          )}
          {themeMode !== "light" &&
            darkSheetsOf(theme).map((name) => (
              <link key={name} rel="stylesheet" href={assetUrl(name)} media={darkMedia(themeMode)} />
            ))}
          <ThemeStyle theme={theme} />
          {isPublic && !page.recipientsOnly && (
            <>
              <link rel="manifest" href={manifestPath} />
              <link rel="apple-touch-icon" href={assetUrl("icon-180.png")} />
            </>
          )}
          <link rel="icon" href={assetUrl("favicon.svg")} type="image/svg+xml" />
          {(isStill
            ? []
            : ([
                "page.js",
                ...(page.user === null ? [] : (["signed-in.js"] as const)),
                ...(asksFirstAt === undefined ? [] : (["ask-first.js"] as const)),
                ...scripts,
              ] as const)
          ).map((name) => (
            <script key={name} type="module" src={assetUrl(name)} integrity={assetIntegrity(name)} />
          ))}
        </head>
        <body>
          <a class="skip-link" href="#content">
            {messages.nav.skip}
          </a>
          <Header />
          <main id="content" class={`content content-${width}`} tabIndex={-1}>
            <FaultNotices />
            {children}
            {asksFirstAt !== undefined && <AsksFirst at={asksFirstAt} />}
          </main>
          <Footer />
          {page.user !== null && <Keys />}
        </body>
      </html>
    </PageProvider>
  );
}

function ThemeStyle({ theme }: Pick<PageContext, "theme">) {
  const text = inlineStyle(theme);
  const linked = styleSheetsOf(theme).filter(({ filename }) => filename !== undefined);
  return (
    <>
      {linked.map((sheet) => (
        <link key={sheet.filename} rel="stylesheet" href={brandingHref(sheet)} />
      ))}
      {text !== undefined && <style dangerouslySetInnerHTML={{ __html: text }} />}
    </>
  );
}

function darkSheetsOf({ logo }: PageContext["theme"]): readonly AssetName[] {
  return logo === undefined ? ["dark.css"] : ["dark.css", "dark-logo.css"];
}

function darkMedia(themeMode: "auto" | "dark"): string {
  return themeMode === "auto" ? prefersDark : "screen";
}

function Header() {
  const page = usePage();
  return (
    <header class="site-header">
      <div class="site-header-inner">
        {page.recipientsOnly ? (
          <span class="wordmark">
            <Wordmark />
          </span>
        ) : (
          <>
            <a class="wordmark" href={pageHref(page, "/")}>
              <Wordmark />
            </a>
            <Navigation />
          </>
        )}
      </div>
    </header>
  );
}

function Navigation() {
  const page = usePage();
  const { nav, requests } = page.messages;
  const link = (path: string, label: string) => (
    <a href={pageHref(page, path)} aria-current={currentIn(page.selfPath, path)}>
      {label}
    </a>
  );
  if (page.user === null) {
    const signIn = page.signIns && link("/users/sign_in", nav.signIn);
    return page.mayRequest ? (
      <Menu>
        {link("/", nav.newPush)}
        {link(newRequestPath, requests.make)}
        {signIn}
      </Menu>
    ) : (
      <nav class="site-nav" aria-label={nav.main}>
        {link("/", nav.newPush)}
        {signIn}
      </nav>
    );
  }
  return (
    <Menu account={<AccountMenu user={page.user} link={link} />}>
      {link("/", nav.newPush)}
      {link("/p", nav.pushes)}
      {page.mayRequest && link("/requests", requests.heading)}
    </Menu>
  );
}

interface AccountMenuProps {
  readonly user: PageUser;
  readonly link: (path: string, label: string) => ComponentChildren;
}

/** Opens without scripts; they close it (browser/parts/menus.ts). */
function AccountMenu({ user, link }: AccountMenuProps) {
  const page = usePage();
  const { nav, keys, profile } = page.messages;
  const signedInAs = nav.signedInAs({ email: user.email });
  return (
    <details class="menu account-menu" name="menu">
      <summary class="button button-small" title={signedInAs}>
        <Icon name="user" />
        <span class="account-address" dir="ltr">
          {user.email}
        </span>
        <Icon name="down" />
      </summary>
      <div class="site-nav">
        <p class="account-who field-hint">{signedInAs}</p>
        {link(accountPath, nav.account)}
        {page.passwords && link(accountTabPath("access"), profile.password.heading)}
        {link("/users/token", nav.apiTokens)}
        {user.admin && link("/admin", nav.administration)}
        <Button label={keys.heading} look="link" hidden data-scripted data-shows-keys />
        <PostButton action="/users/sign_out" label={nav.signOut} look="link" />
      </div>
    </details>
  );
}

/** For more links than fit into one row of a narrow screen: there they are in a menu. */
function Menu({ account, children }: { readonly account?: ComponentChildren; readonly children: ComponentChildren }) {
  const { nav } = useMessages();
  return (
    <nav class="site-menus" aria-label={nav.main}>
      <details class="menu site-menu" name="menu">
        <summary class="button button-small">{nav.menu}</summary>
        <div class="site-nav">{children}</div>
      </details>
      {account}
    </nav>
  );
}

/** "page": the link leads to this page; "true": to the section that this page belongs to. */
function currentIn(selfPath: string | null, path: string): "page" | "true" | undefined {
  const [current = ""] = selfPath?.split("?") ?? [];
  if (current === path) return "page";
  return path !== "/" && current.startsWith(`${path}/`) ? "true" : undefined;
}

function FaultNotices() {
  const { faults, messages } = usePage();
  const { trustProxy, noAccountEmails = false, mailServer } = faults;
  return (
    <>
      {trustProxy !== undefined && (
        <Notice tone="warning" icon="alert">
          <p>{messages.faults.untrustedProxy}</p>
          <p>
            <code>{trustProxy}</code>
          </p>
        </Notice>
      )}
      {noAccountEmails && <Notice tone="warning" icon="alert" text={messages.faults.noAccountEmails} />}
      {mailServer !== undefined && (
        <Notice tone="warning" icon="alert">
          <p>{messages.faults.mailServer}</p>
          <p lang="en" dir="ltr">
            {mailServer}
          </p>
        </Notice>
      )}
    </>
  );
}

function Footer() {
  const page = usePage();
  const { about, footer, locale } = page.messages;
  const { selfPath } = page;
  const { disclaimer, showsFooterMenu, showsVersion } = page.appearance;
  return (
    <footer class="site-footer">
      <div class="site-footer-inner">
        <p class="site-promise">{footer.promise}</p>
        {disclaimer !== undefined && (
          <p class="site-disclaimer" dir="auto">
            {disclaimer}
          </p>
        )}
        {showsVersion && <span>{`${productName} ${page.version}`}</span>}
        {showsFooterMenu && <a href={pageHref(page, aboutPath)}>{about.title}</a>}
        {showsFooterMenu && !page.recipientsOnly && <a href={pageHref(page, "/help/api")}>{footer.apiDocs}</a>}
        {/* A form without a script: the server renders the chosen colours, so that no page flashes in others first. */}
        {showsFooterMenu && !page.recipientsOnly && selfPath !== null && (
          <PostForm action={themeChoicePath} class="theme-switch">
            <fieldset data-theme-switch>
              <legend class="visually-hidden">{footer.theme}</legend>
              <input type="hidden" name="next" value={selfPath} />
              {themeModes.map((mode) => (
                <Submit
                  label={footer.themes[mode]}
                  look="link"
                  key={mode}
                  name="theme"
                  value={mode}
                  aria-pressed={mode === page.appearance.themeMode}
                />
              ))}
            </fieldset>
          </PostForm>
        )}
        {showsFooterMenu && selfPath !== null && (
          <nav aria-label={footer.language}>
            <ul class="language-list">
              {page.languages.map(({ locale: { tag, name, dir } }) => (
                <li key={tag}>
                  <a
                    href={`${withLocale(selfPath, tag)}&${keepsLanguage}`}
                    lang={tag}
                    hreflang={tag}
                    dir={dir}
                    aria-current={tag === locale.tag ? "true" : undefined}
                  >
                    {name}
                  </a>
                </li>
              ))}
            </ul>
          </nav>
        )}
      </div>
    </footer>
  );
}

export const manifestPath = "/manifest.webmanifest";

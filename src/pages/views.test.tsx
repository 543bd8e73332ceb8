import { describe, expect, it } from "vitest";
import { adminPages } from "../../test/support/admin-pages.ts";
import { messagesIn } from "../../test/support/messages.ts";
import { ownerPages } from "../../test/support/owner-pages.ts";
import { loadValid } from "../../test/support/settings.ts";
import { signInPages } from "../../test/support/sign-in-pages.ts";
import type { ApiToken } from "../accounts/accounts.ts";
import { type KindName, kindNames } from "../base/push-kinds.ts";
import { en, languages, type Messages } from "../i18n/i18n.ts";
import { noRules } from "../policies/policies.ts";
import { adminSections } from "./admin/routes.ts";
import { serviceTokensView } from "./admin/service-tokens.tsx";
import type { CreatedModel } from "./created/model.ts";
import { createdView } from "./created/view.tsx";
import { deletedView } from "./deleted.tsx";
import { failureView } from "./failure.tsx";
import { goneView, oldFileView } from "./gone.tsx";
import { type NewPushForm, type NewPushModel, newPushView } from "./new-push/view.tsx";
import type { PageContext } from "./page.ts";
import { type Page, renderPage } from "./page.ts";
import { presetsView } from "./presets/presets.tsx";
import { typedFrom } from "./presets/typed-preset.ts";
import { type PushValues, valuesOf } from "./push-form/fields.tsx";
import { formLimits, type PushForm } from "./push-form/form.ts";
import { robotView } from "./robot.tsx";
import type { SecretModel, StepModel } from "./secret/model.ts";
import { stepView } from "./secret/step-view.tsx";
import { secretView } from "./secret/view.tsx";
import { breakGlassView } from "./single-sign-on/break-glass.tsx";
import {
  codeView,
  confirmLinkView,
  leaveView,
  problemView,
  signOnSettingsView,
  signOnView,
} from "./single-sign-on/views.tsx";
import { untouched } from "./take-form.ts";
import { tokensView } from "./tokens/tokens.tsx";

const { config } = loadValid({ PWP__PW__DELETABLE_PUSHES_DEFAULT: "false" });
const ar = messagesIn("ar");

const hostile = `"><script>alert('1')</script><b style="x" onclick="y">&amp;`;
const expiresAt = Date.UTC(2027, 2, 3, 14, 5);

function contextOf(messages: Messages, more: Partial<PageContext> = {}): PageContext {
  const assetUrl = (name: string) => `/assets/${name}`;
  return {
    messages,
    languages,
    localeAsked: true,
    selfPath: "/",
    user: { id: 7, email: hostile, admin: false, staysSignedIn: false },
    formToken: "form-token",
    faults: {},
    adminSections,
    baseUrl: "https://push.example.com",
    recipientsOnly: false,
    mayRequest: false,
    signIns: true,
    passwords: true,
    theme: { name: undefined, logo: undefined, accent: undefined, style: undefined },
    appearance: {
      tagline: hostile,
      disclaimer: hostile,
      logo: { light: undefined, dark: undefined },
      showsFooterMenu: true,
      showsVersion: true,
      themeMode: "auto",
    },
    version: "0.0.0-test",
    assetUrl,
    assetIntegrity: (name) => `sha384-${name}`,
    ...more,
  };
}

const emptyForm: PushForm = {
  kind: "text",
  settings: config.kinds.text,
  policy: noRules,
  limits: formLimits("text", config),
  generator: config.generator,
  senderShown: true,
  mails: { links: true, sender: hostile, viewsTo: hostile, viewsAfterConfirmation: true },
  takesFiles: true,
  edited: null,
  removedFileIds: [],
  filesLost: false,
  locale: "en",
};

const hostilePreset = {
  ...{ name: hostile, from: "group" as const, group: hostile, isDefault: true, revision: 1 },
  settings: { fields: [{ label: hostile, type: "secret" }], expireAfterViews: 2 },
} as const;

function newPush(kind: KindName, more: Partial<NewPushForm> = {}, mayAttachFiles = true): NewPushModel {
  const form = {
    ...emptyForm,
    others: [],
    kind,
    values: valuesOf(emptyForm),
    problems: {},
    state: { refusal: null, reason: "unsealed" as const },
    remember: false,
    account: null,
    hiddenFields: [],
    idempotencyKey: null,
    ...more,
  };
  return {
    form,
    kinds: kindNames,
    mayAttachFiles,
    mayCreateWithoutAccount: true,
    sealedByDefault: true,
    hidesKinds: true,
    hasFieldEditor: true,
    presets: { all: [hostilePreset], shown: hostilePreset },
    formOf: () => emptyForm,
  };
}

/** Hostile text in every field that has text, and every box ticked. */
const hostileValues = Object.fromEntries(
  Object.entries(valuesOf(emptyForm)).map(([name, value]) => [name, typeof value === "string" ? hostile : true]),
) as PushValues;

const created: CreatedModel = {
  link: `https://push.example/p/abc?${hostile}`,
  previewPath: `/p/${hostile}/preview`,
  recipientTag: "ar",
  labels: { name: `-----BEGIN AGE ENCRYPTED FILE-----${hostile}`, note: hostile },
  viewsRemaining: 2,
  expiresAt,
  nowMs: expiresAt - 1,
  passphraseRequired: true,
  hasStep: true,
  deletableByViewer: true,
  endToEnd: null,
  deletePath: `/p/${hostile}/expire`,
  kind: "text",
  owned: {
    openedText: hostile,
    openedPath: `/p/${hostile}/preview/opened`,
    delivery: {
      recipients: hostile,
      locale: "de",
      status: "pending",
      successfulSends: null,
      proceedAt: null,
      errorMessage: null,
    },
    auditPath: `/p/${hostile}/audit`,
    editPath: `/p/${hostile}/edit`,
    anotherPath: `/p/${hostile}/another`,
  },
  mailForm: {
    path: `/p/${hostile}/notify_emails`,
    mailDomains: null,
    limits: { recipientsMax: 5 },
    recipients: hostile,
    locale: hostile,
    state: { ...untouched, status: 422, refusal: hostile, problems: { recipients: hostile } },
    isSent: true,
  },
};

const endToEnd = { underPassphrase: true, check: hostile };

const step: StepModel = {
  action: `/p/${hostile}`,
  idempotencyKey: hostile,
  retrySeconds: 60,
  passphraseRequired: true,
  refusal: { reason: "wrong" },
  viewsRemaining: 1,
  expiresAt,
  viewer: "owner",
  sender: hostile,
  endToEnd: null,
  auditPath: `/p/${hostile}/audit`,
};

function secret(kind: KindName, more: Partial<SecretModel> = {}): SecretModel {
  const files = [{ filename: hostile, sizeBytes: 812, href: `/files/${hostile}`, viewHref: `/files/${hostile}/view` }];
  const common = {
    endToEnd: null,
    ticketTtlSeconds: 900,
    zipHref: `/files/zip/${hostile}`,
    viewsRemaining: 3,
    expiresAt,
    viewer: "recipient" as const,
    sender: hostile,
    earlierViews: { count: 2, lastAt: expiresAt },
    repeated: true,
    deletePath: `/p/${hostile}`,
  };
  return { kind, payload: hostile, fields: null, files, blur: true, ...common, ...more };
}

function signOnPages(text: string, page: PageContext): readonly Page[] {
  const problems = ["denied", "invalid", "no_account", "linked_elsewhere", "unreachable"] as const;
  const refusals = ["unverified_email", "domain", "guest", "unknown_groups", "not_in_group", "not_fresh"] as const;
  const proofs = ["password", "sign_in", "consent", "mailed"] as const;
  return [
    leaveView({ provider: text, url: `https://id.example.com/${text}` }, page),
    ...problems.map((problem) => problemView({ problem, provider: text, only: problem === "denied" }, page)),
    ...refusals.map((because) =>
      problemView({ problem: { because, claim: text, value: text }, provider: text, only: true }, page),
    ),
    codeView({ provider: text, email: text, state: { ...untouched, problems: { code: text } } }, page),
    signOnView({ provider: text, next: text, signedOut: true, idleSeconds: 60 }, page),
    breakGlassView({ email: text, token: text, sendsEmail: true }, page),
    breakGlassView(null, page),
    ...proofs.flatMap((by) =>
      [true, false].map((mails) =>
        confirmLinkView(
          {
            provider: text,
            link: { accountEmail: text, providerEmail: text, by, mails },
            state: { ...untouched, problems: { password: text } },
            mailed: text,
            isMailed: mails,
            only: mails,
          },
          page,
        ),
      ),
    ),
    ...[true, false].map((hasPassword) =>
      signOnSettingsView(
        {
          provider: text,
          linkedAt: [expiresAt],
          hasPassword,
          only: hasPassword,
          isProved: hasPassword,
          next: text,
          state: { ...untouched, problems: { password: text } },
        },
        page,
      ),
    ),
  ];
}

const hostileFields = (["text", "secret", "otp"] as const).map((type) => ({
  label: `${type} ${hostile}`,
  value: hostile,
  type,
}));

const token: ApiToken = {
  id: 1,
  name: hostile,
  scopes: ["read"],
  expiresAt,
  networks: [hostile],
  createdAt: expiresAt,
  lastUsedAt: expiresAt,
  lastUsedAddress: hostile,
  revokedAt: null,
};
const tokenForm = { name: hostile, scopes: [], expiresInDays: hostile, networks: hostile };
const tokenProblems = { name: hostile, scopes: hostile, expiresInDays: hostile, networks: hostile };
const tokens = {
  form: tokenForm,
  state: { ...untouched, problems: tokenProblems, refusal: hostile },
  proof: { password: true, code: true, passkey: true },
  made: { name: hostile, token: hostile },
  tokens: [token, { ...token, id: 2, expiresAt: 1 }],
  now: 1,
  page: 2,
  hasMore: true,
};
const group = { id: 1, name: hostile, claim: hostile, sharesActivity: true };

/** Every view with hostile text in every field that takes text. */
function allPages(page: PageContext): readonly Page[] {
  return [
    ...kindNames.map((kind) =>
      newPushView(newPush(kind, { values: hostileValues, problems: { payload: hostile } }), page),
    ),
    newPushView(newPush("file", {}, false), page),
    newPushView(newPush("text", { state: { refusal: page.messages.failure.unavailableText, reason: null } }), page),
    createdView(created, page),
    createdView({ ...created, endToEnd }, page),
    stepView(step, page),
    stepView({ ...step, endToEnd }, page),
    ...(["text", "file"] as const).map((kind) => secretView(secret(kind, { endToEnd }), page)),
    stepView({ ...step, refusal: { reason: "too_many", retryAfterSeconds: 2 }, viewer: "recipient" }, page),
    ...kindNames.map((kind) => secretView(secret(kind), page)),
    secretView(secret("url", { payload: `https://example.com/${hostile}`, viewsRemaining: 0 }), page),
    ...(["text", "file"] as const).map((kind) => secretView(secret(kind, { fields: hostileFields }), page)),
    deletedView(page),
    ...ownerPages(hostile, page),
    ...signOnPages(hostile, page),
    goneView(page),
    oldFileView(page),
    robotView(page),
    ...[400, 403, 404, 408, 413, 429, 500, 503].map((status) =>
      failureView(
        {
          status,
          requestId: hostile,
          retryAfterSeconds: 2,
          keepsTyped: false,
          reloadSends: true,
          mayReload: false,
          lacksFactor: false,
        },
        page,
      ),
    ),
    ...[401, 403, 429].map((status) =>
      failureView(
        {
          status,
          requestId: hostile,
          retryAfterSeconds: 2,
          keepsTyped: true,
          reloadSends: false,
          mayReload: true,
          lacksFactor: true,
        },
        page,
      ),
    ),
    ...(["signed_out", "other_account", "outdated"] as const).map((reason) =>
      newPushView(
        newPush("text", {
          state: { refusal: null, reason },
          account: hostile,
          hiddenFields: [{ name: hostile, value: hostile }],
        }),
        page,
      ),
    ),
    ...signInPages(hostile, page),
    ...adminPages(hostile, page),
    ...[undefined, null, hostile].map((owner) =>
      presetsView(
        {
          target: { scope: "instance", path: "/admin/presets", group: owner },
          presets: [hostilePreset],
          typed: typedFrom(hostilePreset),
          state: { ...untouched, problems: { name: hostile, fields: hostile } },
        },
        page,
      ),
    ),
    tokensView({ ...tokens, path: "/users/token", isService: false }, page),
    serviceTokensView(
      { ...tokens, path: "/admin/groups/1/tokens", isService: true, group, createsNothing: true },
      page,
    ),
  ];
}

const tokenShape = /<(\/?)([a-z0-9-]+)((?:"[^"]*"|[^">])*?)(\/?)>|[^<]+/g;
const voidElements = /^(?:input|meta|link|img|br|hr|source|path|circle|rect|use|wbr)$/;
/** Browsers lay out the text of a page's title and of an option on its own. */
const aloneElements = /^(?:bdi|title|option|script|style)$/;
/** Sentences of the server, in whose place these views have the text of people. */
const ownSentences = /^<p(?: class="field-problem" id="[^"]*"| role="status" data-opened="[^"]*")?>$/;

/**
 * The texts of people that could reorder the text around them: neither in an element with a direction of its own nor between the
 * characters that isolate. Each with the tag before it.
 */
function unisolatedTexts(html: string): readonly string[] {
  const open: { readonly name: string; readonly isolates: boolean }[] = [];
  const found: string[] = [];
  let tag = "";
  for (const [token, closing, name, attributes = "", selfClosing] of html.matchAll(tokenShape)) {
    if (name === undefined) {
      const isIsolated = open.some(({ isolates }) => isolates) || /\u2068[^\u2069]*alert\('1'\)/.test(token);
      if (token.includes("alert('1')") && !isIsolated && !ownSentences.test(tag)) found.push(`${tag}${token}`);
      continue;
    }
    tag = token;
    if (closing === "/") open.splice(open.findLastIndex((element) => element.name === name));
    else if (selfClosing === "" && !voidElements.test(name)) {
      open.push({ name, isolates: name !== "html" && (aloneElements.test(name) || /\sdir="/.test(attributes)) });
    }
  }
  return found;
}

describe.each(languages.map((messages) => [messages.locale.tag, messages] as const))(
  "every view in %s",
  (tag, messages) => {
    const documents = allPages(contextOf(messages)).map(renderPage);

    it("names its language and direction", () => {
      const { dir, formatTag } = messages.locale;
      const opening = `<!doctype html><html lang="${tag}" dir="${dir}" data-locale="${formatTag}"`;
      for (const html of documents) expect(html.startsWith(opening)).toBe(true);
    });

    it("isolates every text of people from the text around it", () => {
      expect(messages.locale.dir === "rtl" ? documents.flatMap(unisolatedTexts) : []).toEqual([]);
    });

    it("has no inline script, style or event handler, with any field values", () => {
      for (const html of documents) {
        const tags = html.match(/<[^>]*>/g) ?? [];
        const scripts = tags.filter((each) => each.startsWith("<script"));
        const loaded = /^<script type="module" src="\/assets\/([a-z-]+\.js)" integrity="sha384-\1">$/;
        expect(scripts.every((each) => loaded.test(each))).toBe(true);
        expect(html).not.toMatch(/<script[^>]*>[^<]/);
        const attributes = tags.map((each) => each.replace(/"[^"]*"/g, '""'));
        expect(attributes.filter((each) => /^<style|\sstyle=|\son[a-z]+=|javascript:/i.test(each))).toEqual([]);
      }
    });

    it("loads nothing from other origins and sends no referrer", () => {
      for (const html of documents) {
        expect(html).toContain('<meta name="referrer" content="no-referrer"/>');
        expect(html.match(/(?:src|srcset)="(?!\/assets\/)[^"]*"/g)).toBeNull();
      }
    });

    it("uses every id once and refers only to ids that exist", () => {
      for (const html of documents) {
        const ids = [...html.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id);
        expect(new Set(ids).size).toBe(ids.length);
        const targets = [...html.matchAll(/\s(?:for|aria-describedby|aria-labelledby)="([^"]+)"/g)].flatMap(
          ([, list]) => (list ?? "").split(" "),
        );
        expect(targets.filter((id) => !ids.includes(id))).toEqual([]);
      }
    });
  },
);

describe("a secret link's page", () => {
  it("is kept out of every index", () => {
    for (const page of [
      stepView(step, contextOf(en)),
      secretView(secret("text"), contextOf(en)),
      goneView(contextOf(en)),
    ]) {
      expect(renderPage(page)).toContain('<meta name="robots" content="noindex, nofollow, noarchive"/>');
    }
  });

  it("is the same for every missing push", () => {
    const render = (selfPath: string | null) => renderPage(goneView(contextOf(en, { selfPath })));
    expect(render("/p/first")).toBe(render(null));
  });

  it("offers no change of language once the secret is shown", () => {
    const html = renderPage(secretView(secret("text"), contextOf(en, { selfPath: "/p/abc" })));
    expect(html).not.toContain("/p/abc?locale=");
  });

  it("links to nothing but http and https", () => {
    for (const payload of ["javascript:alert(1)", " javascript:alert(1)", "data:text/html,x", "not an address"]) {
      const html = renderPage(secretView(secret("url", { payload, files: [] }), contextOf(en)));
      expect(html).not.toMatch(/<a[^>]*href="\s*(?:javascript|data):/i);
      expect(html).not.toContain('class="destination"');
    }
  });

  it("shows an internationalised host name in the form that browsers request", () => {
    const html = renderPage(secretView(secret("url", { payload: "https://еxample.com/", files: [] }), contextOf(en)));
    expect(html).toContain("xn--xample-2of.com");
  });

  it("has the fields as one text to copy, too", () => {
    const fields = [{ label: "User", value: hostile, type: "text" as const }];
    const page = renderPage(secretView(secret("text", { fields, files: [] }), contextOf(en)));
    expect(page).toContain('data-copy="payload"');
    expect(page).toContain('<pre id="payload"');
  });

  it("shows when no view is left", () => {
    const last = { viewsRemaining: 0, files: [] };
    const page = renderPage(secretView(secret("text", { ...last, repeated: false }), contextOf(en)));
    expect(page).toContain(en.secret.lastView);
    expect(renderPage(secretView(secret("text", last), contextOf(en)))).toContain(en.secret.lastViewAgain);
  });

  it("still shows a text that no QR code can hold", () => {
    const payload = "😀".repeat(1_000);
    const html = renderPage(secretView(secret("qr", { payload }), contextOf(en)));
    expect(html).toContain(en.secret.qrTooLong);
    expect(html).toContain(payload);
  });
});

describe("the page of a refused request", () => {
  const shown = (status: number) => {
    const model = {
      status,
      requestId: "1",
      retryAfterSeconds: 1,
      keepsTyped: false,
      reloadSends: false,
      mayReload: false,
      lacksFactor: false,
    };
    return renderPage(failureView(model, contextOf(en)));
  };

  it("does not blame what was entered if the connection was too slow", () => {
    expect(shown(408)).toContain(en.failure.tooSlowText);
    expect(shown(400)).toContain(en.failure.badRequestText);
  });
});

describe("the form", () => {
  it("sends unchecked boxes too", () => {
    const html = renderPage(newPushView(newPush("text"), contextOf(en)));
    expect(html).toMatch(/type="hidden" name="push\[retrieval_step\]" value="0"\/><input type="checkbox"[^>]* checked/);
    expect(html).toMatch(
      /type="hidden" name="push\[deletable_by_viewer\]" value="0"\/><input type="checkbox"(?![^>]*checked)/,
    );
  });

  it("offers labels only to signed-in users, who can see them later", () => {
    const render = (user: PageContext["user"]) => renderPage(newPushView(newPush("text"), contextOf(en, { user })));
    expect(render(null)).not.toContain("push[note]");
    expect(render({ id: 7, email: "ada@example.com", admin: false, staysSignedIn: false })).toContain("push[note]");
  });

  it("keeps a first line end that a parser would drop", () => {
    const values = { ...valuesOf(emptyForm), payload: "\nkey" };
    expect(renderPage(newPushView(newPush("text", { values }), contextOf(en)))).toContain(">\n\nkey</textarea>");
  });

  it("connects each problem with its field and lists all problems first", () => {
    const problems = { expireAfterDays: "From 1 to 90." };
    const html = renderPage(newPushView(newPush("text", { problems }), contextOf(en)));
    expect(html).toContain('<a href="#push_expire_after_days">Days: From 1 to 90.</a>');
    expect(html).toContain('aria-describedby="push_expire_after_days_hint push_expire_after_days_problem"');
  });
});

describe("the new link's page", () => {
  it("writes link and message for the recipient's language", () => {
    const html = renderPage(createdView({ ...created, link: "https://push.example/p/abc/r" }, contextOf(en)));
    expect(html).toContain('value="https://push.example/p/abc/r?locale=ar"');
    expect(html).toContain(`${ar.created.messageIntro}\n\nhttps://push.example/p/abc/r?locale=ar\n\n`);
  });
});

import { type ComponentChild, type CSSProperties, h } from "preact";
import { renderToString } from "preact-render-to-string";
import type { Messages } from "../i18n/i18n.ts";

/** What stands in a mail, in order, before it becomes text or HTML. Nothing in it is markup. */
export interface Composition {
  readonly messages: Messages;
  readonly heading: string;
  readonly paragraphs: readonly string[];
  /** Names and values. */
  readonly facts: readonly (readonly [string, string])[];
  readonly action: { readonly label: string; readonly url: string; readonly note: string | undefined } | undefined;
  readonly afterAction: readonly string[];
  readonly footer: string;
}

/** Programs that show mails know few of the rules that browsers know, and drop style sheets: each element has its own. */
const style = {
  body: { margin: 0, padding: "24px 12px", backgroundColor: "#f5f6f3", color: "#16201d" },
  card: {
    maxWidth: "560px",
    margin: "0 auto",
    padding: "28px 24px",
    backgroundColor: "#ffffff",
    border: "1px solid #dadfda",
    borderRadius: "10px",
    fontFamily: "system-ui, -apple-system, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif",
    fontSize: "16px",
    lineHeight: "1.55",
  },
  heading: { margin: "0 0 16px", fontSize: "22px", lineHeight: "1.3" },
  paragraph: { margin: "0 0 16px" },
  facts: { margin: "0 0 20px", fontSize: "15px", borderCollapse: "collapse" },
  name: {
    padding: "3px 0",
    paddingInlineEnd: "16px",
    color: "#55605c",
    textAlign: "start",
    verticalAlign: "top",
    fontWeight: "normal",
  },
  value: { padding: "3px 0", verticalAlign: "top", overflowWrap: "anywhere" },
  button: {
    display: "inline-block",
    padding: "12px 22px",
    backgroundColor: "#0e5c4a",
    color: "#ffffff",
    borderRadius: "8px",
    fontWeight: "600",
    textDecoration: "none",
  },
  small: { margin: "0 0 16px", fontSize: "14px", color: "#55605c" },
  link: { color: "#0e5c4a", overflowWrap: "anywhere" },
  footer: {
    maxWidth: "560px",
    margin: "16px auto 0",
    fontSize: "13px",
    color: "#55605c",
    textAlign: "center",
    fontFamily: "system-ui, sans-serif",
  },
} as const satisfies Record<string, CSSProperties>;

/**
 * Nothing in it is fetched from anywhere: no image, no style sheet, nothing that tells that the mail was opened. Written
 * without JSX, because the domain and its commands also run from their sources, which Node reads without a build.
 */
export function renderHtml({ messages, heading, paragraphs, facts, action, afterAction, footer }: Composition): string {
  const { tag, dir } = messages.locale;
  const head = h("head", null, [
    h("meta", { charset: "utf-8" }),
    h("meta", { name: "viewport", content: "width=device-width" }),
    h("meta", { name: "format-detection", content: "telephone=no, date=no, address=no, email=no" }),
    h("title", null, heading),
  ]);
  // Many programs show the body alone: what the text is written in must stand there too.
  const card = h("div", { lang: tag, dir, style: style.card }, [
    h("h1", { style: style.heading }, heading),
    ...paragraphs.map(paragraph),
    ...(facts.length === 0 ? [] : [factsTable(facts)]),
    ...(action === undefined ? [] : actionParagraphs(action, messages.mail.byHand)),
    ...afterAction.map(paragraph),
  ]);
  const body = h("body", { style: style.body }, [card, h("p", { lang: tag, dir, style: style.footer }, footer)]);
  return `<!doctype html>${renderToString(h("html", { lang: tag, dir }, [head, body]))}`;
}

function paragraph(text: string): ComponentChild {
  return h("p", { style: style.paragraph }, text);
}

function factsTable(facts: Composition["facts"]): ComponentChild {
  const rows = facts.map(([name, value]) =>
    h("tr", null, [
      h("th", { scope: "row", style: style.name }, name),
      h("td", { style: style.value }, h("bdi", null, value)),
    ]),
  );
  return h("table", { style: style.facts }, h("tbody", null, rows));
}

function actionParagraphs(
  { label, url, note }: NonNullable<Composition["action"]>,
  byHand: string,
): readonly ComponentChild[] {
  return [
    h("p", { style: style.paragraph }, h("a", { href: url, style: style.button }, label)),
    h("p", { style: style.small }, [
      note === undefined ? "" : `${note} `,
      `${byHand} `,
      h("a", { href: url, dir: "ltr", style: style.link }, url),
    ]),
  ];
}

/** The same in plain text, links on lines of their own. */
export function renderText({ heading, paragraphs, facts, action, afterAction, footer }: Composition): string {
  const blocks = [
    heading,
    ...paragraphs,
    facts.map(([name, value]) => `${name}: ${value}`).join("\n"),
    action === undefined ? "" : `${action.label}:\n${action.url}`,
    action?.note ?? "",
    ...afterAction,
    `-- \n${footer}`,
  ];
  return `${blocks.filter((block) => block !== "").join("\n\n")}\n`;
}

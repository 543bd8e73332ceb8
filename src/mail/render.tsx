import type { ComponentChildren, CSSProperties } from "preact";
import { renderToString } from "preact-render-to-string";
import type { Composition } from "./compose.ts";

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

/** Nothing in it is fetched from anywhere: no image, no style sheet, nothing that tells that the mail was opened. */
export function renderHtml(composition: Composition): string {
  const { words, heading, paragraphs, facts, action, afterAction, footer } = composition;
  const { tag, dir } = words.locale;
  const html = renderToString(
    <html lang={tag} dir={dir}>
      <head>
        <meta charSet="utf-8" />
        <meta name="viewport" content="width=device-width" />
        <meta name="format-detection" content="telephone=no, date=no, address=no, email=no" />
        <title>{heading}</title>
      </head>
      <body style={style.body}>
        <div lang={tag} dir={dir} style={style.card}>
          <h1 style={style.heading}>{heading}</h1>
          {paragraphs.map((paragraph) => (
            <p style={style.paragraph}>{paragraph}</p>
          ))}
          <Facts facts={facts} />
          {action !== undefined && (
            <Action label={action.label} url={action.url} note={action.note} byHand={words.mail.byHand} />
          )}
          {afterAction.map((paragraph) => (
            <p style={style.paragraph}>{paragraph}</p>
          ))}
        </div>
        <p dir={dir} style={style.footer}>
          {footer}
        </p>
      </body>
    </html>,
  );
  return `<!doctype html>${html}`;
}

function Facts({ facts }: Pick<Composition, "facts">) {
  if (facts.length === 0) return null;
  return (
    <table style={style.facts}>
      <tbody>
        {facts.map(([name, value]) => (
          <tr>
            <th scope="row" style={style.name}>
              {name}
            </th>
            <td style={style.value}>
              <bdi>{value}</bdi>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Action(props: { label: string; url: string; note: string | undefined; byHand: string }): ComponentChildren {
  const { label, url, note, byHand } = props;
  return (
    <>
      <p style={style.paragraph}>
        <a href={url} style={style.button}>
          {label}
        </a>
      </p>
      <p style={style.small}>
        {note !== undefined && `${note} `}
        {byHand}{" "}
        <a href={url} dir="ltr" style={style.link}>
          {url}
        </a>
      </p>
    </>
  );
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

/** Addresses with other schemes, and those of other hosts without a scheme, stay text. */
const allowedAddress = /^(?:https?:\/\/|mailto:|#|\/(?!\/))/i;
/** The page has a heading of the first level. */
const firstLevel = 2;

/**
 * @returns HTML with the elements of Markdown alone. HTML in the text is shown as text. There are no pictures: the request
 * for one could count a view, or reveal to another server who reads the page.
 */
export async function renderMarkdown(text: string): Promise<string> {
  // Only instances with a text of their own need it.
  const { default: MarkdownIt } = await import("markdown-it");
  const markdown = new MarkdownIt("commonmark", { html: false }).disable("image");
  markdown.validateLink = (address) => allowedAddress.test(address);
  const tokens = markdown.parse(text, {});
  const headings = tokens.filter(({ type }) => type === "heading_open" || type === "heading_close");
  const levelOf = ({ tag }: { readonly tag: string }) => Number(tag.slice(1));
  const raise = firstLevel - Math.min(...headings.map(levelOf));
  for (const heading of headings) heading.tag = `h${Math.min(6, levelOf(heading) + raise)}`;
  for (const token of tokens.flatMap(({ children }) => children ?? [])) {
    if (token.type === "link_open") token.attrSet("rel", "noopener noreferrer");
  }
  return markdown.renderer.render(tokens, markdown.options, {});
}

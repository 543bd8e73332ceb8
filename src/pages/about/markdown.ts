/** Addresses with other schemes, and those of other hosts without a scheme, stay text. */
const allowedAddress = /^(?:https?:\/\/|mailto:|#|\/(?!\/))/i;
/** The page has the heading of the level above. */
const firstLevel = 2;

/**
 * Levels of headings that the text skips are closed: people who use screen readers move by them.
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
  const tags = [...new Set(headings.map(({ tag }) => tag))].sort();
  let level = firstLevel - 1;
  for (const heading of headings) {
    if (heading.type === "heading_open") level = Math.min(level + 1, firstLevel + tags.indexOf(heading.tag), 6);
    heading.tag = `h${level}`;
  }
  for (const token of tokens.flatMap(({ children }) => children ?? [])) {
    if (token.type === "link_open") token.attrSet("rel", "noopener noreferrer");
  }
  return markdown.renderer.render(tokens, markdown.options, {});
}

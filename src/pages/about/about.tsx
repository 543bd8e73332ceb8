import { nameOf } from "../../branding/branding.ts";
import { Layout } from "../layout.tsx";
import type { Page, PageContext } from "../page.ts";
import { PageHeading } from "../parts/card.tsx";
import type { PageRequest, Reply } from "../request.ts";
import { aboutPath } from "./path.ts";

/** `GET /about` */
export function showAbout(page: PageRequest): Reply {
  return page.render(aboutView, page.services.aboutHtml, { selfPath: aboutPath, compressible: true });
}

/** @param html from `renderMarkdown`, which escapes everything in the operator's text but the elements of Markdown; undefined: the page explains the service. */
export function aboutView(html: string | undefined, page: PageContext): Page {
  const { about, step } = page.messages;
  return (
    <Layout page={page} title={about.title} styles={["about.css"]} isPublic>
      <PageHeading heading={about.title} />
      {html === undefined ? (
        <div class="card operator-text">
          <p>{about.service.parts({ name: <bdi key="name">{nameOf(page.theme)}</bdi> })}</p>
          <p>{step.aboutEnd}</p>
        </div>
      ) : (
        <div class="card operator-text" dir="auto" dangerouslySetInnerHTML={{ __html: html }} />
      )}
    </Layout>
  );
}

import { Fragment } from "preact";
import type { ApiReference, ReferenceEndpoint, ReferenceField } from "../../http/api-reference.ts";
import { Layout } from "../layout.tsx";
import { type Page, type PageContext, pageHref } from "../page.ts";
import { Card } from "../parts/card.tsx";
import type { PageRequest, Reply } from "../request.ts";

/** `GET /help/api`: the reference of API v2. */
export function showApiHelp(page: PageRequest): Reply {
  const { baseUrl, services } = page;
  return page.render(
    apiHelpView,
    { version: "v2", reference: services.apiReference.v2, baseUrl },
    { selfPath: "/help/api", compressible: true },
  );
}

/** `GET /api`: the reference of API v1. As under every API path, cookies are ignored, so the page offers no sign-in. */
export function showApiV1Help(page: PageRequest): Reply {
  const { baseUrl, services } = page;
  const model = { version: "v1", reference: services.apiReference.v1, baseUrl } as const;
  return page.renderPlain((context) => apiHelpView(model, { ...context, signIns: false }), {
    selfPath: "/api",
    compressible: true,
  });
}

interface ApiHelpModel {
  readonly version: "v1" | "v2";
  readonly reference: ApiReference;
  /** Origin of the examples. */
  readonly baseUrl: string;
}

const examples = {
  v2: { path: "/api/v2/pushes", wrapper: "push" },
  v1: { path: "/p.json", wrapper: "password" },
} as const;

/** For secret scanners; `docs/operations.md` documents the same pattern. */
const tokenPattern = "(?<![A-Za-z0-9_-])sp_[A-Za-z0-9_-]{43}(?![A-Za-z0-9_-])";

/** The reference comes from the API's own description, which is English in every language of the page. */
function apiHelpView({ version, reference, baseUrl }: ApiHelpModel, page: PageContext): Page {
  return (
    <Layout page={page} title={page.messages.footer.apiDocs} width="wide" styles={["api-help.css"]} isPublic>
      <article class="api-reference" lang="en" dir="ltr">
        <div class="page-heading">
          <h1>{reference.title}</h1>
          <p class="lead">{reference.description}</p>
          <p>
            {version === "v2" ? (
              <>
                OpenAPI description: <a href="/api/v2/openapi.json">openapi.json</a>.
              </>
            ) : (
              <>
                API v2 is described at <a href={pageHref(page, "/help/api")}>/help/api</a>.
              </>
            )}{" "}
            Create tokens at <a href="/users/token">/users/token</a>. Send a token as{" "}
            <code>Authorization: Bearer …</code> or as <code>X-User-Token</code>.
            {version === "v2" && (
              <>
                {" "}
                Older clients use API v1, described at <a href={pageHref(page, "/api")}>/api</a>.
              </>
            )}
          </p>
        </div>
        <Scopes />
        <Example version={version} baseUrl={baseUrl} />
        <nav class="card" aria-label="Endpoints">
          <ul class="api-index">
            {reference.endpoints.map(({ id, method, path, summary }) => (
              <li key={id}>
                <a href={`#${id}`}>
                  <code>
                    {method} {path}
                  </code>
                </a>{" "}
                {summary}
              </li>
            ))}
          </ul>
        </nav>
        {reference.endpoints.map((endpoint) => (
          <Endpoint key={endpoint.id} endpoint={endpoint} />
        ))}
      </article>
    </Layout>
  );
}

function Scopes() {
  return (
    <Card id="scopes" heading="Permissions of a token">
      <p>
        The scope <code>create</code> creates pushes, <code>read</code> lists your pushes and reads their audit trails,
        and <code>expire</code> deletes them. Retrieving a push and its preview needs no scope. A token can also have an
        expiry date and be limited to networks. The answer is 403 and names the scope if it is missing, and 401 if the
        token is unknown, revoked, expired or used from another network.
      </p>
      <p>Secret scanners can recognize a token with this regular expression:</p>
      <pre class="api-code">
        <code>{tokenPattern}</code>
      </pre>
    </Card>
  );
}

function Example({ version, baseUrl }: Pick<ApiHelpModel, "version" | "baseUrl">) {
  const { path, wrapper } = examples[version];
  const lines = [
    `curl -s ${baseUrl}${path} \\`,
    "  -H 'Content-Type: application/json' \\",
    `  -d '{"${wrapper}": {"payload": "correct horse", "expire_after_views": 1}}'`,
  ];
  return (
    <Card id="example" heading="Example">
      <pre class="api-code">
        <code>{lines.join("\n")}</code>
      </pre>
      <p>
        Send the <code>html_url</code> of the answer to the recipient.
      </p>
    </Card>
  );
}

function Endpoint({ endpoint }: { readonly endpoint: ReferenceEndpoint }) {
  const { id, method, path, alsoAt, summary, description, token, scope, parameters, wrapper, fields, answers } =
    endpoint;
  return (
    <Card id={id} heading={summary}>
      <p>
        <code class="api-path">
          {method} {path}
        </code>
      </p>
      {alsoAt.length > 0 && (
        <p>
          Also at{" "}
          {alsoAt.map((other, index) => (
            <Fragment key={other}>
              {index > 0 && " and "}
              <code>{other}</code>
            </Fragment>
          ))}
          .
        </p>
      )}
      <p>{description}</p>
      <p>
        Token: {token}
        {scope !== null && (
          <>
            , with the scope <code>{scope}</code>
          </>
        )}
        .
      </p>
      {parameters.length > 0 && <Fields id={`${id}-parameters`} heading="Parameters" fields={parameters} />}
      {fields.length > 0 && (
        <Fields id={`${id}-fields`} heading={`Fields of ${wrapper ?? "the body"}`} fields={fields} />
      )}
      <h3 id={`${id}-answers`}>Answers</h3>
      <dl class="facts facts-rows">
        {answers.map(({ status, description: meaning, keys }) => (
          <div key={status}>
            <dt>
              <code>{status}</code>
            </dt>
            <dd>
              {meaning}
              {keys !== "" && (
                <>
                  {" "}
                  <code class="field-hint">{keys}</code>
                </>
              )}
            </dd>
          </div>
        ))}
      </dl>
    </Card>
  );
}

function Fields({
  id,
  heading,
  fields,
}: {
  readonly id: string;
  readonly heading: string;
  readonly fields: readonly ReferenceField[];
}) {
  return (
    <>
      <h3 id={id}>{heading}</h3>
      <dl class="facts facts-rows">
        {fields.map(({ name, type, description }) => (
          <div key={name}>
            <dt>
              <code>{name}</code> <span class="api-type field-hint">{type}</span>
            </dt>
            <dd>{description}</dd>
          </div>
        ))}
      </dl>
    </>
  );
}

import type { FastifyRequest } from "fastify";
import { factorsPath, signInPath } from "../http/authentication.ts";
import type { Refusal } from "../http/errors.ts";
import type { Messages } from "../i18n/i18n.ts";
import { MessagePage } from "./message-page.tsx";
import { type Page, type PageContext, type PartProps, pageHref, renderPage, useMessages, usePage } from "./page.ts";
import { HomeButton } from "./parts/buttons.tsx";
import type { IconName } from "./parts/icon.tsx";
import { type LayoutServices, pageContext } from "./request.ts";

/** The page for a refused request. It does not link to its own address, which may be a secret link. */
export function renderFailure(refusal: Refusal, request: FastifyRequest, services: LayoutServices): string {
  return renderPage(failureView(modelOf(refusal, request), pageContext(request, services, null)));
}

type FailureModel = ReturnType<typeof modelOf>;

function modelOf({ status, code, retryAfterSeconds }: Refusal, request: FastifyRequest) {
  const { access, keepsTyped, takesForm } = request.routeOptions.config ?? {};
  // To users who are not administrators, an administrators' page answers as an unknown path does.
  const looksUnknown = access === "page_admin" && status === 404;
  const isKept = keepsTyped === true && !looksUnknown;
  const lacksFactor = code === "factor_required";
  const maySucceed = status === 429 || status === 503 || (takesForm === true && (status === 401 || lacksFactor));
  return {
    status,
    /** The value of X-Request-Id, which identifies the line in the log. */
    requestId: request.id,
    /** For 429: seconds until another try makes sense, at least 1. */
    retryAfterSeconds: Math.max(1, retryAfterSeconds ?? 1),
    /** The request was a form that the Back button shows again as it was. */
    keepsTyped: isKept,
    /**
     * The request was another form, which may succeed later. Its page is not kept for the Back button, and it was not read;
     * but the browser can send it once more, because it keeps what it sent for as long as it shows the answer.
     */
    reloadSends: request.method === "POST" && !isKept && maySucceed,
    /** The request was for a page that may be there later. */
    mayReload: request.method === "GET" && (status === 429 || status === 503),
    /** This server requires a second factor, and the user has none. */
    lacksFactor,
  };
}

interface Explanation {
  readonly icon: IconName;
  readonly heading: string;
  readonly text: string;
}

/** The browser still has what was typed, and the page says how it is sent again. */
const hasTyped = ({ keepsTyped, reloadSends }: FailureModel) => keepsTyped || reloadSends;

function explain(model: FailureModel, { failure }: Messages): Explanation {
  const { status, retryAfterSeconds: count, lacksFactor } = model;
  if (status === 401 && hasTyped(model)) {
    return { icon: "shield", heading: failure.signedOut, text: failure.signedOutText };
  }
  if (status === 403 && lacksFactor) return { icon: "shield", heading: failure.factor, text: failure.factorText };
  const forbidden: Explanation = { icon: "shield", heading: failure.forbidden, text: failure.forbiddenText };
  const explanations: Readonly<Partial<Record<number, Explanation>>> = {
    401: forbidden,
    403: forbidden,
    404: { icon: "alert", heading: failure.notFound, text: failure.notFoundText },
    408: { icon: "clock", heading: failure.tooSlow, text: failure.tooSlowText },
    413: { icon: "file", heading: failure.tooLarge, text: failure.tooLargeText },
    429: { icon: "clock", heading: failure.tooMany, text: failure.tooManyText({ count }) },
    503: { icon: "clock", heading: failure.unavailable, text: failure.unavailableText },
  };
  const known = explanations[status];
  if (known !== undefined) return known;
  return status >= 500
    ? { icon: "alert", heading: failure.internal, text: failure.internalText }
    : { icon: "alert", heading: failure.badRequest, text: failure.badRequestText };
}

/** Shows a person that a request was refused or failed: no details, one reference. */
export function failureView(model: FailureModel, page: PageContext): Page {
  const { failure } = page.messages;
  const { icon, heading, text } = explain(model, page.messages);
  return (
    <MessagePage page={page} icon={icon} heading={heading}>
      <p class="lead" data-failure>
        {text}
      </p>
      {model.keepsTyped && <p>{failure.goBack}</p>}
      {model.reloadSends && <p>{failure.reload}</p>}
      <p class="reference">{failure.reference({ id: model.requestId })}</p>
      <NextStep model={model} />
    </MessagePage>
  );
}

function NextStep({ model }: PartProps<FailureModel>) {
  const { failure, sending } = useMessages();
  const { status, lacksFactor } = model;
  if (lacksFactor) return <InNewTab path={factorsPath} label={failure.factorLink} />;
  if (status === 401 && hasTyped(model)) return <InNewTab path={signInPath} label={sending.signIn} />;
  return (
    <>
      {model.mayReload && (
        // A link to this address would need its key behind "#".
        <button type="button" class="button button-primary" hidden data-scripted data-reload>
          {failure.again}
        </button>
      )}
      <HomeButton />
    </>
  );
}

/** The form with what was typed stays in its own tab. */
function InNewTab({ path, label }: { readonly path: string; readonly label: string }) {
  const page = usePage();
  return (
    <a class="button button-primary" href={pageHref(page, path)} target="_blank" rel="noopener" data-failure-action>
      {label}
    </a>
  );
}

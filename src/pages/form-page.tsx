import { Layout } from "./layout.tsx";
import type { NarrowPageProps } from "./message-page.tsx";
import { FormNotices } from "./parts/form-messages.tsx";
import type { FormState } from "./take-form.ts";

interface FormPageProps extends NarrowPageProps {
  /** Why the form was sent back; absent: the page says it elsewhere, or has no form that comes back. */
  readonly state?: Pick<FormState, "refusal" | "reason" | "status">;
}

/** A page with a short form. */
export function FormPage({ heading, lead, state, children, ...layout }: FormPageProps) {
  return (
    <Layout title={heading} {...layout} width="narrow">
      <div class="card">
        <h1>{heading}</h1>
        {lead !== undefined && <p class="lead">{lead}</p>}
        {state !== undefined && <FormNotices state={state} />}
        {children}
      </div>
    </Layout>
  );
}

import type { ComponentChildren } from "preact";
import type { EndToEnd, Push } from "../../pushes/pushes.ts";
import { untranslated, useMessages } from "../page.ts";
import { Fact } from "../parts/fact.tsx";
import { MessageCard, Notice } from "../parts/notice.tsx";

/** Where this page has the key, a script opens them (browser/parts/sealed-labels.ts). */
export function SealedLabels({ labels }: { readonly labels: Pick<Push, "name" | "note"> }) {
  const { dashboard, endToEnd } = useMessages();
  return (
    <dl class="facts no-print">
      {labels.name !== null && (
        <Fact
          label={dashboard.name}
          value={
            <span dir="auto" translate={untranslated} data-sealed-label={labels.name}>
              {endToEnd.sealedName}
            </span>
          }
        />
      )}
      {labels.note !== null && (
        <Fact
          label={dashboard.note}
          value={
            <span class="whole-note" dir="auto" data-sealed-label={labels.note} data-label-kind="note">
              {endToEnd.sealedNote}
            </span>
          }
        />
      )}
    </dl>
  );
}

interface WithKeyProps {
  readonly endToEnd: EndToEnd | null;
  readonly children: ComponentChildren;
}

/**
 * The link of an end-to-end push is complete only in the browser that has sealed it: the script adds the key to these parts,
 * or says that it does not have it (browser/parts/complete-link.ts).
 */
export function WithKey({ endToEnd, children }: WithKeyProps) {
  const text = useMessages().endToEnd;
  if (endToEnd === null) return children;
  return (
    <>
      <div hidden data-key-state="missing">
        <MessageCard icon="key" heading={text.keyGoneHeading}>
          <p>{text.keyGoneText}</p>
        </MessageCard>
      </div>
      <noscript>
        <MessageCard icon="key" heading={text.keyGoneHeading}>
          <p>{text.keyGoneText}</p>
        </MessageCard>
      </noscript>
      <div hidden data-key-state="right" data-sealed-link={endToEnd.check ?? ""} data-secret>
        <div class="stack">
          <div class="no-print">
            <Notice tone="warning" icon="key" text={text.linkOnce} />
          </div>
          {children}
        </div>
      </div>
    </>
  );
}

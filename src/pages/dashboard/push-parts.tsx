import type { Messages } from "../../i18n/i18n.ts";
import { isSealedLabel, type OwnedPush, type Push } from "../../pushes/pushes.ts";
import { pageHref, untranslated, useMessages, usePage } from "../page.ts";
import { Label } from "../parts/buttons.tsx";
import { Confirm } from "../parts/post-form.tsx";

/** A push with the link that its owner hands out. */
export interface LinkedPush {
  readonly push: OwnedPush;
  readonly link: string;
}

/** The address that the owner hands out. */
export function linkOf(push: Pick<Push, "urlToken" | "retrievalStep">, baseUrl: string): string {
  return `${baseUrl}/p/${push.urlToken}${push.retrievalStep ? "/r" : ""}`;
}

export function PushName({ push }: { readonly push: OwnedPush }) {
  const messages = useMessages();
  if (push.name === null) return <span class="no-name">{messages.dashboard.noName}</span>;
  return isSealedLabel(push.name) ? (
    <span class="no-name" dir="auto" translate={untranslated} data-sealed-label={push.name}>
      {messages.endToEnd.sealedName}
    </span>
  ) : (
    <span class="push-name" dir="auto" translate={untranslated}>
      {push.name}
    </span>
  );
}

/** The name as lists show it. */
export function shownName({ name }: Pick<OwnedPush, "name">, { dashboard, endToEnd }: Messages): string {
  if (name === null) return dashboard.noName;
  return isSealedLabel(name) ? endToEnd.sealedName : name;
}

export function hasSealedLabels({ name, note }: Pick<Push, "name" | "note">): boolean {
  return [name, note].some(isSealedLabel);
}

/** The beginning of a name or a note, which may be as long as a page. */
export function beginningOf(text: string, charactersMax: number): string {
  const characters = [...text.slice(0, 2 * charactersMax)];
  if (characters.length <= charactersMax && text.length <= 2 * charactersMax) return text;
  return `${characters.slice(0, charactersMax).join("")}…`;
}

/** The bar is hidden from screen readers: the text says the same. */
export function ViewsUsed({ push }: { readonly push: OwnedPush }) {
  const messages = useMessages();
  const { views: used, expireAfterViews: allowed } = push;
  return (
    <span class="views-used">
      {messages.dashboard.viewsOf({ used, allowed })}
      <progress value={Math.min(used, allowed)} max={allowed} aria-hidden="true" />
    </span>
  );
}

export interface PushActionsProps {
  readonly listed: LinkedPush;
  /** Path to return to after the push was deleted. */
  readonly returnPath: string;
}

/** What an owner can do with a push. The accessible name of each control contains the name of the push. */
export function PushActions({ listed, returnPath }: PushActionsProps) {
  const page = usePage();
  const { push, link } = listed;
  const { created, dashboard, actions } = page.messages;
  const path = `/p/${push.urlToken}`;
  const labelFor = (action: string) => dashboard.actionOn({ action, name: shownName(push, page.messages) });
  return (
    <div class="row-actions">
      {!push.expired && push.endToEnd === null && (
        <span class="copy">
          <a
            class="action"
            href={pageHref(page, `${path}/preview`)}
            aria-label={labelFor(dashboard.copyLink)}
            data-copy-link={link}
            data-copied={actions.copied}
          >
            <Label icon="copy" text={dashboard.copyLink} />
          </a>
          <span class="copy-status" role="status" />
        </span>
      )}
      {!push.expired && (
        <a class="action" href={pageHref(page, `${path}/edit`)} aria-label={labelFor(dashboard.edit)}>
          <Label icon="pencil" text={dashboard.edit} />
        </a>
      )}
      <a class="action" href={pageHref(page, `${path}/another`)} aria-label={labelFor(created.anotherLike)}>
        <Label icon="again" text={created.anotherLike} />
      </a>
      {!push.expired && (
        <Confirm
          icon="trash"
          label={dashboard.expire}
          accessibleLabel={labelFor(dashboard.expire)}
          explanation={dashboard.expireText}
          confirm={dashboard.expireConfirm}
          action={`${path}/expire`}
          next={returnPath}
        />
      )}
    </div>
  );
}

import type { ComponentChildren } from "preact";
import { pageHref, usePage } from "../page.ts";
import { newRequestPath, requestsPath } from "../requests/paths.ts";

interface KeyProps {
  /** As they are printed on the keys. */
  readonly keys: readonly string[];
  readonly children: ComponentChildren;
}

function Key({ keys, children }: KeyProps) {
  return (
    <>
      <dt>
        <span dir="ltr">
          {keys.map((key) => (
            <kbd key={key}>{key}</kbd>
          ))}
        </span>
      </dt>
      <dd>{children}</dd>
    </>
  );
}

/**
 * What can be done with the keyboard alone, and the pages to go to, for people who are signed in. A script shows them
 * (browser/parts/keys.ts).
 */
export function Keys() {
  const page = usePage();
  const { keys, nav, requests, footer } = page.messages;
  const pages: readonly (readonly [path: string, label: string])[] = [
    ["/", nav.newPush],
    ["/p", nav.pushes],
    ...(page.mayRequest
      ? ([
          [requestsPath, requests.heading],
          [newRequestPath, requests.make],
        ] as const)
      : []),
    ["/users/token", nav.apiTokens],
    ["/users/edit", nav.account],
    ...(page.user?.admin === true ? ([["/admin", nav.administration]] as const) : []),
    ["/help/api", footer.apiDocs],
  ];
  return (
    <template data-keys>
      <dialog class="keys" aria-labelledby="keys_heading" data-keys-list>
        <h2 id="keys_heading">{keys.heading}</h2>
        <dl>
          <Key keys={["/"]}>{keys.search}</Key>
          <Key keys={["j", "k"]}>{keys.rows}</Key>
          <Key keys={["Enter"]}>{keys.open}</Key>
          <Key keys={["n"]}>{nav.newPush}</Key>
          <Key keys={["Ctrl", "K"]}>{keys.pages}</Key>
          <Key keys={["?"]}>{keys.heading}</Key>
        </dl>
      </dialog>
      <dialog class="keys" aria-labelledby="pages_heading" data-keys-pages>
        <h2 id="pages_heading">{keys.pages}</h2>
        <ul>
          {pages.map(([path, label]) => (
            <li key={path}>
              <a href={pageHref(page, path)}>{label}</a>
            </li>
          ))}
        </ul>
      </dialog>
    </template>
  );
}

import { type DeliveryProblem, deliveryProblems } from "@sealpush/age/delivery";
import { DamagedError, openText, WrongPassphraseError } from "@sealpush/age/open";
import { type OpenedContent, readContent, UnexpectedContentError } from "@sealpush/age/sealed-content";
import { keyInLink, type RightKey, showState } from "./key-in-link.ts";
import { showFields } from "./opened-fields.ts";
import { enableSealedFiles, fileRowsIn } from "./sealed-files.ts";
import { fillIn } from "./sizes.ts";

/** Opens what the page has received, and shows it like a push that was not sealed. */
export async function openSealed(): Promise<void> {
  const root = document.querySelector<HTMLElement>("[data-sealed]");
  if (root === null) return;
  const key = await keyInLink("");
  if (key.state !== "right") {
    showState(root, key.state);
    return;
  }
  const form = root.querySelector<HTMLFormElement>("form[data-sealed-passphrase]");
  if (form === null) await open(root, key, "");
  else {
    showState(root, "passphrase");
    form.querySelector("input")?.focus();
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      void open(root, key, form.querySelector("input")?.value ?? "");
    });
  }
}

async function open(root: HTMLElement, key: RightKey, passphrase: string): Promise<void> {
  showState(root, "opening");
  // The page shows that before the work begins, which takes seconds under a passphrase.
  await new Promise((resolve) => setTimeout(resolve, 50));
  const sealed = root.querySelector("#sealed")?.textContent ?? "";
  try {
    if (sealed === "" && root.querySelector("[data-sealed-file]") === null) {
      throw new UnexpectedContentError("Nothing was delivered.");
    }
    const text = sealed === "" ? "" : await openText(sealed, key.identity, passphrase);
    show(root, key.identity, readContent(text, key.request));
  } catch (error) {
    if (error instanceof WrongPassphraseError) askAgain(root);
    else if (error instanceof DamagedError) refuse(root, "damaged");
    else if (error instanceof UnexpectedContentError) refuse(root, "unexpected");
    else throw error;
  }
}

function askAgain(root: HTMLElement): void {
  showState(root, "passphrase");
  root.querySelector("[data-wrong-passphrase]")?.removeAttribute("hidden");
  const field = root.querySelector<HTMLInputElement>("form[data-sealed-passphrase] input");
  field?.setAttribute("aria-invalid", "true");
  field?.focus();
}

/** Shows nothing of what the server delivered. */
function refuse(root: HTMLElement, state: "damaged" | "unexpected" | "incomplete"): void {
  root.querySelector("[data-sealed-files]")?.toggleAttribute("hidden", true);
  showState(root, state);
}

/** What was sealed decides what is shown, and not which parts the page has. */
function show(root: HTMLElement, identity: RightKey["identity"], content: OpenedContent): void {
  const section = root.querySelector<HTMLElement>("[data-sealed-files]");
  const rows = fileRowsIn(section);
  const problems = content.files === null ? [] : deliveryProblems(content.files, rows);
  if (problems.length > 0) {
    sayProblems(root, problems);
    refuse(root, "incomplete");
    return;
  }
  const payload = root.querySelector("#payload");
  if (payload !== null) payload.textContent = content.text;
  const { fields } = content;
  if (fields !== undefined) showFields(root, fields);
  const isEmpty = fields !== undefined || (content.text === "" && rows.length > 0);
  for (const part of document.querySelectorAll<HTMLElement>("[data-opened-text]")) part.hidden = isEmpty;
  root.querySelector("[data-sealed-text]")?.toggleAttribute("hidden", true);
  if (section !== null) {
    section.querySelector("[data-unlisted]")?.toggleAttribute("hidden", content.files !== null);
    enableSealedFiles(section, content.files, identity);
  }
  showState(root, "opened");
}

function sayProblems(root: HTMLElement, problems: readonly DeliveryProblem[]): void {
  const list = root.querySelector<HTMLElement>("[data-delivery-problems]");
  const items = problems.map(({ problem, name }) => {
    const item = document.createElement("li");
    item.textContent = fillIn(list?.dataset[problem], { filename: name });
    return item;
  });
  list?.replaceChildren(...items);
}

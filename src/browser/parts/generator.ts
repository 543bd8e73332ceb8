import { type RandomBelow, type Suggestion, suggestCharacters, suggestSyllables, suggestWords } from "./suggest.ts";

const suggestedWords = 5;

/** The password generator: its suggestion goes only into the field with the id in `data-generator`. */
export function enableGenerators(root: ParentNode, randomBelow: RandomBelow): void {
  for (const box of root.querySelectorAll<HTMLDetailsElement>("details[data-generator]")) {
    const target = document.getElementById(box.dataset.generator ?? "");
    if (target instanceof HTMLTextAreaElement) enableGenerator(box, target, randomBelow);
  }
}

function enableGenerator(box: HTMLDetailsElement, target: HTMLTextAreaElement, randomBelow: RandomBelow): void {
  const output = box.querySelector<HTMLElement>("[data-suggestion]");
  const strength = box.querySelector<HTMLElement>("[data-strength]");
  if (output === null || strength === null) return;
  const input = (name: string) => box.querySelector<HTMLInputElement>(`input[name="${name}"]`);
  const ticked = (name: string) => input(name)?.checked === true;
  const amount = (name: string) => input(name)?.valueAsNumber ?? 0;

  const syllableSettings = box.querySelector<HTMLElement>('[data-choices="syllables"]')?.dataset ?? {};

  const suggest = (mode: string | undefined): Suggestion => {
    switch (mode) {
      case "words":
        return suggestWords(amount("generator_words"), ticked("generator_embellish"), randomBelow);
      case "syllables": {
        const { lettersMin, lettersMax, consonants = "", vowels = "", separators = "" } = syllableSettings;
        const choices = {
          syllables: amount("generator_syllables"),
          lettersMin: Number(lettersMin),
          lettersMax: Number(lettersMax),
          consonants,
          vowels,
          withCapitals: ticked("generator_capitals"),
          withDigits: ticked("generator_digits"),
          separators: ticked("generator_separated") ? separators : "",
        };
        return suggestSyllables(choices, randomBelow);
      }
      default:
        return suggestCharacters(amount("generator_length"), ticked("generator_symbols"), randomBelow);
    }
  };

  const renew = () => {
    const mode = box.querySelector<HTMLInputElement>('input[name="generator_mode"]:checked')?.value;
    for (const choices of box.querySelectorAll<HTMLElement>("[data-choices]")) {
      choices.hidden = choices.dataset.choices !== mode;
    }
    for (const range of box.querySelectorAll<HTMLInputElement>('input[type="range"]')) {
      const shown = range.parentElement?.querySelector(".range-value");
      if (shown) shown.textContent = range.value;
    }
    const { text, bits } = suggest(mode);
    output.textContent = text;
    strength.textContent = (strength.dataset.strength ?? "").replace("{bits}", String(bits));
  };

  box.addEventListener("input", renew);
  box.addEventListener("toggle", () => {
    if (box.open) renew();
    // A suggestion that was not used must not stay in the page.
    else output.textContent = "";
  });
  box.querySelector("[data-another]")?.addEventListener("click", renew);
  box.querySelector("[data-use]")?.addEventListener("click", () => {
    target.setRangeText(output.textContent ?? "", target.selectionStart, target.selectionEnd, "end");
    target.dispatchEvent(new Event("input", { bubbles: true }));
    box.open = false;
    target.focus();
  });
}

/** Buttons with `data-suggest-passphrase` put memorable words into the field with that id and show them. */
export function enablePassphraseSuggestions(randomBelow: RandomBelow): void {
  for (const button of document.querySelectorAll<HTMLButtonElement>("button[data-suggest-passphrase]")) {
    const field = document.getElementById(button.dataset.suggestPassphrase ?? "");
    if (!(field instanceof HTMLInputElement)) continue;
    button.addEventListener("click", () => {
      field.value = suggestWords(suggestedWords, false, randomBelow).text;
      field.type = "text";
      field.focus();
    });
  }
}

import { showOnly } from "./elements.ts";
import { storedPreference, storePreference } from "./preferences.ts";
import { type RandomBelow, type Suggestion, suggestCharacters, suggestSyllables, suggestWords } from "./suggest.ts";

const suggestedWords = 5;

/**
 * The password generator of the field with the id in `data-generator`. One click fills the field; before it changes what
 * somebody typed, it asks. This browser remembers the choices.
 */
function suggestionOf(box: HTMLElement, mode: string | undefined, randomBelow: RandomBelow): Suggestion {
  const input = (name: string) => box.querySelector<HTMLInputElement>(`input[name="${name}"]`);
  const ticked = (name: string) => input(name)?.checked === true;
  const amount = (name: string) => input(name)?.valueAsNumber ?? 0;

  const syllableSettings = box.querySelector<HTMLElement>('[data-choices="syllables"]')?.dataset ?? {};
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
}

export function enableGenerators(root: ParentNode, randomBelow: RandomBelow): void {
  for (const box of root.querySelectorAll<HTMLElement>("[data-generator]")) {
    const target = document.getElementById(box.dataset.generator ?? "");
    if (target instanceof HTMLTextAreaElement) enableGenerator(box, target, randomBelow);
  }
}

function enableGenerator(box: HTMLElement, target: HTMLTextAreaElement, randomBelow: RandomBelow): void {
  const button = box.querySelector<HTMLElement>("[data-generate]");
  const strength = box.querySelector<HTMLElement>("[data-strength]");
  const ask = box.querySelector<HTMLElement>("[data-ask]");
  if (button === null || strength === null || ask === null) return;
  const showChoices = () => {
    const mode = box.querySelector<HTMLInputElement>('input[name="generator_mode"]:checked')?.value;
    showOnly("data-choices", mode, box);
    for (const range of box.querySelectorAll<HTMLInputElement>('input[type="range"]')) {
      const shown = range.parentElement?.querySelector(".range-value");
      if (shown) shown.textContent = range.value;
    }
    return mode;
  };

  let generated = "";
  const put = (how: "replace" | "insert") => {
    const { text, bits } = suggestionOf(box, showChoices(), randomBelow);
    if (how === "replace") target.value = text;
    else target.setRangeText(text, target.selectionStart, target.selectionEnd, "end");
    // What was inserted is part of what was typed.
    generated = how === "replace" ? target.value : "";
    strength.textContent = (strength.dataset.strength ?? "").replace("{bits}", String(bits));
    target.dispatchEvent(new Event("input", { bubbles: true }));
  };
  const isTyped = () => target.value !== "" && target.value !== generated;
  const showAsk = (isShown: boolean) => {
    ask.hidden = !isShown;
    const first = isShown ? ask.querySelector("button") : button;
    first?.focus();
  };

  button.addEventListener("click", () => {
    if (isTyped()) showAsk(true);
    else put("replace");
  });
  ask.addEventListener("click", ({ target: clicked }) => {
    const chosen = clicked instanceof Element ? clicked.closest<HTMLElement>("[data-put]")?.dataset.put : undefined;
    if (chosen === undefined) return;
    if (chosen === "replace" || chosen === "insert") put(chosen);
    showAsk(false);
  });
  const inputs = [...box.querySelectorAll<HTMLInputElement>("input")];
  box.addEventListener("input", () => {
    storeChoices(inputs);
    showChoices();
    if (generated !== "" && target.value === generated) put("replace");
  });
  restoreChoices(inputs);
  showChoices();
}

const choicesKey = "sealpush_generator";
const keyOf = ({ name, type, value }: HTMLInputElement) => (type === "radio" ? `${name}=${value}` : name);

function storeChoices(inputs: readonly HTMLInputElement[]): void {
  const choices = inputs.map((input) => [keyOf(input), input.type === "range" ? input.value : String(input.checked)]);
  storePreference(choicesKey, new URLSearchParams(choices).toString());
}

function restoreChoices(inputs: readonly HTMLInputElement[]): void {
  const choices = new URLSearchParams(storedPreference(choicesKey) ?? "");
  for (const input of inputs) {
    const choice = choices.get(keyOf(input));
    if (choice === null) continue;
    // The browser keeps an amount within its range.
    if (input.type === "range") input.value = choice;
    else input.checked = choice === "true";
  }
}

/** Buttons with `data-suggest-passphrase` put memorable words into the field with that id and show them. */
export function enablePassphraseSuggestions(randomBelow: RandomBelow): void {
  for (const button of document.querySelectorAll<HTMLButtonElement>("button[data-suggest-passphrase]")) {
    const field = document.getElementById(button.dataset.suggestPassphrase ?? "");
    if (!(field instanceof HTMLInputElement)) continue;
    button.addEventListener("click", () => {
      // The rules may ask for more characters; without a rule, `minLength` is -1.
      let words = suggestedWords;
      let text = suggestWords(words, false, randomBelow).text;
      while (text.length < field.minLength) {
        words += 1;
        text = suggestWords(words, false, randomBelow).text;
      }
      field.value = text;
      field.type = "text";
      field.focus();
    });
  }
}

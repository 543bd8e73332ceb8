import type { Messages } from "../../i18n/i18n.ts";
import { Icon } from "../parts/icon.tsx";

const charactersDefault = 20;
const wordsDefault = 5;

/**
 * Makes passwords in the browser; hidden until its script runs. `form=""` keeps its controls out of the form around
 * it, so that nothing of a suggestion is sent but what somebody takes over.
 */
export function Generator({ messages }: { readonly messages: Messages }) {
  const { generator } = messages;
  return (
    <details class="generator" hidden data-scripted data-generator="push_payload">
      <summary>
        <Icon name="dice" />
        <span>{generator.heading}</span>
      </summary>
      <div class="generator-body">
        <div class="generator-output">
          <output class="generator-suggestion" dir="ltr" aria-label={generator.suggestion} data-suggestion form="" />
          <p class="field-hint" data-strength={generator.strength({ bits: "{bits}" })} />
        </div>
        <fieldset class="generator-modes">
          <legend class="visually-hidden">{generator.heading}</legend>
          <label class="generator-mode">
            <input type="radio" name="generator_mode" value="characters" form="" checked />
            <span>{generator.password}</span>
          </label>
          <label class="generator-mode">
            <input type="radio" name="generator_mode" value="words" form="" />
            <span>{generator.words}</span>
          </label>
        </fieldset>
        <div class="generator-choices" data-choices="characters">
          <Amount id="generator_length" label={generator.length} min={8} max={64} value={charactersDefault} />
          <label class="tick">
            <input type="checkbox" name="generator_symbols" form="" checked />
            <span>{generator.symbols}</span>
          </label>
        </div>
        <div class="generator-choices" data-choices="words" hidden>
          <Amount id="generator_words" label={generator.wordCount} min={3} max={10} value={wordsDefault} />
          <label class="tick">
            <input type="checkbox" name="generator_embellish" form="" />
            <span>{generator.numberAndCapitals}</span>
          </label>
        </div>
        <div class="generator-end">
          <button type="button" class="button button-primary" data-use>
            {generator.use}
          </button>
          <button type="button" class="button" data-another>
            {generator.another}
          </button>
        </div>
        <p class="field-hint">{generator.local}</p>
      </div>
    </details>
  );
}

interface AmountProps {
  /** Its name, too. */
  readonly id: string;
  readonly label: string;
  readonly min: number;
  readonly max: number;
  readonly value: number;
}

function Amount({ id, label, min, max, value }: AmountProps) {
  return (
    <div class="range">
      <label for={id}>{label}</label>
      <span class="range-value" aria-hidden="true">
        {value}
      </span>
      <input type="range" id={id} name={id} min={min} max={max} value={value} form="" />
    </div>
  );
}

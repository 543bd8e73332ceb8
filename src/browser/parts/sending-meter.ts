import { say } from "./elements.ts";
import { pageLocale } from "./local-times.ts";
import { fillIn, formatSize } from "./sizes.ts";

/** Shows how much of the files has been sent, with a button that cancels it. The markup is in pages/parts/sending-meter.tsx. */
export class SendingMeter {
  readonly #root: HTMLElement;
  readonly #tag = pageLocale();
  #rate = new Rate();
  #sending: AbortController | null = null;
  #focusedBefore: Element | null = null;

  private constructor(root: HTMLElement) {
    this.#root = root;
    root.querySelector("[data-cancel]")?.addEventListener("click", () => this.#sending?.abort());
  }

  /** @returns undefined: there is none in this part of the page. */
  static in(part: ParentNode): SendingMeter | undefined {
    const root = part.querySelector<HTMLElement>("[data-sending]");
    return root === null ? undefined : new SendingMeter(root);
  }

  get isRunning(): boolean {
    return this.#sending !== null;
  }

  /** @returns aborted when somebody cancels. */
  begin(): AbortSignal {
    this.#sending = new AbortController();
    this.#rate = new Rate();
    this.#focusedBefore = document.activeElement;
    this.#root.hidden = false;
    this.#root.scrollIntoView({ block: "nearest" });
    return this.#sending.signal;
  }

  show(bytes: number, total: number): void {
    const bar = this.#root.querySelector("progress");
    if (bar !== null) bar.value = total === 0 ? 1 : bytes / total;
    const values = {
      sent: formatSize(bytes, this.#tag),
      size: formatSize(total, this.#tag),
      rate: formatSize(this.#rate.at(performance.now(), bytes), this.#tag, "-per-second"),
    };
    say(this.#root.querySelector("[data-sending-progress]"), fillIn(this.#root.dataset.progress, values));
  }

  showBroken(isBroken: boolean): void {
    say(this.#root.querySelector("[data-sending-state]"), isBroken ? (this.#root.dataset.broken ?? "") : "");
  }

  end(): void {
    this.#sending = null;
    // The focus would be lost with the button that cancels.
    const hasFocus = this.#root.contains(document.activeElement);
    if (hasFocus && this.#focusedBefore instanceof HTMLElement) this.#focusedBefore.focus();
    this.#root.hidden = true;
    this.showBroken(false);
  }
}

const rateMs = 5_000;

/** The rate of the last seconds. */
class Rate {
  #samples: { readonly at: number; readonly bytes: number }[] = [];

  /** @returns bytes per second. */
  at(at: number, bytes: number): number {
    this.#samples = [
      ...this.#samples.filter((sample) => at - sample.at <= rateMs && sample.bytes <= bytes),
      { at, bytes },
    ];
    const [first] = this.#samples;
    return first === undefined || first.at === at ? 0 : ((bytes - first.bytes) * 1_000) / (at - first.at);
  }
}

import { openSync } from "node:fs";
import { StringDecoder } from "node:string_decoder";
import { isatty, ReadStream } from "node:tty";
import type { CommandIo } from "./io.ts";
import { systemErrorCode } from "./system-error.ts";

const keys = { interrupt: "\u0003", endOfInput: "\u0004", backspace: "\b", delete: "\u007f" } as const;
/** Terminals frame what is pasted, if they are asked to. So a pasted line end does not end the answer. */
const pasting = { on: "\u001b[?2004h", off: "\u001b[?2004l", begins: "\u001b[200~", ends: "\u001b[201~" } as const;
const answerCharactersMax = 1_048_576;

/** @returns undefined if this process has no terminal to read from. */
export function openTerminal(signal: AbortSignal, interrupt: () => void): CommandIo["ask"] {
  const input = isatty(0) ? process.stdin : findControllingTerminal();
  if (input === undefined) return undefined;
  return async (question, visibility) => {
    const isHidden = visibility === "hidden";
    // Before the question: what is typed at once must not be shown either.
    input.setRawMode(isHidden);
    process.stderr.write(isHidden ? `${question}${pasting.on}` : question);
    try {
      return await readAnswer(input, signal, interrupt);
    } finally {
      input.pause();
      input.setRawMode(false);
      if (isHidden) process.stderr.write(`${pasting.off}\n`);
    }
  };
}

/** While standard input is a pipe, the person may still sit at a terminal. Windows has no such file. */
function findControllingTerminal(): ReadStream | undefined {
  try {
    return new ReadStream(openSync("/dev/tty", "r+"));
  } catch (error) {
    if (systemErrorCode(error) === undefined) throw error;
    return undefined;
  }
}

function readAnswer(input: ReadStream, signal: AbortSignal, interrupt: () => void): Promise<string> {
  const line = new AnswerLine();
  const decoder = new StringDecoder("utf8");
  const listening = new AbortController();
  return new Promise<string>((resolve, reject) => {
    const onData = (bytes: Buffer) => {
      const state = line.add(decoder.write(bytes));
      if (state === "complete") resolve(line.text);
      else if (state === "interrupted") interrupt();
    };
    const onEnd = () => resolve(line.text);
    input.on("data", onData).once("end", onEnd).once("error", reject).resume();
    signal.addEventListener("abort", () => reject(signal.reason), { signal: listening.signal });
    listening.signal.addEventListener("abort", () => {
      input.off("data", onData).off("end", onEnd).off("error", reject);
    });
  }).finally(() => listening.abort());
}

/** What somebody types until the line ends. */
export class AnswerLine {
  text = "";
  #unread = "";
  #isPasting = false;

  /** @param typed what the terminal has sent; control sequences may be cut. */
  add(typed: string): "incomplete" | "complete" | "interrupted" {
    this.#unread += typed;
    while (this.#unread !== "") {
      const marker = this.#isPasting ? pasting.ends : pasting.begins;
      if (marker.startsWith(this.#unread) && this.#unread !== marker) return "incomplete";
      if (this.#unread.startsWith(marker)) {
        this.#isPasting = !this.#isPasting;
        this.#unread = this.#unread.slice(marker.length);
        continue;
      }
      const [character = ""] = this.#unread;
      this.#unread = this.#unread.slice(character.length);
      if (this.#isPasting) this.#append(character === "\r" ? "\n" : character);
      else if (character === "\r" || character === "\n" || character === keys.endOfInput) return "complete";
      else if (character === keys.interrupt) return "interrupted";
      else if (character === keys.backspace || character === keys.delete)
        this.text = [...this.text].slice(0, -1).join("");
      else this.#append(character);
    }
    return "incomplete";
  }

  #append(character: string): void {
    if (this.text.length < answerCharactersMax) this.text += character;
  }
}

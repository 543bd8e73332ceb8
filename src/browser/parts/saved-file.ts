/** Chromium's file picker, which the standard library of TypeScript does not know. */
interface FilePicker {
  showSaveFilePicker?(options: { suggestedName: string }): Promise<FileSystemFileHandle>;
}

/** Bytes that are kept in memory at a time where the browser cannot write to a file; it may move the parts to its disk. */
const partBytes = 8 * 1024 ** 2;

/** A file that is being saved from this page. */
export class SavedFile {
  readonly writable: WritableStream<Uint8Array>;
  readonly #finish: () => void;

  private constructor(writable: WritableStream<Uint8Array>, finish: () => void) {
    this.writable = writable;
    this.#finish = finish;
  }

  /** Asks where to save it, if the browser can write to a file. @returns undefined: the person chose no file. */
  static async choose(name: string): Promise<SavedFile | undefined> {
    const picker: FilePicker = window as Window & FilePicker;
    if (picker.showSaveFilePicker === undefined) return SavedFile.#asDownload(name);
    try {
      const file = await picker.showSaveFilePicker({ suggestedName: name });
      // Written to a temporary file, which replaces the chosen one at the end.
      return new SavedFile(await file.createWritable(), () => undefined);
    } catch (error) {
      if (error instanceof DOMException && error.name === "AbortError") return undefined;
      throw error;
    }
  }

  static #asDownload(name: string): SavedFile {
    const parts: Blob[] = [];
    let pieces: Uint8Array<ArrayBuffer>[] = [];
    let bytes = 0;
    const gather = () => {
      parts.push(new Blob(pieces));
      pieces = [];
      bytes = 0;
    };
    const writable = new WritableStream<Uint8Array>({
      write(piece) {
        pieces.push(new Uint8Array(piece));
        bytes += piece.length;
        if (bytes >= partBytes) gather();
      },
    });
    return new SavedFile(writable, () => {
      gather();
      // Never a type that a browser would show: the file would run in this origin.
      download(new Blob(parts, { type: "application/octet-stream" }), name);
    });
  }

  finish(): void {
    this.#finish();
  }

  async discard(): Promise<void> {
    // A stream that has failed is aborted already.
    await this.writable.abort().catch(() => undefined);
  }
}

const keptMs = 60_000;

function download(content: Blob, name: string): void {
  const address = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), keptMs);
}

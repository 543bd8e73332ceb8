import { AppError } from "../../base/errors.ts";
import type { FormFile } from "../../http/body/multipart.ts";
import type { Actor, Pushes, Upload } from "../../pushes/pushes.ts";

/**
 * The files of a form on their way in. A refused file does not end the reading: the fields behind it are still taken,
 * so that the form can be sent back with everything that was typed.
 */
export class FormFiles {
  readonly #pushes: Pushes;
  readonly #actor: Actor;
  upload: Upload | undefined;
  refusal: AppError | undefined;

  constructor(pushes: Pushes, actor: Actor) {
    this.#pushes = pushes;
    this.#actor = actor;
  }

  readonly take = async (file: FormFile): Promise<void> => {
    if (this.refusal !== undefined) return;
    try {
      this.upload ??= await this.#pushes.beginUpload(this.#actor);
      await this.upload.addFile(file);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      this.refusal = error;
    }
  };

  /** What no push took over goes. */
  async end(): Promise<void> {
    await this.upload?.abandon();
  }
}

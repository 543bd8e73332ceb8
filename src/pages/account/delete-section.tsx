import { Icon } from "../parts/icon.tsx";
import { PostForm } from "../parts/post-form.tsx";
import { accountPath } from "./model.ts";
import { AskAgain, Section } from "./section.tsx";
import type { AccountProps } from "./view.tsx";

export function DeleteSection({ model, page }: AccountProps) {
  const { delete: messages } = page.messages.profile;
  return (
    <Section name="delete" heading={messages.heading}>
      <p>{messages.text}</p>
      <details class="confirm" open={model.problems.delete_password !== undefined}>
        <summary class="button button-quiet-danger">
          <Icon name="trash" />
          <span>{messages.open}</span>
        </summary>
        <PostForm page={page} class="form account-delete" action={`${accountPath}/delete`}>
          <AskAgain id="delete_password" model={model} page={page} />
          <div class="form-end">
            <button type="submit" class="button button-danger">
              {messages.submit}
            </button>
          </div>
        </PostForm>
      </details>
    </Section>
  );
}

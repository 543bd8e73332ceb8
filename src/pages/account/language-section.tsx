import { languages } from "../../i18n/i18n.ts";
import { SelectField } from "../parts/fields.tsx";
import { PostForm } from "../parts/post-form.tsx";
import { accountPath } from "./model.ts";
import { Section } from "./section.tsx";
import type { AccountProps } from "./view.tsx";

export function LanguageSection({ model, page }: AccountProps) {
  const { language } = page.messages.profile;
  const options = [
    { value: "", label: language.browser },
    ...languages.map(({ locale: { tag, name } }) => ({ value: tag, label: name, lang: tag })),
  ];
  return (
    <Section name="language" heading={language.heading}>
      <PostForm page={page} class="form" action={`${accountPath}/language`}>
        <SelectField
          {...{ id: "language", name: "language", label: language.label, value: model.language, options }}
          problem={model.problems.language}
        />
        <div class="form-end">
          <button type="submit" class="button button-primary">
            {language.submit}
          </button>
        </div>
      </PostForm>
    </Section>
  );
}

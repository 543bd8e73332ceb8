import { AppError } from "../../base/errors.ts";
import { decodeText } from "./decode-text.ts";
import { FormFieldCollector, type FormFields } from "./form-fields.ts";

/**
 * application/x-www-form-urlencoded as the URL Standard has it, but strict: what is not valid percent-encoded UTF-8 is
 * refused, not repaired. @throws AppError invalid_request.
 */
export function parseUrlencoded(body: Buffer): FormFields {
  const text = decodeText(body);
  const collector = new FormFieldCollector();
  let start = 0;
  while (start < text.length) {
    const ampersand = text.indexOf("&", start);
    const end = ampersand === -1 ? text.length : ampersand;
    if (end > start) addPair(collector, text.slice(start, end));
    start = end + 1;
  }
  return collector.fields;
}

function addPair(collector: FormFieldCollector, pair: string): void {
  const equals = pair.indexOf("=");
  const name = equals === -1 ? pair : pair.slice(0, equals);
  const value = equals === -1 ? "" : pair.slice(equals + 1);
  collector.add(decode(name), decode(value));
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    throw new AppError(
      "invalid_request",
      "The form is not valid percent-encoded UTF-8: a percent sign of its own is written %25.",
    );
  }
}

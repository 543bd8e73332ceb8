import { Fragment } from "preact";

/** A shorter address fits one line of a list on a phone. */
const longFrom = 20;

/** The text of an email address. A long one breaks before "@" and "." where it needs another line. */
export function EmailAddress({ email }: { readonly email: string }) {
  if (email.length < longFrom) return <>{email}</>;
  return (
    // The title keeps the address in one piece in the HTML.
    <span title={email}>
      {email.split(/(?=[@.])/).map((part, at) => (
        <Fragment key={at}>
          {at > 0 && <wbr />}
          {part}
        </Fragment>
      ))}
    </span>
  );
}

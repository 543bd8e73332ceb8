import { expect, test } from "vitest";
import { openTestDomain, signedIn, stranger } from "../../test/support/domain.ts";
import type { PushEmails } from "./notifications/push-emails.ts";
import { findOptionProblems, importedOptions, optionRules, publicOptions } from "./push-options.ts";
import { optionsBy, pushOptions } from "./store/tables.ts";

const unused = () => Promise.reject(new Error("No email is sent here."));
const unusedEmails: PushEmails = {
  mailsLinks: false,
  notifiesOfViews: false,
  dailyMax: 0,
  findOwner: unused,
  isFull: unused,
  putLink: unused,
  putViewNotification: unused,
};

const settersOf = {
  anybody: { anonymous: true, unconfirmed: true, confirmed: true, withoutEmail: true },
  owner: { anonymous: false, unconfirmed: true, confirmed: true, withoutEmail: true },
  confirmed_owner: { anonymous: false, unconfirmed: false, confirmed: true, withoutEmail: true },
  notified_owner: { anonymous: false, unconfirmed: false, confirmed: true, withoutEmail: false },
} as const;

test.each(pushOptions.keys)("%s can be switched on only by the callers in its rule", async (option) => {
  const problems = (actor: typeof stranger, isConfirmed = false, notifiesOfViews = true) => {
    const owner = { email: "ada@example.com", isConfirmed, isDisabled: false, language: null };
    const emails = { ...unusedEmails, notifiesOfViews, findOwner: async () => owner };
    return findOptionProblems({ emails }, { [option]: true }, actor);
  };
  const allowed = async (found: ReturnType<typeof problems>) => !Object.hasOwn(await found, option);
  expect({
    anonymous: await allowed(problems(stranger)),
    unconfirmed: await allowed(problems(signedIn(1))),
    confirmed: await allowed(problems(signedIn(1), true)),
    withoutEmail: await allowed(problems(signedIn(1), true, false)),
  }).toEqual(settersOf[optionRules[option].setBy]);
});

test("switching off, and an option that the push already has, need no permission", async () => {
  const deps = { emails: unusedEmails };
  const [off, on] = [optionsBy(() => false), optionsBy(() => true)];
  expect(await findOptionProblems(deps, off, stranger, on)).toEqual({});
  expect(await findOptionProblems(deps, on, stranger, on)).toEqual({});
});

test("an imported push has the options that its source has; others are off", () => {
  const imported = optionsBy((option) => optionRules[option].isImported);
  expect(importedOptions(optionsBy(() => true))).toEqual(imported);
  expect(imported).toMatchObject({ senderShown: false });
  expect(importedOptions(optionsBy(() => false))).toEqual(optionsBy(() => false));
});

test("only the owner finds options that are not for everybody", async () => {
  await using fixture = await openTestDomain();
  const { pushes } = fixture.domain;
  const { urlToken } = await pushes.create({ payload: "x" }, signedIn(1));
  const seenBy = async (actor: typeof stranger) => {
    const found = Object.keys((await pushes.find(urlToken, actor)) ?? {});
    return pushOptions.keys.filter((option) => found.includes(option));
  };
  expect(await seenBy(signedIn(1))).toEqual(pushOptions.keys);
  expect(await seenBy(signedIn(2))).toEqual(Object.keys(publicOptions(optionsBy(() => true))));
  for (const option of ["notifyOnView", "senderShown"]) expect(await seenBy(stranger)).not.toContain(option);
});

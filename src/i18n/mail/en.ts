export const mail = {
  confirmAccount: {
    subject: "Confirm your e-mail address",
    text: "Somebody, most likely you, uses this address for an account. Confirm that it is yours.",
    action: "Confirm this address",
    notYou: "If it was not you, do nothing: without this step the address stays unconfirmed.",
  },
  confirmNewEmail: {
    subject: "Confirm your new e-mail address",
    text: "Somebody, most likely you, asked to use this address for an account. It counts once it is confirmed. Until then the old one stays.",
    action: "Use this address",
    notYou: "If it was not you, do nothing: then nothing changes.",
  },
  resetPassword: {
    subject: "Choose a new password",
    text: "Somebody, most likely you, asked for a new password for your account.",
    action: "Choose a new password",
    notYou: "If it was not you, do nothing: your password stays as it is. Do not pass this link on.",
  },
  alreadyRegistered: {
    subject: "You already have an account",
    text: "Somebody, most likely you, asked for an account with this address. There is one already. If you do not remember its password, you can ask for a new one on the sign-in page.",
    action: "Sign in",
    notYou: "If it was not you, do nothing: nothing has changed, and nobody was told that you have an account.",
  },
  test: {
    subject: "Test mail",
    text: "This server can send mail: this one has reached you.",
  },
  notices: {
    newPlace: {
      subject: "Sign-in from a new place",
      text: "Somebody signed in to your account from a network or browser that it had not seen before.",
    },
    passwordChanged: {
      subject: "Your password was changed",
      text: "Your account has a new password. Everybody else who was signed in with it has been signed out.",
    },
    emailChanged: {
      subject: "Your e-mail address was changed",
      text: "Your account has a new e-mail address. This one no longer belongs to it.",
    },
    tokenMade: {
      subject: "A new API token",
      text: "An API token was made for your account. Programs that have it act in your name.",
    },
    tokenRevoked: {
      subject: "An API token was revoked",
      text: "An API token of your account was revoked. Programs that use it are refused from now on.",
    },
    factorAdded: {
      subject: "A second factor was added",
      text: "Your account has a new second factor. It can be used to sign in from now on.",
    },
    factorRemoved: {
      subject: "A second factor was removed",
      text: "A second factor of your account was removed. It can no longer be used to sign in.",
    },
    backupCodesMade: {
      subject: "New backup codes",
      text: "Your account has new backup codes. The old ones no longer work.",
    },
    singleSignOnLinked: {
      subject: "Single sign-on was linked",
      text: "Your account was linked with an account elsewhere. Whoever signs in there can sign in here.",
    },
    singleSignOnUnlinked: {
      subject: "Single sign-on was unlinked",
      text: "Your account is no longer linked with an account elsewhere. It opens by your password again.",
    },
  },
  pushLink: {
    subject: "A secret for you",
    text: "Somebody has something confidential for you. This server sends you the link to it, and only the link.",
    textFrom: "{from} has something confidential for you. This server sends you the link to it, and only the link.",
    action: "Open the link",
    passphrase: "You will need a passphrase, which the sender tells you another way.",
    notExpected: "If you do not expect this, ask the sender first, another way than by replying.",
  },
  pushView: {
    subject: "Your push was opened",
    text: "Somebody who has the link has opened your push.",
    textLast: "Somebody who has the link has opened your push. Its views are used up: the secret is destroyed.",
    made: "Made",
    views: "Views used",
    viewsOf: "{used} of {allowed}",
    why: "You get this mail because you wanted to be told when this push is opened. You can change that on its page for as long as it lives.",
  },
  facts: { about: "What", when: "When", address: "From", browser: "Browser", unknown: "Not known" },
  yours: "If it was you, there is nothing to do.",
  notYours:
    "If it was not you, choose a new password at once. Then look through the sessions, API tokens and second factors of your account.",
  notYoursEmail: "If it was not you, tell an administrator of this server at once.",
  account: "Open my account",
  linkLife: {
    one: "The link works for {count} hour, and only once.",
    other: "The link works for {count} hours, and only once.",
  },
  byHand: "If the button does not work, open this address:",
  footer: "Sent by {host}. Replies are not read.",
} as const;

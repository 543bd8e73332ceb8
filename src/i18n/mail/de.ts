export const mail = {
  confirmAccount: {
    subject: "Bestätigen Sie Ihre E-Mail-Adresse",
    text: "Jemand, vermutlich Sie selbst, benutzt diese Adresse für ein Konto. Bestätigen Sie, dass sie Ihnen gehört.",
    action: "Adresse bestätigen",
    notYou: "Falls Sie das nicht waren, tun Sie nichts: Ohne diesen Schritt bleibt die Adresse unbestätigt.",
  },
  confirmNewEmail: {
    subject: "Bestätigen Sie Ihre neue E-Mail-Adresse",
    text: "Jemand, vermutlich Sie selbst, möchte diese Adresse für ein Konto verwenden. Sie gilt, sobald sie bestätigt ist. Bis dahin bleibt die alte.",
    action: "Diese Adresse verwenden",
    notYou: "Falls Sie das nicht waren, tun Sie nichts: Dann ändert sich nichts.",
  },
  resetPassword: {
    subject: "Wählen Sie ein neues Passwort",
    text: "Jemand, vermutlich Sie selbst, hat für Ihr Konto um ein neues Passwort gebeten.",
    action: "Neues Passwort wählen",
    notYou:
      "Falls Sie das nicht waren, tun Sie nichts: Ihr Passwort bleibt, wie es ist. Geben Sie diesen Link nicht weiter.",
  },
  alreadyRegistered: {
    subject: "Sie haben schon ein Konto",
    text: "Jemand, vermutlich Sie selbst, wollte mit dieser Adresse ein Konto anlegen. Es gibt schon eines. Falls Sie das Passwort nicht mehr wissen, können Sie auf der Anmeldeseite um ein neues bitten.",
    action: "Anmelden",
    notYou:
      "Falls Sie das nicht waren, tun Sie nichts: Es hat sich nichts geändert, und niemand hat erfahren, dass Sie ein Konto haben.",
  },
  test: {
    subject: "Testmail",
    text: "Dieser Server kann Mails verschicken: Diese hat Sie erreicht.",
  },
  notices: {
    newPlace: {
      subject: "Anmeldung von einem neuen Ort",
      text: "Jemand hat sich mit Ihrem Konto angemeldet, von einem Netz oder mit einem Browser, den es noch nicht kannte.",
    },
    passwordChanged: {
      subject: "Ihr Passwort wurde geändert",
      text: "Ihr Konto hat ein neues Passwort. Alle anderen Anmeldungen wurden beendet.",
    },
    emailChanged: {
      subject: "Ihre E-Mail-Adresse wurde geändert",
      text: "Ihr Konto hat eine neue E-Mail-Adresse. Diese hier gehört nicht mehr dazu.",
    },
    tokenMade: {
      subject: "Ein neues API-Token",
      text: "Für Ihr Konto wurde ein API-Token erstellt. Programme, die es haben, handeln in Ihrem Namen.",
    },
    tokenRevoked: {
      subject: "Ein API-Token wurde widerrufen",
      text: "Ein API-Token Ihres Kontos wurde widerrufen. Programme, die es benutzen, werden ab jetzt abgewiesen.",
    },
    factorAdded: {
      subject: "Ein zweiter Faktor kam hinzu",
      text: "Ihr Konto hat einen neuen zweiten Faktor. Ab jetzt kann er zum Anmelden benutzt werden.",
    },
    factorRemoved: {
      subject: "Ein zweiter Faktor wurde entfernt",
      text: "Ein zweiter Faktor Ihres Kontos wurde entfernt. Er kann nicht mehr zum Anmelden benutzt werden.",
    },
    backupCodesMade: {
      subject: "Neue Ersatzcodes",
      text: "Ihr Konto hat neue Ersatzcodes. Die alten gelten nicht mehr.",
    },
    singleSignOnLinked: {
      subject: "Single Sign-on wurde verknüpft",
      text: "Ihr Konto wurde mit einem Konto an anderer Stelle verknüpft. Wer sich dort anmeldet, kann sich hier anmelden.",
    },
    singleSignOnUnlinked: {
      subject: "Single Sign-on wurde getrennt",
      text: "Ihr Konto ist nicht mehr mit einem Konto an anderer Stelle verknüpft. Es öffnet sich wieder mit Ihrem Passwort.",
    },
  },
  pushLink: {
    subject: "Ein Geheimnis für Sie",
    text: "Jemand hat etwas Vertrauliches für Sie. Dieser Server schickt Ihnen den Link dazu, und nur den Link.",
    textFrom: "{from} hat etwas Vertrauliches für Sie. Dieser Server schickt Ihnen den Link dazu, und nur den Link.",
    action: "Link öffnen",
    passphrase: "Sie brauchen dazu eine Passphrase, die Ihnen der Absender auf anderem Weg mitteilt.",
    notExpected:
      "Falls Sie das nicht erwarten, fragen Sie zuerst den Absender, und zwar anders als durch eine Antwort.",
  },
  pushView: {
    subject: "Ihr Push wurde geöffnet",
    text: "Jemand, der den Link hat, hat Ihren Push geöffnet.",
    textLast:
      "Jemand, der den Link hat, hat Ihren Push geöffnet. Seine Aufrufe sind verbraucht: Das Geheimnis ist vernichtet.",
    made: "Erstellt",
    views: "Verbrauchte Aufrufe",
    viewsOf: "{used} von {allowed}",
    why: "Sie erhalten diese Nachricht, weil Sie erfahren wollten, wann dieser Push geöffnet wird. Auf seiner Seite können Sie das ändern, solange er besteht.",
  },
  facts: { about: "Was", when: "Wann", address: "Von", browser: "Browser", unknown: "Nicht bekannt" },
  yours: "Falls Sie das waren, ist nichts zu tun.",
  notYours:
    "Falls Sie das nicht waren, wählen Sie sofort ein neues Passwort. Sehen Sie dann die Sitzungen, API-Tokens und zweiten Faktoren Ihres Kontos durch.",
  notYoursEmail: "Falls Sie das nicht waren, sagen Sie es sofort jemandem, der diesen Server verwaltet.",
  account: "Mein Konto öffnen",
  linkLife: {
    one: "Der Link gilt {count} Stunde lang und nur einmal.",
    other: "Der Link gilt {count} Stunden lang und nur einmal.",
  },
  byHand: "Falls die Schaltfläche nicht funktioniert, öffnen Sie diese Adresse:",
  footer: "Gesendet von {host}. Antworten werden nicht gelesen.",
} as const;

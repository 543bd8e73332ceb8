export const edit = {
  title: "Push bearbeiten",
  heading: "Einen Push bearbeiten",
  lead: "Sein Link bleibt gleich. Was Sie speichern, gilt sofort.",
  limitsHint: "Tage zählen ab {date}, als der Push erstellt wurde. Aufrufe schließen die bereits verbrauchten ein.",
  keepHint: "Lassen Sie dies leer, um den Inhalt zu behalten. Der jetzige Inhalt wird hier nie angezeigt.",
  newContent: { text: "Neues Geheimnis", file: "Neue Nachricht", url: "Neue Adresse", qr: "Neuer Text im QR-Code" },
  content: "Inhalt",
  protectedHeading: "Eine Passphrase schützt den Inhalt",
  protectedText:
    "Der Server kennt sie nicht. Um sie zu ändern, sie zu entfernen oder nur einen Teil des Inhalts zu ersetzen, geben Sie sie unten ein. Grenzen, Beschriftungen und Optionen lassen sich ohne sie ändern, und der Push lässt sich beenden.",
  protectedWhole:
    "Sie haben sie nicht mehr? Dann ersetzen Sie alles zusammen: Geben Sie neuen Inhalt ein und dazu eine neue Passphrase, oder wählen Sie, dass sie entfernt wird.",
  protectedWholeFiles:
    "Sie haben sie nicht mehr? Dann ersetzen Sie alles zusammen: Entfernen Sie alle Dateien, fügen Sie andere hinzu und geben Sie eine neue Passphrase ein, oder wählen Sie, dass sie entfernt wird. Auch die Nachricht geht verloren oder wird durch eine neue ersetzt.",
  currentPassphrase: "Jetzige Passphrase",
  currentPassphraseHint: "Nur für Änderungen am Inhalt oder an der Passphrase selbst.",
  newPassphrase: "Neue Passphrase",
  newPassphraseHint:
    "Lassen Sie dies leer, um nichts zu ändern. Teilen Sie sie auf anderem Weg mit: Niemand kann sie wiederherstellen.",
  removePassphrase: "Passphrase entfernen",
  removePassphraseHint: "Dann öffnet der Link allein den Push.",
  files: "Dateien in diesem Push",
  filesRemoveHint:
    "Ausgewählte Dateien werden beim Speichern gelöscht. Auch bereits ausgegebene Downloads davon enden.",
  removeFile: "{filename} entfernen",
  addFiles: "Dateien hinzufügen",
  addFilesHint: {
    one: "Insgesamt {count} Datei mit bis zu {size}.",
    other: "Insgesamt bis zu {count} Dateien, zusammen {size}.",
  },
  removeMessage: "Nachricht entfernen",
  removeMessageHint: "Die Dateien bleiben.",
  submit: "Änderungen speichern",
  cancel: "Abbrechen",
  factsHeading: "Der jetzige Stand",
  kind: "Art",
  made: "Erstellt",
  expires: "Läuft ab",
  viewsUsed: "Verbrauchte Aufrufe",
  viewsOf: "{used} von {allowed}",
  passphrase: "Passphrase",
  passphraseSet: "Gesetzt",
  passphraseNone: "Keine",
  audit: "Protokoll",
  end: "Jetzt beenden",
  endText: "Der Link gilt sofort nicht mehr, und das Geheimnis wird endgültig vernichtet.",
  endConfirm: "Ja, beenden",
  changedHeading: "Dieser Push wurde inzwischen geändert",
  changedText:
    "Von diesem Formular wurde nichts gespeichert, und nichts von Ihren Eingaben ist verloren. Vergleichen Sie sie mit dem jetzigen Stand des Pushs und speichern Sie dann erneut.",
  wrongPassphrase: "Das ist nicht die jetzige Passphrase. Es wurde nichts geändert.",
  passphraseNeeded:
    "Geben Sie die jetzige Passphrase ein, oder ersetzen Sie alles zusammen: neuer Inhalt und eine neue Passphrase oder keine.",
  passphraseNeededFiles:
    "Geben Sie die jetzige Passphrase ein, oder ersetzen Sie alles zusammen: alle Dateien entfernen, andere hinzufügen und eine neue Passphrase oder keine.",
  passphraseEither: "Geben Sie eine neue Passphrase ein oder entfernen Sie sie, nicht beides.",
  filesProblem: {
    one: "Beim Speichern muss genau eine Datei darin sein.",
    other: "Beim Speichern muss mindestens eine Datei darin sein, höchstens aber {count}.",
  },
  filesOff: "Dateien lassen sich nicht hinzufügen: Sie sind auf diesem Server abgeschaltet.",
} as const;

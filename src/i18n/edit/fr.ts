export const edit = {
  title: "Modifier un envoi",
  heading: "Modifier un envoi",
  lead: "Son lien reste le même. Ce que vous enregistrez s’applique aussitôt.",
  limitsHint:
    "Les jours se comptent à partir du {date}, date de création de l’envoi. Les vues comprennent celles déjà utilisées.",
  keepHint: "Laissez ce champ vide pour garder le contenu. Le contenu actuel n’est jamais affiché ici.",
  newContent: {
    text: "Nouveau secret",
    file: "Nouveau message",
    url: "Nouvelle adresse",
    qr: "Nouveau texte du code QR",
  },
  content: "Contenu",
  protectedHeading: "Une phrase secrète protège le contenu",
  protectedText:
    "Le serveur ne la connaît pas. Pour la changer ou la retirer, ou pour ne remplacer qu’une partie du contenu, saisissez-la ci-dessous. Sans elle, vous pouvez modifier les limites, les libellés et les options, et mettre fin à l’envoi.",
  protectedWhole:
    "Vous ne l’avez plus ? Remplacez alors tout en même temps : saisissez un nouveau contenu ainsi qu’une nouvelle phrase secrète, ou cochez son retrait.",
  protectedWholeFiles:
    "Vous ne l’avez plus ? Remplacez alors tout en même temps : retirez tous les fichiers, ajoutez-en d’autres et saisissez une nouvelle phrase secrète, ou cochez son retrait. Le message disparaît aussi, ou un nouveau le remplace.",
  currentPassphrase: "Phrase secrète actuelle",
  currentPassphraseHint: "Seulement pour modifier le contenu ou la phrase secrète elle-même.",
  newPassphrase: "Nouvelle phrase secrète",
  newPassphraseHint:
    "Laissez ce champ vide pour ne rien changer. Communiquez-la par un autre moyen : personne ne peut la retrouver.",
  removePassphrase: "Retirer la phrase secrète",
  removePassphraseHint: "Le lien suffit alors pour ouvrir l’envoi.",
  files: "Fichiers de cet envoi",
  filesRemoveHint:
    "Les fichiers cochés sont supprimés à l’enregistrement. Les téléchargements déjà remis prennent fin aussi.",
  removeFile: "Retirer {filename}",
  addFiles: "Ajouter des fichiers",
  addFilesHint: {
    one: "{count} fichier en tout, jusqu’à {size}.",
    many: "Jusqu’à {count} de fichiers en tout, {size} au total.",
    other: "Jusqu’à {count} fichiers en tout, {size} au total.",
  },
  removeMessage: "Retirer le message",
  removeMessageHint: "Les fichiers restent.",
  submit: "Enregistrer les modifications",
  cancel: "Annuler",
  factsHeading: "État actuel",
  kind: "Type",
  made: "Créé",
  expires: "Expire",
  viewsUsed: "Vues utilisées",
  viewsOf: "{used} sur {allowed}",
  passphrase: "Phrase secrète",
  passphraseSet: "Définie",
  passphraseNone: "Aucune",
  audit: "Journal",
  end: "Terminer maintenant",
  endText: "Le lien cesse de fonctionner aussitôt, et le secret est détruit définitivement.",
  endConfirm: "Oui, terminer",
  changedHeading: "Cet envoi a été modifié entre-temps",
  changedText:
    "Rien de ce formulaire n’a été enregistré, et rien de votre saisie n’est perdu. Comparez-la avec l’état actuel de l’envoi, puis enregistrez de nouveau.",
  wrongPassphrase: "Ce n’est pas la phrase secrète actuelle. Rien n’a été modifié.",
  passphraseNeeded:
    "Saisissez la phrase secrète actuelle, ou remplacez tout en même temps : nouveau contenu, et nouvelle phrase secrète ou aucune.",
  passphraseNeededFiles:
    "Saisissez la phrase secrète actuelle, ou remplacez tout en même temps : retirez tous les fichiers, ajoutez-en d’autres, et nouvelle phrase secrète ou aucune.",
  passphraseEither: "Saisissez une nouvelle phrase secrète ou retirez-la, pas les deux.",
  filesProblem: {
    one: "À l’enregistrement, l’envoi doit contenir un fichier, pas davantage.",
    many: "À l’enregistrement, l’envoi doit contenir au moins un fichier et au plus {count}.",
    other: "À l’enregistrement, l’envoi doit contenir au moins un fichier et au plus {count}.",
  },
  filesOff: "Impossible d’ajouter des fichiers : ils sont désactivés sur ce serveur.",
} as const;

export const mail = {
  confirmAccount: {
    subject: "Confirmez votre adresse e-mail",
    text: "Quelqu’un, sans doute vous, utilise cette adresse pour un compte. Confirmez qu’elle est à vous.",
    action: "Confirmer cette adresse",
    notYou: "Si ce n’est pas vous, ne faites rien : sans cette étape, l’adresse reste non confirmée.",
  },
  confirmNewEmail: {
    subject: "Confirmez votre nouvelle adresse e-mail",
    text: "Quelqu’un, sans doute vous, a demandé à utiliser cette adresse pour un compte. Elle comptera une fois confirmée. D’ici là, l’ancienne reste en place.",
    action: "Utiliser cette adresse",
    notYou: "Si ce n’était pas vous, ne faites rien : rien ne changera.",
  },
  resetPassword: {
    subject: "Choisissez un nouveau mot de passe",
    text: "Quelqu’un, sans doute vous, a demandé un nouveau mot de passe pour votre compte.",
    action: "Choisir un nouveau mot de passe",
    notYou:
      "Si ce n’était pas vous, ne faites rien : votre mot de passe reste le même. Ne transmettez ce lien à personne.",
  },
  alreadyRegistered: {
    subject: "Vous avez déjà un compte",
    text: "Quelqu’un, sans doute vous, a demandé un compte avec cette adresse. Il en existe déjà un. Si vous avez oublié son mot de passe, vous pouvez en demander un nouveau sur la page de connexion.",
    action: "Se connecter",
    notYou: "Si ce n’était pas vous, ne faites rien : rien n’a changé, et personne n’a appris que vous avez un compte.",
  },
  test: {
    subject: "E-mail d’essai",
    text: "Ce serveur peut envoyer des e-mails : celui-ci vous est parvenu.",
  },
  notices: {
    newPlace: {
      subject: "Connexion depuis un nouvel endroit",
      text: "Quelqu’un s’est connecté à votre compte depuis un réseau ou un navigateur qui n’avait jamais été vu.",
    },
    passwordChanged: {
      subject: "Votre mot de passe a été changé",
      text: "Votre compte a un nouveau mot de passe. Toutes les autres sessions ont été fermées.",
    },
    emailChanged: {
      subject: "Votre adresse e-mail a été changée",
      text: "Votre compte a une nouvelle adresse e-mail. Celle-ci n’en fait plus partie.",
    },
    tokenMade: {
      subject: "Un nouveau jeton d’API",
      text: "Un jeton d’API a été créé pour votre compte. Les programmes qui le possèdent agissent en votre nom.",
    },
    tokenRevoked: {
      subject: "Un jeton d’API a été révoqué",
      text: "Un jeton d’API de votre compte a été révoqué. Les programmes qui l’utilisent sont désormais refusés.",
    },
    factorAdded: {
      subject: "Un second facteur a été ajouté",
      text: "Votre compte a un nouveau second facteur. Il peut désormais servir à se connecter.",
    },
    factorRemoved: {
      subject: "Un second facteur a été retiré",
      text: "Un second facteur de votre compte a été retiré. Il ne peut plus servir à se connecter.",
    },
    backupCodesMade: {
      subject: "Nouveaux codes de secours",
      text: "Votre compte a de nouveaux codes de secours. Les anciens ne fonctionnent plus.",
    },
    singleSignOnLinked: {
      subject: "L’authentification unique a été liée",
      text: "Votre compte a été lié à un compte situé ailleurs. Qui se connecte là-bas peut se connecter ici.",
    },
    singleSignOnUnlinked: {
      subject: "L’authentification unique a été dissociée",
      text: "Votre compte n’est plus lié à un compte situé ailleurs. Il s’ouvre de nouveau avec votre mot de passe.",
    },
  },
  pushLink: {
    subject: "Un secret pour vous",
    text: "Quelqu’un a quelque chose de confidentiel pour vous. Ce serveur vous en envoie le lien, et rien que le lien.",
    textFrom:
      "{from} a quelque chose de confidentiel pour vous. Ce serveur vous en envoie le lien, et rien que le lien.",
    action: "Ouvrir le lien",
    passphrase: "Il vous faudra une phrase secrète, que l’expéditeur vous donnera par un autre moyen.",
    notExpected: "Si vous n’attendez rien, demandez d’abord à l’expéditeur, autrement qu’en répondant.",
  },
  pushView: {
    subject: "Votre envoi a été ouvert",
    text: "Quelqu’un qui détient le lien a ouvert votre envoi.",
    textLast: "Quelqu’un qui détient le lien a ouvert votre envoi. Ses vues sont épuisées : le secret est détruit.",
    made: "Créé",
    views: "Vues utilisées",
    viewsOf: "{used} sur {allowed}",
    why: "Vous recevez ce message parce que vous vouliez savoir quand cet envoi est ouvert. Vous pouvez changer cela sur sa page tant qu’il existe.",
  },
  facts: { about: "Quoi", when: "Quand", address: "Depuis", browser: "Navigateur", unknown: "Inconnu" },
  yours: "Si c’était vous, il n’y a rien à faire.",
  notYours:
    "Si ce n’était pas vous, choisissez tout de suite un nouveau mot de passe. Vérifiez ensuite les sessions, les jetons d’API et les seconds facteurs de votre compte.",
  notYoursEmail: "Si ce n’était pas vous, prévenez tout de suite un administrateur de ce serveur.",
  account: "Ouvrir mon compte",
  linkLife: {
    one: "Le lien fonctionne pendant {count} heure, et une seule fois.",
    many: "Le lien fonctionne pendant {count} d’heures, et une seule fois.",
    other: "Le lien fonctionne pendant {count} heures, et une seule fois.",
  },
  byHand: "Si le bouton ne fonctionne pas, ouvrez cette adresse :",
  footer: "Envoyé par {host}. Les réponses ne sont pas lues.",
} as const;

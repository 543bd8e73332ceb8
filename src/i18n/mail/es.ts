export const mail = {
  confirmAccount: {
    subject: "Confirme su dirección de correo",
    text: "Alguien, seguramente usted, usa esta dirección para una cuenta. Confirme que es suya.",
    action: "Confirmar esta dirección",
    notYou: "Si no fue usted, no haga nada: sin este paso la dirección sigue sin confirmar.",
  },
  confirmNewEmail: {
    subject: "Confirme su nueva dirección de correo",
    text: "Alguien, seguramente usted, ha pedido usar esta dirección para una cuenta. Valdrá cuando se confirme. Hasta entonces sigue la anterior.",
    action: "Usar esta dirección",
    notYou: "Si no fue usted, no haga nada: así no cambia nada.",
  },
  resetPassword: {
    subject: "Elija una contraseña nueva",
    text: "Alguien, seguramente usted, ha pedido una contraseña nueva para su cuenta.",
    action: "Elegir una contraseña nueva",
    notYou: "Si no fue usted, no haga nada: su contraseña sigue igual. No comparta este enlace.",
  },
  alreadyRegistered: {
    subject: "Ya tiene una cuenta",
    text: "Alguien, seguramente usted, ha pedido una cuenta con esta dirección. Ya existe una. Si no recuerda su contraseña, puede pedir una nueva en la página de inicio de sesión.",
    action: "Iniciar sesión",
    notYou: "Si no fue usted, no haga nada: no ha cambiado nada y nadie ha sabido que tiene una cuenta.",
  },
  test: {
    subject: "Correo de prueba",
    text: "Este servidor puede enviar correo: este mensaje le ha llegado.",
  },
  notices: {
    newPlace: {
      subject: "Inicio de sesión desde un lugar nuevo",
      text: "Alguien ha iniciado sesión en su cuenta desde una red o un navegador que no se habían visto antes.",
    },
    passwordChanged: {
      subject: "Se ha cambiado su contraseña",
      text: "Su cuenta tiene una contraseña nueva. Se han cerrado todas las demás sesiones.",
    },
    emailChanged: {
      subject: "Se ha cambiado su dirección de correo",
      text: "Su cuenta tiene una dirección de correo nueva. Esta ya no pertenece a ella.",
    },
    tokenMade: {
      subject: "Un token de API nuevo",
      text: "Se ha creado un token de API para su cuenta. Los programas que lo tienen actúan en su nombre.",
    },
    tokenRevoked: {
      subject: "Se ha revocado un token de API",
      text: "Se ha revocado un token de API de su cuenta. Los programas que lo usan se rechazan desde ahora.",
    },
    factorAdded: {
      subject: "Se ha añadido un segundo factor",
      text: "Su cuenta tiene un segundo factor nuevo. Desde ahora sirve para iniciar sesión.",
    },
    factorRemoved: {
      subject: "Se ha quitado un segundo factor",
      text: "Se ha quitado un segundo factor de su cuenta. Ya no sirve para iniciar sesión.",
    },
    backupCodesMade: {
      subject: "Nuevos códigos de respaldo",
      text: "Su cuenta tiene nuevos códigos de respaldo. Los anteriores ya no funcionan.",
    },
    singleSignOnLinked: {
      subject: "Se ha vinculado el inicio de sesión único",
      text: "Su cuenta se ha vinculado con una cuenta de otro lugar. Quien inicia sesión allí puede iniciar sesión aquí.",
    },
    singleSignOnUnlinked: {
      subject: "Se ha desvinculado el inicio de sesión único",
      text: "Su cuenta ya no está vinculada con una cuenta de otro lugar. Vuelve a abrirse con su contraseña.",
    },
  },
  pushLink: {
    subject: "Un secreto para usted",
    text: "Alguien tiene algo confidencial para usted. Este servidor le envía el enlace, y nada más que el enlace.",
    textFrom: "{from} tiene algo confidencial para usted. Este servidor le envía el enlace, y nada más que el enlace.",
    action: "Abrir el enlace",
    passphrase: "Necesitará una frase de contraseña, que el remitente le dará por otro medio.",
    notExpected: "Si no espera nada, pregunte antes al remitente, por otro medio que no sea responder.",
  },
  pushView: {
    subject: "Se ha abierto su envío",
    text: "Alguien que tiene el enlace ha abierto su envío.",
    textLast: "Alguien que tiene el enlace ha abierto su envío. Sus vistas están agotadas: el secreto está destruido.",
    made: "Creado",
    views: "Vistas usadas",
    viewsOf: "{used} de {allowed}",
    why: "Recibe este correo porque quería saber cuándo se abre este envío. Puede cambiarlo en su página mientras exista.",
  },
  facts: { about: "Qué", when: "Cuándo", address: "Desde", browser: "Navegador", unknown: "Desconocido" },
  yours: "Si fue usted, no hay nada que hacer.",
  notYours:
    "Si no fue usted, elija enseguida una contraseña nueva. Después revise las sesiones, los tokens de API y los segundos factores de su cuenta.",
  notYoursEmail: "Si no fue usted, avise enseguida a un administrador de este servidor.",
  account: "Abrir mi cuenta",
  linkLife: {
    one: "El enlace funciona durante {count} hora, y una sola vez.",
    many: "El enlace funciona durante {count} de horas, y una sola vez.",
    other: "El enlace funciona durante {count} horas, y una sola vez.",
  },
  byHand: "Si el botón no funciona, abra esta dirección:",
  footer: "Enviado por {host}. Las respuestas no se leen.",
} as const;

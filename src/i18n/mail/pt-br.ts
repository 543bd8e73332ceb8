export const mail = {
  confirmAccount: {
    subject: "Confirme seu endereço de e-mail",
    text: "Alguém, provavelmente você, usa este endereço em uma conta. Confirme que ele é seu.",
    action: "Confirmar este endereço",
    notYou: "Se não foi você, não faça nada: sem esta etapa, o endereço continua sem confirmação.",
  },
  confirmNewEmail: {
    subject: "Confirme seu novo endereço de e-mail",
    text: "Alguém, provavelmente você, pediu para usar este endereço em uma conta. Ele passa a valer quando for confirmado. Até lá, o antigo continua.",
    action: "Usar este endereço",
    notYou: "Se não foi você, não faça nada: assim nada muda.",
  },
  resetPassword: {
    subject: "Escolha uma nova senha",
    text: "Alguém, provavelmente você, pediu uma nova senha para a sua conta.",
    action: "Escolher uma nova senha",
    notYou: "Se não foi você, não faça nada: sua senha continua a mesma. Não repasse este link.",
  },
  alreadyRegistered: {
    subject: "Você já tem uma conta",
    text: "Alguém, provavelmente você, pediu uma conta com este endereço. Já existe uma. Se você não lembra a senha, pode pedir uma nova na página de entrada.",
    action: "Entrar",
    notYou: "Se não foi você, não faça nada: nada mudou, e ninguém ficou sabendo que você tem uma conta.",
  },
  test: {
    subject: "E-mail de teste",
    text: "Este servidor consegue enviar e-mails: este chegou até você.",
  },
  notices: {
    newPlace: {
      subject: "Entrada a partir de um novo lugar",
      text: "Alguém entrou na sua conta a partir de uma rede ou de um navegador que não tinham sido vistos antes.",
    },
    passwordChanged: {
      subject: "Sua senha foi alterada",
      text: "Sua conta tem uma nova senha. Todas as outras sessões foram encerradas.",
    },
    emailChanged: {
      subject: "Seu endereço de e-mail foi alterado",
      text: "Sua conta tem um novo endereço de e-mail. Este aqui não pertence mais a ela.",
    },
    tokenMade: {
      subject: "Um novo token de API",
      text: "Um token de API foi criado para a sua conta. Programas que o possuem agem em seu nome.",
    },
    tokenRevoked: {
      subject: "Um token de API foi revogado",
      text: "Um token de API da sua conta foi revogado. Programas que o usam passam a ser recusados.",
    },
    factorAdded: {
      subject: "Um segundo fator foi adicionado",
      text: "Sua conta tem um novo segundo fator. A partir de agora ele pode ser usado para entrar.",
    },
    factorRemoved: {
      subject: "Um segundo fator foi removido",
      text: "Um segundo fator da sua conta foi removido. Ele não pode mais ser usado para entrar.",
    },
    backupCodesMade: {
      subject: "Novos códigos de reserva",
      text: "Sua conta tem novos códigos de reserva. Os antigos não funcionam mais.",
    },
    singleSignOnLinked: {
      subject: "O login único foi vinculado",
      text: "Sua conta foi vinculada a uma conta em outro lugar. Quem entra lá pode entrar aqui.",
    },
    singleSignOnUnlinked: {
      subject: "O login único foi desvinculado",
      text: "Sua conta não está mais vinculada a uma conta em outro lugar. Ela volta a ser aberta com a sua senha.",
    },
  },
  pushLink: {
    subject: "Um segredo para você",
    text: "Alguém tem algo confidencial para você. Este servidor envia o link, e somente o link.",
    textFrom: "{from} tem algo confidencial para você. Este servidor envia o link, e somente o link.",
    action: "Abrir o link",
    passphrase: "Você vai precisar de uma frase secreta, que o remetente informará por outro meio.",
    notExpected: "Se você não espera nada, pergunte antes ao remetente, por outro meio que não seja responder.",
  },
  pushView: {
    subject: "Seu envio foi aberto",
    text: "Alguém que tem o link abriu o seu envio.",
    textLast: "Alguém que tem o link abriu o seu envio. As visualizações acabaram: o segredo foi destruído.",
    made: "Criado",
    views: "Visualizações usadas",
    viewsOf: "{used} de {allowed}",
    why: "Você recebe este e-mail porque quis saber quando este envio é aberto. É possível mudar isso na página dele enquanto ele existir.",
  },
  facts: { about: "O quê", when: "Quando", address: "De onde", browser: "Navegador", unknown: "Desconhecido" },
  yours: "Se foi você, não há nada a fazer.",
  notYours:
    "Se não foi você, escolha uma nova senha imediatamente. Depois confira as sessões, os tokens de API e os segundos fatores da sua conta.",
  notYoursEmail: "Se não foi você, avise imediatamente um administrador deste servidor.",
  account: "Abrir minha conta",
  linkLife: {
    one: "O link funciona por {count} hora, e uma única vez.",
    many: "O link funciona por {count} de horas, e uma única vez.",
    other: "O link funciona por {count} horas, e uma única vez.",
  },
  byHand: "Se o botão não funcionar, abra este endereço:",
  footer: "Enviado por {host}. As respostas não são lidas.",
} as const;

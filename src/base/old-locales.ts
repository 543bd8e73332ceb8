/** The locales of Password Pusher 2.11, which it has in front of the paths of its pages. */
export const oldLocales: readonly string[] =
  `ca cs cy da de en en-GB es eu fi fr ga hi hu id is it ja ko lv nl no pl pt-BR pt-PT ro ru sk sr sv th uk ur zh-CN`.split(
    " ",
  );

import { type ParsedGroup, type SettingReport, switchSetting, valuesOf } from "../setting.ts";

/** The switches for kinds of push are mapped in kinds.ts. */
export const accessSettings = {
  title: "Who may push what",
  intro: "A recipient never needs an account: these settings are about creating pushes.",
  settings: {
    allowAnonymous: switchSetting({
      env: "PWP__ALLOW_ANONYMOUS",
      doc: "Whether people without an account may create pushes. When off, every API endpoint but the version requires a token.",
      default: "true",
    }),
    keepLinks: switchSetting({
      env: "PWP__KEEP_LINKS",
      doc: "Whether the server stores the links of users' pushes and requests, encrypted, so that their lists show them. When off, a link is shown once and lists show none, apart from those that were stored before: the owner needs it to edit the push or read its audit trail, and a repeated creation is refused. Answers to requests keep theirs, because nobody else has them.",
      default: "true",
    }),
    requestsEnabled: switchSetting({
      env: "PWP__REQUESTS__ENABLED",
      doc: "Whether people may request secrets. When off, the pages and endpoints of requests do not exist; answers that have come stay in the list of pushes.",
      default: "true",
    }),
    allowAnonymousRequests: switchSetting({
      env: "PWP__REQUESTS__ALLOW_ANONYMOUS",
      doc: "Whether people without an account may request secrets too, where they may create pushes. Only their private link opens the answers. Files also need `PWP__FILES__ALLOW_ANONYMOUS`.",
      default: "false",
    }),
    filePushes: switchSetting({
      env: "PWP__ENABLE_FILE_PUSHES",
      doc: "Whether files can be pushed.",
      default: "true",
    }),
    urlPushes: switchSetting({
      env: "PWP__ENABLE_URL_PUSHES",
      doc: "Whether web addresses can be pushed.",
      default: "true",
    }),
    qrPushes: switchSetting({
      env: "PWP__ENABLE_QR_PUSHES",
      doc: "Whether QR codes can be pushed.",
      default: "true",
    }),
    sealedInBrowser: switchSetting({
      env: "PWP__SEAL_IN_BROWSER_DEFAULT",
      doc: "Whether the form of a new push offers to seal texts and files in the browser already chosen, so that this server never sees the secret. People can choose otherwise. Without JavaScript or HTTPS it is not possible: the form then asks before it sends anything unsealed.",
      default: "false",
    }),
  },
};

export function accessConfig(rows: ParsedGroup<typeof accessSettings>, report: SettingReport) {
  const { filePushes, urlPushes, qrPushes, ...access } = valuesOf(rows);
  const { requestsEnabled, allowAnonymous, allowAnonymousRequests } = access;
  const off = [rows.requestsEnabled, rows.allowAnonymous].find(({ value }) => !value);
  if (allowAnonymousRequests && off !== undefined) {
    report.warn(`${rows.allowAnonymousRequests.env} has no effect while ${off.env} is off.`);
  }
  return { ...access, allowAnonymousRequests: requestsEnabled && allowAnonymous && allowAnonymousRequests };
}

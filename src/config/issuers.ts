/** The same issuer, with or without a slash at the end. */
export function isSameIssuer(one: string, other: string): boolean {
  const [first, second] = [one, other].map((issuer) => URL.parse(issuer)?.href.replace(/\/$/, ""));
  return first !== undefined && first === second;
}

export function isGoogle(issuer: string): boolean {
  return isSameIssuer(issuer, "https://accounts.google.com");
}

/** Microsoft Entra ID, in all its clouds. */
const microsoftHosts: readonly string[] = [
  "login.microsoftonline.com",
  "login.microsoftonline.us",
  "login.partner.microsoftonline.cn",
  "login.chinacloudapi.cn",
  "login.microsoft.com",
  "login.windows.net",
  "sts.windows.net",
  "sts.chinacloudapi.cn",
];

export function isMicrosoft(issuer: string): boolean {
  const url = URL.parse(issuer);
  return url?.protocol === "https:" && microsoftHosts.includes(url.hostname);
}

/** The last one is the tenant of all personal accounts. */
const sharedTenants = ["common", "organizations", "consumers", "9188040d-6c67-4c5b-b112-36a304b66dad"];

/** Whether anybody with any account of Microsoft can sign in there. */
export function isForManyTenants(issuer: string): boolean {
  const tenant = URL.parse(issuer)?.pathname.split("/")[1] ?? "";
  return isMicrosoft(issuer) && sharedTenants.includes(tenant.toLowerCase());
}

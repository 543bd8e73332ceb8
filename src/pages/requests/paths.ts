export const requestsPath = "/requests";
export const newRequestPath = "/requests/new";
export const answersPath = (urlToken: string) => `${requestsPath}/${urlToken}/answers`;

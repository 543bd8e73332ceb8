export const accountPath = "/users/edit";

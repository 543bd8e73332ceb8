/** In a file of its own, because the layout links to the page, which uses the layout. */
export const aboutPath = "/about";

/** @returns what makes a thing when it is first asked for, and gives that one ever after. */
export function once<T>(make: () => T): () => T {
  let made: { readonly thing: T } | undefined;
  return () => {
    made ??= { thing: make() };
    return made.thing;
  };
}

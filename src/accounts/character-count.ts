/**
 * Whether the text has `min` to `max` characters (code points) and is well-formed Unicode: a lone surrogate has no
 * UTF-8, so two different texts with one would be stored as the same bytes.
 */
export function hasCharacters(text: string, min: number, max: number): boolean {
  const codeUnitsMax = 2 * max;
  if (text.length > codeUnitsMax || !text.isWellFormed()) return false;
  const count = [...text].length;
  return count >= min && count <= max;
}

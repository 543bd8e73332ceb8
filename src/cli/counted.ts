/** A number with its noun, such as "1 file" or "2 pushes". */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : noun.endsWith("sh") ? "es" : "s"}`;
}

/** A number with its noun, such as "1 file" or "2 pushes". */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

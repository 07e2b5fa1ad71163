/** The beginning of a text, with `…` in place of what is cut. */
export function startOf(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : `${text.slice(0, maxLength - 1)}…`;
}

/** The end of a text: programs print the reason for their failure last. */
export function endOf(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : `…${text.slice(1 - maxLength)}`;
}

/** A value in one line, or over several if it is long. */
export function jsonText(value: unknown): string {
  const short = JSON.stringify(value) ?? 'null';
  return short.length <= 80 ? short : JSON.stringify(value, undefined, 2);
}

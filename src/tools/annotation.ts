/** An annotation of a file in a workflow run of GitHub, as one line of its log. */
export function annotation(
  level: 'error' | 'warning',
  { file, title }: { readonly file: string; readonly title: string },
  message: string,
): string {
  return `::${level} file=${property(file)},title=${property(title)}::${escaped(message)}\n`;
}

function escaped(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function property(text: string): string {
  return escaped(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}

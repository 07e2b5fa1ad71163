/** The text without the byte order mark that editors and PowerShell put before UTF-8. */
export function withoutByteOrderMark(text: string): string {
  return text.startsWith('\u{FEFF}') ? text.slice(1) : text;
}

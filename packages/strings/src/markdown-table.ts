/** A Markdown table with aligned columns, as formatters want it; ends with a line end. Bars in cells are escaped. */
export function markdownTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = [header, ...rows].map((row) => row.map((cell) => cell.replaceAll('|', '\\|')));
  const widths = header.map((_name, column) => Math.max(3, ...cells.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]): string =>
    `| ${widths.map((width, column) => (row[column] ?? '').padEnd(width)).join(' | ')} |\n`;
  const [names = [], ...body] = cells;
  return [line(names), line(widths.map((width) => '-'.repeat(width))), ...body.map(line)].join('');
}

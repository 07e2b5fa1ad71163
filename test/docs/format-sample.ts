const WIDTH = 110;

/** JSON as the pages show it: everything that fits into a line is in one. */
export function formatSample(value: unknown): string {
  return format(value, '', 0);
}

/** @param usedWidth columns in front of the value, and behind it a comma */
function format(value: unknown, indent: string, usedWidth: number): string {
  const line = inline(value);
  const isShort = indent.length + usedWidth + line.length <= WIDTH;
  if (isShort || typeof value !== 'object' || value === null) return line;
  const inner = `${indent}  `;
  if (Array.isArray(value)) {
    const items = value.map((item) => `${inner}${format(item, inner, 1)}`);
    return `[\n${items.join(',\n')}\n${indent}]`;
  }
  const fields = Object.entries(value).map(([key, field]) => {
    const name = `${JSON.stringify(key)}: `;
    return `${inner}${name}${format(field, inner, name.length + 1)}`;
  });
  return `{\n${fields.join(',\n')}\n${indent}}`;
}

function inline(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(inline).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const fields = Object.entries(value).map(([key, field]) => `${JSON.stringify(key)}: ${inline(field)}`);
  return `{${fields.join(', ')}}`;
}

/**
 * The page as it is sent for one path. All its addresses are relative to the directory of the page, wherever a proxy puts
 * that: only the number of directories below it is known here.
 *
 * @param html `index.html` as it was built
 * @param rawPath below the directory of the page, with percent escapes: an escaped slash is part of a name
 * @param hasActions whether the page may offer actions; it reads that from `<meta name="actions">`
 */
export function pageFor(html: string, rawPath: string, hasActions: boolean): string {
  const base = `<base href="${'../'.repeat(rawPath.split('/').length - 1) || './'}">`;
  const actions = hasActions ? '<meta name="actions" content="on">' : '';
  return html.replace(/<base\b[^>]*>/gi, '').replace(/<head\b[^>]*>/i, (head) => `${head}${base}${actions}`);
}

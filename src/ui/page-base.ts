/**
 * The page as it is sent for one path. All its addresses are relative to the directory of the page, wherever a proxy puts
 * that: only the number of directories below it is known here.
 *
 * @param html `index.html` as it was built
 * @param rawPath below the directory of the page, with percent escapes: an escaped slash is part of a name
 * @param marks what the page reads from a `<meta>` of that name: whether it may offer `actions`, and whether the replica is
 *   a `standby`
 */
export function pageFor(
  html: string,
  rawPath: string,
  { actions, standby }: { readonly actions: boolean; readonly standby: boolean },
): string {
  const base = `<base href="${'../'.repeat(rawPath.split('/').length - 1) || './'}">`;
  const marks = [actions ? 'actions' : [], standby ? 'standby' : []].flat();
  const metas = marks.map((name) => `<meta name="${name}" content="on">`).join('');
  return html.replace(/<base\b[^>]*>/gi, '').replace(/<head\b[^>]*>/i, (head) => `${head}${base}${metas}`);
}

/** Protection against names with invisible or direction-changing characters, at one place for the whole page. */

import { options, type VNode } from 'preact';
import { visibleText } from './visible-text.ts';

/** Attributes that people see or hear. */
const SPOKEN = ['title', 'aria-label'] as const;

/** Makes every text of the page show characters that are not seen, in one place, so that no page can forget it. */
export function escapeAllTexts(): void {
  const before = options.vnode?.bind(options);
  options.vnode = (vnode: VNode<Record<string, unknown>>) => {
    if (typeof vnode.type === 'string') escapeTexts(vnode);
    before?.(vnode);
  };
}

/** Only DOM elements have text; components pass strings on to them. */
function escapeTexts({ props }: VNode<Record<string, unknown>>): void {
  const { children } = props;
  if (typeof children === 'string') props['children'] = visibleText(children);
  else if (Array.isArray(children))
    props['children'] = children.map((child: unknown) =>
      typeof child === 'string' ? visibleText(child) : child,
    );
  for (const name of SPOKEN) {
    const text = props[name];
    if (typeof text === 'string') props[name] = visibleText(text);
  }
}

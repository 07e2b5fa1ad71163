/** The colour theme, kept in the browser; `style.css` reads it from an attribute of the document. */

import { effect, signal } from '@preact/signals';

const THEMES = ['system', 'light', 'dark'] as const;
type Theme = (typeof THEMES)[number];

const KEY = 'addon-operator-theme';

/** The colours that the user selected; `system` follows the settings of the machine. */
export const theme = signal<Theme>(THEMES.find((each) => each === localStorage.getItem(KEY)) ?? 'system');

/** System, light, dark, and again. */
export function nextTheme(): void {
  theme.value = THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length] ?? 'system';
}

/** Writes the theme to the document and to the storage, now and at each change. */
export function applyTheme(): void {
  effect(() => {
    localStorage.setItem(KEY, theme.value);
    document.documentElement.dataset['theme'] = theme.value;
  });
}

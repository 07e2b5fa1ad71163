import { effect, signal } from '@preact/signals';

const THEMES = ['system', 'light', 'dark'] as const;
type Theme = (typeof THEMES)[number];

const KEY = 'addon-operator-theme';

/** The colours that the user selected; `system` follows the settings of the machine. */
export const theme = signal<Theme>(THEMES.find((each) => each === localStorage.getItem(KEY)) ?? 'system');

export function nextTheme(): void {
  theme.value = THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length] ?? 'system';
}

export function applyTheme(): void {
  effect(() => {
    localStorage.setItem(KEY, theme.value);
    document.documentElement.dataset['theme'] = theme.value;
  });
}

/** Title and icon of the tab in the browser: which cluster it is about, and how it is, also while the tab is in the background. */

import type { HeadlineResponse } from './responses.ts';

type Level = HeadlineResponse['level'] | 'unknown';

/** How a level looks: a mark in front of the title, a colour, and the lines of the icon. */
const LEVELS: Readonly<
  Record<Level, { readonly mark: string; readonly colour: string; readonly lines: string }>
> = {
  well: { mark: '', colour: '#17683e', lines: 'M9 17l5 5 10-12' },
  notice: { mark: '', colour: '#17683e', lines: 'M9 17l5 5 10-12' },
  waiting: { mark: '… ', colour: '#855000', lines: 'M16 8v9l6 4' },
  broken: { mark: '✖ ', colour: '#b02318', lines: 'M16 7v12M16 24v1' },
  unknown: { mark: '', colour: '#5b6068', lines: 'M9 11h14M9 16h9M9 21h12' },
};

/** The title of the tab. @param cluster empty if it has no name */
export function tabTitle(page: string, cluster: string, level: Level): string {
  return `${LEVELS[level].mark}${page} · ${cluster === '' ? 'addon-operator' : cluster}`;
}

/** The icon of the tab as the address of a picture: shape and colour say the level. */
export function tabIcon(level: Level): string {
  const { colour, lines } = LEVELS[level];
  const svg =
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="${colour}"/>` +
    `<path d="${lines}" fill="none" stroke="#fff" stroke-width="3" stroke-linecap="round" stroke-linejoin="round"/></svg>`;
  return `data:image/svg+xml,${encodeURIComponent(svg)}`;
}

// The entry of the page. It sets up everything that works outside of components (escaping, theme, clock, links, keys),
// begins to follow the operator (`lib/live.ts`), and renders `App`. State flows one way: the stream changes signals, and
// components read them. A page that needs more than the stream has reads it with `lib/use-response.ts`.
import './style.css';
import { effect } from '@preact/signals';
import { render } from 'preact';
import { App, helpRequests, PAGES } from './app.tsx';
import { startClock } from './lib/clock.ts';
import { escapeAllTexts } from './lib/escape-texts.ts';
import { listenToKeys } from './lib/keys.ts';
import { followOperator, link, live } from './lib/live.ts';
import { titleOfPlace } from './lib/places.ts';
import { followLinks, location, navigate } from './lib/site.ts';
import { tabIcon, tabTitle } from './lib/tab.ts';
import { applyTheme } from './lib/theme.ts';
import { visibleText } from './lib/visible-text.ts';
import { searchRequests } from './parts/search.tsx';

// First: it must see every string that is ever rendered.
escapeAllTexts();
applyTheme();
startClock();
followLinks();
listenToKeys({
  pages: new Map(PAGES.map(([path, , key]) => [key, path])),
  go: navigate,
  search: () => {
    searchRequests.value += 1;
  },
  filter: () => {
    const field = document.querySelector<HTMLInputElement>('input[type=search]');
    field?.focus();
    return field !== null;
  },
  help: () => {
    helpRequests.value += 1;
  },
});
effect(() => {
  const { headline, cluster } = live.value;
  const level = link.value === 'live' ? (headline?.level ?? 'unknown') : 'unknown';
  document.title = visibleText(tabTitle(titleOfPlace(location.value.place), cluster, level));
  document.querySelector('link[rel=icon]')?.setAttribute('href', tabIcon(level));
});
void followOperator();
const root = document.querySelector('#app');
if (root !== null) render(<App />, root);

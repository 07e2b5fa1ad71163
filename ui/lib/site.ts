/**
 * The address of the page as state: path, query and token. Pages change it with `navigate` and `setFilter`, and read the
 * signal `location`. The token comes in the fragment of the address, which is never sent to a server, and moves to the
 * session storage of the tab.
 */

import { signal } from '@preact/signals';
import { PageBase } from './base-url.ts';
import { type Place, placeOf } from './places.ts';

const BASE = new PageBase(document.baseURI);
/** With the path: several operators may be behind one proxy. */
const TOKEN_KEY = `addon-operator-token ${BASE.path}`;

/** The address as components read it. */
export interface Location {
  /** Below the base, without a slash in front. */
  readonly path: string;
  readonly place: Place;
  readonly query: URLSearchParams;
}

/** Where the user is; it changes with every navigation. */
export const location = signal<Location>(here());

/** Whether modules can be run and paused from here; the server writes it into the page. */
export const allowsActions = document.querySelector('meta[name=actions][content=on]') !== null;

/** Whether the server was no leader when it sent the page: such a replica answers without a token. */
export const isOfStandby = document.querySelector('meta[name=standby]') !== null;

/** How people sign in; the server writes it into the page unless it is the token in the address. */
export const signInMode = signInOf(document.querySelector('meta[name=sign-in]')?.getAttribute('content'));

function signInOf(word: string | null | undefined): 'token' | 'kubernetes' | 'proxy' {
  return word === 'kubernetes' || word === 'proxy' ? word : 'token';
}

/** Empty where there is none. */
export const token = signal(takeToken());

/** An absolute path, which no base changes. */
export function hrefOf(path: string): string {
  return BASE.hrefOf(path);
}

/** An address of the API, such as `now` or `runs?limit=10`. */
export function apiUrl(path: string): string {
  return BASE.apiUrl(path);
}

function here(): Location {
  const path = BASE.below(globalThis.location.pathname) ?? '';
  return { path, place: placeOf(path), query: new URLSearchParams(globalThis.location.search) };
}

/** Goes to a page; with `isReplaced`, such as for each letter of a filter, without a step in the history. */
export function navigate(path: string, { isReplaced = false } = {}): void {
  history[isReplaced ? 'replaceState' : 'pushState'](null, '', hrefOf(path));
  arrive();
}

/** Changes one filter of the page; an empty value removes it. */
export function setFilter(name: string, value: string): void {
  const query = new URLSearchParams(location.value.query);
  if (value === '') query.delete(name);
  else query.set(name, value);
  navigate(`${location.value.path}${query.size === 0 ? '' : `?${query}`}`, { isReplaced: true });
}

/** After each change of the address; only another page scrolls up and moves the focus. */
function arrive(): void {
  const before = location.value.path;
  location.value = here();
  if (location.value.path === before) return;
  scrollTo(0, 0);
  // After the page is there. Screen readers begin to read at its heading.
  setTimeout(() => document.querySelector<HTMLElement>('h1')?.focus({ preventScroll: true }));
}

/** Follows links within the page without loading it anew. */
export function followLinks(): void {
  addEventListener('popstate', arrive);
  addEventListener('hashchange', () => {
    const found = takeToken();
    if (found !== '') token.value = found;
  });
  document.addEventListener('click', (event) => {
    // With a modifier or another button the browser opens a new tab, as users expect.
    const isPlain =
      event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    const path = BASE.below(link?.getAttribute('href') ?? '');
    if (!isPlain || event.defaultPrevented || path === undefined) return;
    event.preventDefault();
    navigate(path);
  });
}

/** Takes the token out of the address, where it would be seen and copied, and keeps it until the tab is closed. */
function takeToken(): string {
  const given = tokenIn(globalThis.location.hash);
  if (given !== '') {
    sessionStorage.setItem(TOKEN_KEY, given);
    history.replaceState(null, '', globalThis.location.pathname + globalThis.location.search);
  }
  return sessionStorage.getItem(TOKEN_KEY) ?? '';
}

function tokenIn(hash: string): string {
  return new URLSearchParams(hash.slice(1)).get('token') ?? '';
}

/** Forgets the token of this tab. */
export function signOut(): void {
  sessionStorage.removeItem(TOKEN_KEY);
  token.value = '';
}

/** Uses a token, or the one in an address, that was pasted. */
export function giveToken(text: string): void {
  const trimmed = text.trim();
  const hash = trimmed.indexOf('#');
  const given = hash < 0 ? trimmed : tokenIn(trimmed.slice(hash));
  if (given === '') return;
  sessionStorage.setItem(TOKEN_KEY, given);
  token.value = given;
}

/**
 * The frame of the page: navigation, the page for the current place, the banner for a lost connection, the help dialog. A
 * standby and a visitor who is not signed in get a page of their own instead, because nothing else can be read. When a sign-in
 * ends, the last state stays on the screen.
 */

import { computed, signal } from '@preact/signals';
import type { VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { link, linkProblem, linkStatus, live, standby } from './lib/live.ts';
import type { Place } from './lib/places.ts';
import { location, signInMode, signOut, token } from './lib/site.ts';
import { nextTheme, theme } from './lib/theme.ts';
import { useDialog } from './lib/use-dialog.ts';
import { AboutPage } from './pages/about.tsx';
import { DocsPage } from './pages/docs.tsx';
import { GraphPage } from './pages/graph.tsx';
import { ModulePage } from './pages/module.tsx';
import { ModulesPage } from './pages/modules.tsx';
import { NextPage } from './pages/next.tsx';
import { NowPage } from './pages/now.tsx';
import { QueuePage, QueuesPage } from './pages/queues.tsx';
import { RunPage } from './pages/run.tsx';
import { RunsPage } from './pages/runs.tsx';
import { SignInBanner, SignInPage } from './pages/sign-in.tsx';
import { StandbyPage } from './pages/standby.tsx';
import { TimelinePage } from './pages/timeline.tsx';
import { Search, searchRequests } from './parts/search.tsx';
import { Empty, Link, Title } from './parts/text.tsx';

/** Pages in the order of the navigation: path, name, key after `g`. */
export const PAGES = [
  ['', 'Now', 'n'],
  ['queues', 'Queues', 'q'],
  ['modules', 'Modules', 'm'],
  ['runs', 'Runs', 'r'],
  ['timeline', 'Timeline', 't'],
  ['next', 'Next', 'x'],
  ['graph', 'Graph', 'p'],
  ['about', 'About', 'a'],
] as const;

/** How often the keys were requested to be explained. */
export const helpRequests = signal(0);

export function App(): VNode {
  if (standby.value !== undefined) return <StandbyPage standby={standby.value} />;
  const isRefused = link.value === 'refused' || (token.value === '' && signInMode !== 'proxy');
  if (isRefused && !live.value.isReady) return <SignInPage />;
  return (
    <>
      <SkipLink />
      <div class="shell">
        <Navigation />
        <div class="content">
          {isRefused ? <SignInBanner /> : <Banner />}
          <main id="main" tabIndex={-1}>
            <Page place={location.value.place} />
          </main>
        </div>
      </div>
      <Speaker />
      <Search />
      <Help />
    </>
  );
}

/** The component of a place. Its parameters come from the address, so reloading shows the same. */
function Page({ place }: { place: Place }): VNode {
  switch (place.page) {
    case 'now':
      return <NowPage />;
    case 'queues':
      return <QueuesPage />;
    case 'queue':
      return <QueuePage name={place.name} />;
    case 'modules':
      return <ModulesPage />;
    case 'module':
      return <ModulePage name={place.name} tab={place.tab} />;
    case 'runs':
      return <RunsPage />;
    case 'run':
      return <RunPage id={place.id} />;
    case 'timeline':
      return <TimelinePage />;
    case 'next':
      return <NextPage />;
    case 'graph':
      return <GraphPage />;
    case 'about':
      return <AboutPage />;
    case 'docs':
      return <DocsPage />;
    case 'unknown':
      return (
        <>
          <Title>There is no such page</Title>
          <Empty>
            Go to <Link to="">Now</Link>.
          </Empty>
        </>
      );
  }
}

/** A fragment alone would lead to the base, not to this page. */
function SkipLink(): VNode {
  return (
    <a
      class="skip"
      href={`${globalThis.location.pathname}${globalThis.location.search}#main`}
      onClick={(event) => {
        event.preventDefault();
        document.querySelector<HTMLElement>('#main')?.focus();
      }}
    >
      Skip to the content
    </a>
  );
}

/** The dot shows the level of the headline; without a connection it is grey. */
function Navigation(): VNode {
  const [first = ''] = location.value.path.split('/');
  return (
    <header class="side">
      <Link class="brand" to="">
        <span class={`dot ${link.value === 'live' ? levelTone.value : 'off'}`} aria-hidden="true" />
        <span>
          {live.value.cluster || 'addon-operator'}
          {live.value.namespace !== '' && (
            <span class="where dim">
              {live.value.namespace}
              {live.value.version !== '' && ` · ${live.value.version}`}
            </span>
          )}
        </span>
      </Link>
      <button
        type="button"
        class="find"
        onClick={() => {
          searchRequests.value += 1;
        }}
      >
        Search <kbd aria-hidden="true">/</kbd>
      </button>
      <nav aria-label="Pages">
        <ul>
          {PAGES.map(([path, name]) => (
            <li key={path}>
              <Link to={path} aria-current={first === path ? 'page' : undefined}>
                {name}
              </Link>
            </li>
          ))}
        </ul>
      </nav>
      <div class="tools">
        <button type="button" onClick={nextTheme}>
          Theme: {THEME_WORDS[theme.value]}
        </button>
        <button
          type="button"
          onClick={() => {
            helpRequests.value += 1;
          }}
        >
          Keys
        </button>
        {signInMode === 'kubernetes' && (
          <button type="button" onClick={signOut}>
            Sign out
          </button>
        )}
      </div>
    </header>
  );
}

const THEME_WORDS = { system: 'auto', light: 'light', dark: 'dark' } as const;
/** A notice is no problem, so it has the colour of a good state. */
const LEVEL_TONES = { well: 'ok', notice: 'ok', waiting: 'wait', broken: 'bad' } as const;
const levelTone = computed(() => {
  const level = live.value.headline?.level;
  return level === undefined ? 'off' : LEVEL_TONES[level];
});

/** Shown while what the page shows may be old. */
function Banner(): VNode | null {
  if (link.value !== 'away') return null;
  return (
    <p class="banner" role="alert">
      <strong>
        {linkStatus.value === 503 ? 'The operator cannot show its state.' : 'The operator does not respond.'}
      </strong>{' '}
      {live.value.isReady ? 'The page shows its last state.' : 'Its state is not known yet.'} Trying again …
      {linkProblem.value !== '' && <span class="dim"> ({linkProblem.value})</span>}
    </p>
  );
}

/** A state that changes more often would interrupt the reader. */
const SPEAK_MS = 5_000;

/** Speaks the state to screen readers when it changes, at most every five seconds. */
function Speaker(): VNode {
  const spoken = useRef<HTMLOutputElement>(null);
  const lastMs = useRef(Number.NEGATIVE_INFINITY);
  // Without the seconds that it waits, which change all the time.
  const text = (live.value.headline?.text ?? '').replace(/ waits \d+ s /, ' waits ');
  useEffect(() => {
    const waitMs = Math.max(0, lastMs.current + SPEAK_MS - performance.now());
    const timer = setTimeout(() => {
      lastMs.current = performance.now();
      if (spoken.current !== null) spoken.current.textContent = text;
    }, waitMs);
    return () => clearTimeout(timer);
  }, [text]);
  return <output ref={spoken} class="unseen" />;
}

/** The keys in a modal dialog; the browser closes it with Escape. */
function Help(): VNode {
  const dialog = useDialog(helpRequests.value);
  const keys = [
    ['/', 'search everything'],
    ['f', 'filter this page'],
    ['?', 'show these keys'],
    ...PAGES.map(([, name, key]) => [`g ${key}`, `go to ${name}`] as const),
  ] as const;
  return (
    <dialog ref={dialog} aria-labelledby="keys">
      <h2 id="keys">Keys</h2>
      <dl class="keys">
        {keys.map(([key, text]) => (
          <div key={key}>
            <dt>
              {key.split(' ').map((each) => (
                <kbd key={each}>{each}</kbd>
              ))}
            </dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
      <form method="dialog">
        <button type="submit">Close</button>
      </form>
    </dialog>
  );
}

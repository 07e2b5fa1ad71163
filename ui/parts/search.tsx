/** The search over everything, in a dialog that `/` or Ctrl-K opens: results change with each letter, arrows and Enter choose. */

import { signal } from '@preact/signals';
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { pathTo, pathToRef } from '../lib/places.ts';
import type { SearchResponse, SearchResult } from '../lib/responses.ts';
import { hrefOf, navigate } from '../lib/site.ts';
import { useDialog } from '../lib/use-dialog.ts';
import { useResponse } from '../lib/use-response.ts';
import { pathToModule } from './names.ts';

/** How often the dialog was requested. */
export const searchRequests = signal(0);

const KINDS: Readonly<Record<SearchResult['kind'], string>> = {
  module: 'Module',
  hook: 'Hook',
  queue: 'Queue',
  run: 'Run',
  object: 'Object',
  page: 'Documentation',
};

/** A dialog with a field and what it finds. */
export function Search(): VNode {
  const dialog = useDialog(searchRequests.value);
  const [query, setQuery] = useState('');
  const [chosen, setChosen] = useState(0);
  const text = query.trim();
  const { data, error } = useResponse<SearchResponse>(
    text !== '' ? pathTo(['search'], { q: text }) : undefined,
  );
  const results = data?.results ?? [];
  const go = (result: SearchResult | undefined): void => {
    if (result === undefined) return;
    dialog.current?.close();
    navigate(pathOf(result));
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && results.length > 0) {
      event.preventDefault();
      setChosen((chosen + step + results.length) % results.length);
    } else if (event.key === 'Enter') {
      event.preventDefault();
      go(results[chosen]);
    }
  };
  return (
    <dialog ref={dialog} class="search" aria-label="Search">
      <input
        type="text"
        role="combobox"
        aria-label="Search modules, hooks, runs, queues, objects and the documentation"
        aria-expanded={results.length > 0}
        aria-controls="found"
        aria-activedescendant={results.length > 0 ? `found-${chosen}` : undefined}
        placeholder="Search modules, hooks, runs, queues, objects, documentation"
        autocomplete="off"
        spellcheck={false}
        value={query}
        onInput={(event) => {
          setQuery(event.currentTarget.value);
          setChosen(0);
        }}
        onKeyDown={onKeyDown}
      />
      <Results results={results} chosen={chosen} onChoose={go} />
      <output class="empty">
        {error !== undefined
          ? error.message
          : text !== '' && data !== undefined && results.length === 0 && 'Nothing has these words.'}
      </output>
    </dialog>
  );
}

/** The list below the field; the field keeps the focus. */
function Results({
  results,
  chosen,
  onChoose,
}: {
  results: readonly SearchResult[];
  chosen: number;
  onChoose: (result: SearchResult) => void;
}): VNode {
  return (
    <div id="found" role="listbox" aria-label="Results" tabIndex={-1}>
      {results.map((result, index) => (
        <a
          key={`${result.kind} ${result.module} ${result.page} ${result.name}`}
          id={`found-${index}`}
          role="option"
          tabIndex={-1}
          aria-selected={index === chosen}
          href={hrefOf(pathOf(result))}
          onClick={(event) => {
            event.preventDefault();
            onChoose(result);
          }}
        >
          <span class="dim">{KINDS[result.kind]}</span> <span class="name">{nameOf(result)}</span>
          {result.text !== '' && <span class="dim clamped"> {result.text}</span>}
        </a>
      ))}
    </div>
  );
}

function nameOf({ kind, name, module }: SearchResult): string {
  return kind === 'hook' && module !== '' ? `${module}/${name}` : name;
}

/** Objects are on the page of their module. */
function pathOf(result: SearchResult): string {
  const { kind, name, module, page } = result;
  switch (kind) {
    case 'module':
      return pathToModule(name);
    case 'hook':
      return pathToRef(`hook/${nameOf(result)}`) ?? 'runs';
    case 'queue':
      return pathTo(['queues', name]);
    case 'run':
      return pathTo(['runs', name]);
    case 'object':
      return pathToModule(module);
    case 'page':
      return pathTo(['docs'], { page, heading: name });
  }
}

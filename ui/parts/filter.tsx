/** Filters whose value is in the query of the address. */

import type { VNode } from 'preact';
import { location, setFilter } from '../lib/site.ts';

/** A field whose text is in the address, so that what it shows can be sent to others. */
export function TextFilter({
  name,
  label,
  known = [],
}: {
  name: string;
  label: string;
  /** Texts that are offered. */
  known?: readonly string[];
}): VNode {
  return (
    <label class="field">
      <span>{label}</span>
      <input
        type="search"
        name={name}
        autocomplete="off"
        list={known.length === 0 ? undefined : `known-${name}`}
        spellcheck={false}
        value={location.value.query.get(name) ?? ''}
        onInput={(event) => setFilter(name, event.currentTarget.value)}
      />
      {known.length > 0 && (
        <datalist id={`known-${name}`}>
          {known.map((text) => (
            <option key={text} value={text} />
          ))}
        </datalist>
      )}
    </label>
  );
}

/** A choice that is in the address. */
export function ChoiceFilter({
  name,
  label,
  choices,
  all = 'all',
}: {
  name: string;
  label: string;
  choices: readonly (readonly [string, string])[];
  all?: string;
}): VNode {
  return (
    <label class="field">
      <span>{label}</span>
      <select
        name={name}
        value={location.value.query.get(name) ?? ''}
        onChange={(event) => setFilter(name, event.currentTarget.value)}
      >
        <option value="">{all}</option>
        {choices.map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}

/** One of a few values as buttons in a row, in the address; pressing the chosen one again removes it. */
export function ChipFilter({
  name,
  label,
  chips,
  all,
}: {
  name: string;
  label: string;
  /** Without a count: no number. */
  chips: readonly { readonly value: string; readonly text: string; readonly count?: number }[];
  /** How many there are without the filter; absent: there is no button for that. */
  all?: number;
}): VNode {
  const chosen = location.value.query.get(name) ?? '';
  const shown = all === undefined ? chips : [{ value: '', text: 'all', count: all }, ...chips];
  return (
    <fieldset class="chips">
      <legend class="unseen">{label}</legend>
      {shown.map(({ value, text, count }) => (
        <button
          key={value}
          type="button"
          class="chip"
          aria-pressed={value === chosen}
          onClick={() => setFilter(name, value === chosen ? '' : value)}
        >
          {text}
          {count !== undefined && <span class="number"> {count}</span>}
        </button>
      ))}
    </fieldset>
  );
}

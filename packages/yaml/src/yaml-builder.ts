// Builds JSON data from the events of the YAML parser, with the rules of helm: which words are booleans,
// which numbers are exact, what is refused. Values may come from users, so the effect of aliases and merge
// keys is bounded: the size of a value is counted as if its aliases were written out. Problems carry the path
// and the position; `yaml.ts` adds file and line.

import { isObject, isRawJson, type Json } from '@addon-operator/json';
import {
  type AliasEvent,
  EVENT_ID,
  type Event,
  getScalarValue,
  type MappingEvent,
  SCALAR_STYLE,
  type ScalarEvent,
  type SequenceEvent,
} from 'js-yaml';
import { plainScalar, type YamlBooleans, YamlProblem } from './yaml-scalars.ts';

/** With MAX_MERGED_KEYS and MAX_SIZE, far beyond real values, and reached early by "billion laughs". */
const MAX_ALIASES = 1_000;
const MAX_MERGED_KEYS = 10_000;
const MAX_SIZE = 10_000_000;
/** Size of a node in addition to its characters. */
const NODE_SIZE = 8;
const MERGE_KEY = '<<';

/** A value with what must be known to bound the effect of an alias to it. */
interface Built {
  readonly value: Json;
  /** About the number of characters it takes when written out. */
  readonly size: number;
  readonly depth: number;
}

interface MapEntry {
  readonly built: Built;
  /** The node of the key; undefined for one that was merged in. */
  readonly key: Event | undefined;
}

interface BuildOptions {
  readonly booleans: YamlBooleans;
  readonly maxDepth: number;
}

/**
 * Turns parser events into the JSON data of the first document. An alias shares the value of its anchor.
 *
 * @throws YamlProblem for everything that has no place in values
 */
export function buildDocument(
  text: string,
  events: readonly Event[],
  options: BuildOptions,
): { readonly value: Json; readonly hasMoreDocuments: boolean } {
  if (events.length === 0) return { value: null, hasMoreDocuments: false };
  const builder = new DocumentBuilder(text, events, options);
  return { value: builder.build(), hasMoreDocuments: builder.hasMore };
}

class DocumentBuilder {
  readonly #text: string;
  readonly #events: readonly Event[];
  readonly #options: BuildOptions;
  readonly #anchors = new Map<string, Built>();
  readonly #path: string[] = [];
  #next = 1;
  #aliases = 0;
  #mergedKeys = 0;

  constructor(text: string, events: readonly Event[], options: BuildOptions) {
    this.#text = text;
    this.#events = events;
    this.#options = options;
  }

  build(): Json {
    return this.#node(this.#take()).value;
  }

  get hasMore(): boolean {
    return this.#events.slice(this.#next).some((event) => event.type === EVENT_ID.DOCUMENT);
  }

  /** The next event. Throws if the document ends too early. */
  #take(): Event {
    const event = this.#events[this.#next];
    if (event === undefined) throw new YamlProblem('ends too early', this.#text.length);
    this.#next += 1;
    return event;
  }

  #node(event: Event): Built {
    switch (event.type) {
      case EVENT_ID.SCALAR:
        return this.#anchor(event, this.#scalar(event));
      case EVENT_ID.SEQUENCE:
        return this.#anchor(event, this.#sequence(event));
      case EVENT_ID.MAPPING:
        return this.#anchor(event, this.#mapping(event));
      case EVENT_ID.ALIAS:
        return this.#alias(event);
      case EVENT_ID.DOCUMENT:
      case EVENT_ID.POP:
        throw new YamlProblem('ends too early', this.#text.length);
    }
  }

  /**
   * A quoted scalar is a string, a plain one has the meaning of its characters, a tag has to agree with it.
   */
  #scalar(event: ScalarEvent): Built {
    const text = getScalarValue(this.#text, event);
    const tag = this.#tag(event);
    const isPlain = event.style === SCALAR_STYLE.PLAIN;
    const size = NODE_SIZE + text.length;
    if (tag === '!!str' || tag === '!' || (tag === '' && !isPlain)) return { value: text, size, depth: 0 };
    const { booleans } = this.#options;
    const meaning = plainScalar(text, booleans);
    if (meaning.type === 'refused') throw this.#problem(meaning.why, event);
    if (tag !== '' && !SCALAR_TAGS[tag]?.(meaning.value)) throw this.#badTag(tag, event);
    return { value: meaning.value, size, depth: 0 };
  }

  #sequence(event: SequenceEvent): Built {
    const tag = this.#tag(event);
    if (tag !== '' && tag !== '!!seq') throw this.#badTag(tag, event);
    const items: Built[] = [];
    for (let item = this.#take(); item.type !== EVENT_ID.POP; item = this.#take()) {
      this.#path.push(`[${items.length}]`);
      items.push(this.#node(item));
      this.#path.pop();
    }
    return this.#collection(
      items.map((item) => item.value),
      items,
      event,
    );
  }

  #mapping(event: MappingEvent): Built {
    const tag = this.#tag(event);
    if (tag !== '' && tag !== '!!map') throw this.#badTag(tag, event);
    const entries = new Map<string, MapEntry>();
    let mergeKey: Event | undefined;
    for (let keyEvent = this.#take(); keyEvent.type !== EVENT_ID.POP; keyEvent = this.#take()) {
      const { key, isMergeKey } = this.#key(keyEvent);
      this.#path.push(`.${key}`);
      const first = isMergeKey ? mergeKey : entries.get(key)?.key;
      if (first !== undefined) {
        const why = `the key is given twice, first in line ${this.#lineOf(first)}: remove one of the two`;
        throw this.#problem(why, keyEvent);
      }
      if (isMergeKey) {
        mergeKey = keyEvent;
        this.#merge(entries, this.#take());
      } else {
        entries.set(key, { built: this.#node(this.#take()), key: keyEvent });
      }
      this.#path.pop();
    }
    const pairs = [...entries].map(([key, { built }]) => [key, built.value] as const);
    // Defines own properties, so a key such as `__proto__` stays plain data.
    const parts = [...entries].map(([key, { built }]) => ({ ...built, size: built.size + key.length }));
    return this.#collection(Object.fromEntries(pairs), parts, event);
  }

  /** Keys are strings as written: never numbers or booleans. */
  #key(event: Event): { readonly key: string; readonly isMergeKey: boolean } {
    if (event.type !== EVENT_ID.SCALAR) throw this.#problem('keys must be plain strings', event);
    const tag = this.#tag(event);
    const isPlain = event.style === SCALAR_STYLE.PLAIN;
    const key = getScalarValue(this.#text, event);
    if (tag !== '' && tag !== '!!str' && tag !== '!') throw this.#badTag(tag, event);
    if (isPlain && key === '') throw this.#problem('a key is missing', event);
    this.#anchor(event, { value: key, size: NODE_SIZE + key.length, depth: 0 });
    return { key, isMergeKey: isPlain && tag === '' && key === MERGE_KEY };
  }

  /** Adds the keys of the merged map, or of each map in a list; keys that are there already win. */
  #merge(entries: Map<string, MapEntry>, event: Event): void {
    const { value, size, depth } = this.#node(event);
    const maps = (Array.isArray(value) ? value : [value]).map((map: Json) => {
      if (!isObject(map)) throw this.#problem('only maps can be merged', event);
      return Object.entries(map);
    });
    const pairs = maps.flat();
    this.#mergedKeys += maps.length + pairs.length;
    if (this.#mergedKeys > MAX_MERGED_KEYS) {
      throw this.#problem(`more than ${MAX_MERGED_KEYS} merged keys`, event);
    }
    for (const [key, merged] of pairs) {
      const built: Built = { value: merged, size: size / pairs.length, depth };
      if (!entries.has(key)) entries.set(key, { built, key: undefined });
    }
  }

  /** Shares the value of an anchor that is complete: a value cannot contain itself. */
  #alias(event: AliasEvent): Built {
    const name = this.#text.slice(event.anchorStart, event.anchorEnd);
    const built = this.#anchors.get(name);
    if (built === undefined) throw this.#problem(`there is no complete anchor "${name}" above`, event);
    this.#aliases += 1;
    if (this.#aliases > MAX_ALIASES) throw this.#problem(`more than ${MAX_ALIASES} aliases`, event);
    return built;
  }

  #anchor(event: ScalarEvent | SequenceEvent | MappingEvent, built: Built): Built {
    if (event.anchorStart >= 0) {
      this.#anchors.set(this.#text.slice(event.anchorStart, event.anchorEnd), built);
    }
    return built;
  }

  /** Checks size and depth of a map or list. */
  #collection(value: Json, parts: readonly Built[], event: Event): Built {
    const size = parts.reduce((sum, part) => sum + part.size, NODE_SIZE);
    const depth = 1 + parts.reduce((deepest, part) => Math.max(deepest, part.depth), 0);
    if (size > MAX_SIZE) throw this.#problem('too large once aliases are written out', event);
    if (depth > this.#options.maxDepth)
      throw this.#problem(`nested deeper than ${this.#options.maxDepth} levels`, event);
    return { value, size, depth };
  }

  #tag(event: ScalarEvent | SequenceEvent | MappingEvent): string {
    return event.tagStart < 0 ? '' : this.#text.slice(event.tagStart, event.tagEnd);
  }

  #badTag(tag: string, event: Event): YamlProblem {
    return this.#problem(`the tag ${tag} is not supported here`, event);
  }

  #lineOf(event: Event): number {
    return this.#text.slice(0, offsetOf(event)).split('\n').length;
  }

  #problem(why: string, event: Event): YamlProblem {
    const path = this.#path.join('').replace(/^\./, '');
    return new YamlProblem(path === '' ? why : `at ${path}: ${why}`, offsetOf(event));
  }
}

const SCALAR_TAGS: Readonly<Record<string, (value: Json) => boolean>> = {
  '!!null': (value) => value === null,
  '!!bool': (value) => typeof value === 'boolean',
  '!!int': (value) => Number.isInteger(value) || isRawJson(value),
  '!!float': (value) => typeof value === 'number' || isRawJson(value),
};

/** Position of an event in the source. */
function offsetOf(event: Event): number {
  switch (event.type) {
    case EVENT_ID.SCALAR:
      return event.valueStart >= 0 ? event.valueStart : Math.max(0, event.tagStart, event.anchorStart);
    case EVENT_ID.SEQUENCE:
    case EVENT_ID.MAPPING:
      return event.start;
    case EVENT_ID.ALIAS:
      return event.anchorStart;
    case EVENT_ID.DOCUMENT:
    case EVENT_ID.POP:
      return 0;
  }
}

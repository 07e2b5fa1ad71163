/**
 * The reducer of the stream: state and events in, new state out. It is pure, so tests replay events. The events are those of
 * `src/server/api/stream-hub.ts`: a snapshot replaces a topic, others set or remove one item. Unknown events are ignored,
 * so an older page works with a newer operator.
 */

import type { StreamEvent } from '@addon-operator/http-server/event-stream';
import type { HeadlineResponse, ModuleResponse, NextItem, QueueResponse, RunView } from './responses.ts';

/** The state that the stream has delivered. Maps are replaced when they change, never changed in place. */
export interface LiveState {
  /** Empty before the first response; another one after each start of the operator. */
  readonly bootId: string;
  readonly version: string;
  /** Of the operator. */
  readonly namespace: string;
  /** Its name; empty if it has none. */
  readonly cluster: string;
  /** Everything is there: an empty list means that there is nothing. */
  readonly isReady: boolean;
  readonly queues: ReadonlyMap<string, QueueResponse>;
  /** In run order. */
  readonly modules: ReadonlyMap<string, ModuleResponse>;
  /** The oldest first. */
  readonly runs: ReadonlyMap<string, RunView>;
  readonly next: readonly NextItem[];
  /** Undefined before the first response. */
  readonly headline: HeadlineResponse | undefined;
}

export const EMPTY_STATE: LiveState = {
  bootId: '',
  version: '',
  namespace: '',
  cluster: '',
  isReady: false,
  queues: new Map(),
  modules: new Map(),
  runs: new Map(),
  next: [],
  headline: undefined,
};

/** Runs are kept for lists; older ones are read from the API. */
const MAX_RUNS = 500;

/** The maps of a new state; each is copied once, however many events change it. */
class Draft {
  state: LiveState;
  readonly #maps = new Map<string, Map<string, unknown>>();

  constructor(state: LiveState) {
    this.state = state;
  }

  map<Item>(name: 'queues' | 'modules' | 'runs'): Map<string, Item> {
    let copy = this.#maps.get(name) as Map<string, Item> | undefined;
    if (copy !== undefined) return copy;
    copy = new Map(this.state[name] as ReadonlyMap<string, unknown>) as Map<string, Item>;
    this.#maps.set(name, copy);
    return copy;
  }

  clear(fields: Pick<LiveState, 'bootId'>): void {
    this.#maps.clear();
    this.state = { ...EMPTY_STATE, ...fields };
  }

  finish(): LiveState {
    return { ...this.state, ...Object.fromEntries(this.#maps) };
  }
}

/** The state after some events of the stream. A snapshot replaces its topic; another `bootId` clears everything. */
export function afterEvents(state: LiveState, events: readonly StreamEvent[]): LiveState {
  const draft = new Draft(state);
  let hasRuns = false;
  for (const { event, data } of events) {
    apply(draft, event, JSON.parse(data) as Data);
    hasRuns ||= event === 'run';
  }
  if (hasRuns) dropOldRuns(draft.map('runs'));
  return draft.finish();
}

/** Fields of the events, of which each has some. */
interface Data extends HeadlineResponse {
  readonly bootId: string;
  readonly version: string;
  readonly namespace?: string;
  readonly cluster?: string;
  readonly topic: string;
  readonly data: Data;
  readonly queues: readonly QueueResponse[];
  readonly modules: readonly ModuleResponse[];
  readonly runs: readonly RunView[];
  readonly items: readonly NextItem[];
  readonly name: string;
  readonly module: string;
  readonly id: string;
}

/** One event. The draft is changed in place; state objects are replaced. */
function apply(draft: Draft, event: string, data: Data): void {
  const { state } = draft;
  switch (event) {
    case 'hello': {
      const { bootId, version, namespace = '', cluster = '' } = data;
      if (bootId !== state.bootId) draft.clear({ bootId });
      draft.state = { ...draft.state, version, namespace, cluster };
      return;
    }
    case 'ready':
      draft.state = { ...state, isReady: true };
      return;
    case 'snapshot':
      if (data.topic === 'headline') draft.state = { ...state, headline: data.data };
      else applySnapshot(draft, data.topic, data.data);
      return;
    case 'queue':
      draft.map('queues').set(data.name, data);
      return;
    case 'queue-removed':
      draft.map('queues').delete(data.name);
      return;
    case 'module':
      draft.map('modules').set(data.module, data);
      return;
    case 'module-removed':
      draft.map('modules').delete(data.module);
      return;
    case 'run':
      draft.map('runs').set(data.id, data);
      return;
    case 'next':
      draft.state = { ...state, next: data.items };
      return;
    case 'headline':
      draft.state = { ...state, headline: data };
      return;
    default:
    // Events of a later version.
  }
}

/** The whole content of one topic. */
function applySnapshot(draft: Draft, topic: string, { queues, modules, runs, items }: Data): void {
  if (topic === 'queues') refill(draft.map<QueueResponse>('queues'), queues, ({ name }) => name);
  else if (topic === 'modules') refill(draft.map<ModuleResponse>('modules'), modules, ({ module }) => module);
  // The response has the newest first.
  else if (topic === 'runs') refill(draft.map<RunView>('runs'), runs.toReversed(), ({ id }) => id);
  else if (topic === 'next') draft.state = { ...draft.state, next: items };
}

/** Keeps the order of the items, which is the order of lists. */
function refill<Item>(map: Map<string, Item>, items: readonly Item[], key: (item: Item) => string): void {
  map.clear();
  for (const item of items) map.set(key(item), item);
}

/** A map iterates in the order of insertion: the oldest run comes first. */
function dropOldRuns(runs: Map<string, RunView>): void {
  for (const id of runs.keys()) {
    if (runs.size <= MAX_RUNS) return;
    runs.delete(id);
  }
}

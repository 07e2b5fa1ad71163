/**
 * The live updates of the page (server-sent events). While at least one client is connected, the hub compares the state of
 * the daemon with what clients know, three times a second, and broadcasts the differences. State is polled, and a cheap
 * key says whether a look is worth it, so a busy daemon pays nothing per event. A client that reads too slowly is dropped
 * and reconnects with the id of its last event; if too much was missed, it gets snapshots again.
 */

import type { SteadyClock } from '@addon-operator/base/clock';
import type { StreamSink } from '@addon-operator/http-server/response';
import type { LogTail } from '@addon-operator/logging/log-tail';
import type { Redactor } from '@addon-operator/masking/redactor';
import type { DaemonView } from '../../status/daemon-view.ts';
import { headlineData, modulesData, nextData, queuesData } from './api-handler.ts';
import { clusterNameOf, type OperatorIdentity } from './api-route.ts';
import { LiveLines } from './live-lines.ts';

export interface StreamHubOptions {
  readonly view: DaemonView;
  readonly identity: OperatorIdentity;
  readonly clock: SteadyClock;
  /** The log; absent: there is nothing of it to follow. */
  readonly log?: LogTail | undefined;
  /** Masks secrets in what is sent. */
  readonly redactor?: Pick<Redactor, 'json' | 'revision'> | undefined;
}

/** The topics of clients that name none. */
export const TOPICS = ['queues', 'modules', 'runs', 'next', 'headline'] as const;
type Topic = (typeof TOPICS)[number];
/** Lines, which are not repeated to a client that comes back. */
export const LINE_TOPICS = ['log', 'output'] as const;
export type AnyTopic = Topic | (typeof LINE_TOPICS)[number];

interface Delta {
  readonly seq: number;
  readonly topic: Topic;
  readonly text: string;
}

interface Client {
  readonly sink: StreamSink;
  readonly topics: ReadonlySet<AnyTopic>;
  /** Whose output it wants; undefined: that of all runs. */
  readonly run: string | undefined;
}

/** A client's request. */
export interface StreamWishes {
  readonly topics: readonly AnyTopic[];
  readonly lastEventId: string | undefined;
  readonly run?: string | undefined;
}

/** Changes are sent at most three times a second: a page shows them within 400 ms, and looking costs a busy daemon little. */
export const TICK_MS = 350;
/** Below the 90 s after which a silent connection is closed, and the minutes after which proxies do. */
export const HEARTBEAT_MS = 15_000;
/** Changes without a run or a task, such as a pause, are detected this often. */
const FULL_LOOK_MS = 10_000;
const KEPT_DELTAS = 1_000;
const KEPT_CHARACTERS = 4 * 1024 * 1024;
const MAX_UNSENT_BYTES = 1024 * 1024;
export const MAX_STREAMS = 20;
const RUNS_OF_SNAPSHOT = 50;
const NEXT_MS = 24 * 3_600_000;

/**
 * Sends changes to clients as server-sent events: `hello`, a `snapshot` of each topic, `ready`, then one event for each
 * thing that is different, serialized once for all clients. Nothing is computed while there is no client. A client that
 * comes back with the id of its last event gets only what it missed, as long as that is among the last 1,000 deltas.
 */
export class StreamHub {
  readonly #options: StreamHubOptions;
  readonly #clients = new Set<Client>();
  /** The state that clients know, as masked JSON: queues and modules by name, in their order. */
  readonly #known: Record<'queues' | 'modules', ReadonlyMap<string, string>> = {
    queues: new Map(),
    modules: new Map(),
  };
  /** The same for topics that are sent as a whole. */
  readonly #knownWhole = { next: '', headline: '' };
  readonly #lines: LiveLines;
  readonly #deltas: Delta[] = [];
  /** Deltas of the present look, sent in one write at its end. */
  #unsent: Delta[] = [];
  #deltaCharacters = 0;
  #seq = 0;
  #runRevision = 0;
  #secretsRevision = 0;
  #stateKey = '';
  #lastLookMs = Number.NEGATIVE_INFINITY;
  #lastBeatMs = 0;
  #isTicking = false;

  constructor(options: StreamHubOptions) {
    this.#options = options;
    this.#lines = new LiveLines(options.view.journal, options.log);
  }

  get isFull(): boolean {
    return this.#clients.size >= MAX_STREAMS;
  }

  /** Serves a client until the signal aborts, or the client is dropped because it does not read. */
  async serve(
    sink: StreamSink,
    { topics, lastEventId, run }: StreamWishes,
    signal: AbortSignal,
  ): Promise<void> {
    const client: Client = { sink, topics: new Set(topics), run };
    // The snapshots below are made of what the last look has found, so it must be current.
    this.#look(true);
    this.#sendSnapshots(client, lastEventId);
    this.#clients.add(client);
    this.#followLines();
    const { promise, resolve } = Promise.withResolvers<void>();
    signal.addEventListener('abort', () => resolve(), { once: true });
    if (signal.aborted) resolve();
    void this.#tick();
    await promise;
    this.#clients.delete(client);
    this.#followLines();
  }

  #followLines(): void {
    const clients = [...this.#clients];
    this.#lines.follow({
      log: clients.some(({ topics }) => topics.has('log')),
      output: clients.some(({ topics }) => topics.has('output')),
    });
  }

  #sendSnapshots(client: Client, lastEventId: string | undefined): void {
    const { bootId, version, namespace, nowIso } = this.#options.identity;
    const missed = this.#missedSince(lastEventId);
    const isResumed = missed !== undefined;
    const hello = {
      bootId,
      version,
      namespace,
      cluster: clusterNameOf(this.#options),
      at: nowIso(),
      seq: this.#seq,
      isResumed,
      heartbeatMs: HEARTBEAT_MS,
    };
    let content = eventText('hello', JSON.stringify(hello));
    for (const topic of client.topics)
      if (!isResumed || topic === 'log')
        content += eventText('snapshot', `{"topic":"${topic}","data":${this.#snapshot(topic, client)}}`);
    for (const delta of missed ?? []) if (client.topics.has(delta.topic)) content += delta.text;
    // Only now the client has everything: an id on a snapshot would let it resume without the others.
    content += eventText('ready', '{}', this.#idOf(this.#seq));
    client.sink.write(content);
  }

  /** Undefined if the client must begin anew. */
  #missedSince(lastEventId: string | undefined): readonly Delta[] | undefined {
    const [, bootId, number] = /^(.+)\.(\d+)$/.exec(lastEventId ?? '') ?? [];
    if (bootId !== this.#options.identity.bootId) return undefined;
    const seq = Number(number);
    // Events are numbered without gaps, so the kept ones follow from their count.
    const oldest = this.#seq - this.#deltas.length;
    return seq >= oldest && seq <= this.#seq ? this.#deltas.filter((delta) => delta.seq > seq) : undefined;
  }

  /** As JSON. What was compared just now is not computed again: a page waits for it. */
  #snapshot(topic: AnyTopic, { run }: Client): string {
    const { view } = this.#options;
    switch (topic) {
      case 'queues':
        return `{"queues":[${[...this.#known.queues.values()].join(',')}]}`;
      case 'modules':
        return `{"modules":[${[...this.#known.modules.values()].join(',')}]}`;
      case 'runs':
        return this.#json(view.journal.list({ limit: RUNS_OF_SNAPSHOT }));
      case 'next':
        return this.#knownWhole.next;
      case 'headline':
        return this.#datedHeadline();
      case 'log':
        return this.#json({ lines: this.#lines.recent });
      case 'output':
        return this.#json({
          output: run === undefined ? null : (view.journal.details(Number(run))?.output ?? null),
        });
    }
  }

  async #tick(): Promise<void> {
    // One loop for all clients; it ends by itself after the last one has left.
    if (this.#isTicking) return;
    this.#isTicking = true;
    const { clock } = this.#options;
    this.#lastBeatMs = clock.steadyMs();
    // The loop looks at the clients after each sleep, so nothing has to interrupt it.
    const never = new AbortController().signal;
    while (this.#clients.size > 0) {
      await clock.sleep(TICK_MS, never);
      this.#look(false);
      this.#sendLines();
      if (clock.steadyMs() - this.#lastBeatMs < HEARTBEAT_MS) continue;
      this.#lastBeatMs = clock.steadyMs();
      for (const client of this.#clients) this.#send(client, ': heartbeat\n\n');
    }
    this.#isTicking = false;
  }

  /** Creates deltas for everything that differs from the state that clients know. */
  #look(isFull: boolean): void {
    const { view, clock } = this.#options;
    const stateKey = view.stateKey();
    // The key changes with runs and tasks only; pauses, watches and times are compared at the longer interval.
    const isDue = clock.steadyMs() - this.#lastLookMs >= FULL_LOOK_MS;
    const hasNewSecrets = this.#forgetUnmasked();
    if (!isFull && !isDue && !hasNewSecrets && stateKey === this.#stateKey) return;
    this.#stateKey = stateKey;
    this.#lastLookMs = clock.steadyMs();
    const queues = queuesData(view).map((queue) => [queue.name, queue] as const);
    this.#compare('queues', 'queue', 'name', queues);
    const modules = modulesData(view).map((module) => [module.module, module] as const);
    this.#compare('modules', 'module', 'module', modules);
    this.#compareRuns();
    this.#compareWhole('next', { items: nextData(view, NEXT_MS) });
    this.#compareWhole('headline', headlineData(view.status()));
    this.#sendDeltas();
  }

  #sendDeltas(): void {
    const deltas = this.#unsent;
    this.#unsent = [];
    for (const client of this.#clients) {
      const strings = deltas.flatMap(({ topic, text }) => (client.topics.has(topic) ? [text] : []));
      if (strings.length > 0) this.#send(client, strings.join(''));
    }
  }

  /** Deltas from before a secret became known may contain it, so they are dropped. Clients that need them begin anew. */
  #forgetUnmasked(): boolean {
    const { revision = 0 } = this.#options.redactor ?? {};
    if (revision === this.#secretsRevision) return false;
    this.#secretsRevision = revision;
    this.#forgetDeltas();
    return true;
  }

  #forgetDeltas(): void {
    this.#deltas.length = 0;
    this.#deltaCharacters = 0;
  }

  #compare(
    topic: 'queues' | 'modules',
    event: string,
    keyName: string,
    items: readonly (readonly [key: string, item: object])[],
  ): void {
    const known = this.#known[topic];
    const now = new Map<string, string>();
    for (const [key, item] of items) {
      // Masked before it is compared: a new secret makes a difference here, and is sent masked.
      const json = this.#json(item);
      now.set(key, json);
      if (known.get(key) !== json) this.#push(topic, event, json);
    }
    this.#known[topic] = now;
    for (const key of known.keys())
      if (!now.has(key)) this.#push(topic, `${event}-removed`, this.#json({ [keyName]: key }));
  }

  #compareWhole(topic: 'next' | 'headline', data: object): void {
    const json = this.#json(data);
    if (this.#knownWhole[topic] === json) return;
    this.#knownWhole[topic] = json;
    this.#push(topic, topic, topic === 'headline' ? this.#datedHeadline() : json);
  }

  /** With the time from which its seconds count, which alone is no change. */
  #datedHeadline(): string {
    return `{"at":"${this.#options.identity.nowIso()}",${this.#knownWhole.headline.slice(1)}`;
  }

  #sendLines(): void {
    const { log, outputs } = this.#lines.take();
    if (log.lines.length > 0) {
      const content = eventText('log', this.#json(log));
      for (const client of this.#clients) if (client.topics.has('log')) this.#send(client, content);
    }
    for (const part of outputs) {
      const message = eventText('output', this.#json(part));
      for (const client of this.#clients)
        if (client.topics.has('output') && (client.run ?? part.runId) === part.runId)
          this.#send(client, message);
    }
  }

  #compareRuns(): void {
    const { journal } = this.#options.view;
    const { runs, isComplete } = journal.changedSince(this.#runRevision);
    // What the journal has forgotten cannot be sent: clients that would resume before this begin anew.
    if (!isComplete) this.#forgetDeltas();
    this.#runRevision = journal.revision;
    for (const run of runs) this.#push('runs', 'run', this.#json(run));
  }

  #push(topic: Topic, event: string, data: string): void {
    this.#seq += 1;
    const delta = { seq: this.#seq, topic, text: eventText(event, data, this.#idOf(this.#seq)) };
    this.#deltas.push(delta);
    this.#unsent.push(delta);
    this.#deltaCharacters += delta.text.length;
    // Bounded by number and by size: modules with long errors make large deltas.
    while (this.#deltas.length > KEPT_DELTAS || this.#deltaCharacters > KEPT_CHARACTERS)
      this.#deltaCharacters -= this.#deltas.shift()?.text.length ?? 0;
  }

  #send(client: Client, content: string): void {
    // Back-pressure: a client that does not read must not fill the memory of the operator.
    if (client.sink.unsentBytes > MAX_UNSENT_BYTES) {
      this.#clients.delete(client);
      client.sink.drop();
    } else client.sink.write(content);
  }

  /** With masked secrets. */
  #json(data: object): string {
    const json = JSON.stringify(data);
    return this.#options.redactor?.json(json) ?? json;
  }

  #idOf(seq: number): string {
    return `${this.#options.identity.bootId}.${seq}`;
  }
}

/** JSON has no line ends, so one line of data is enough. */
function eventText(event: string, data: string, id?: string): string {
  return `${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${data}\n\n`;
}

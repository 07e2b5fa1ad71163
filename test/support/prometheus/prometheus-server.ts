import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { dump } from 'js-yaml';
import { freePorts } from '../control-plane/free-ports.ts';

export interface PrometheusServerOptions {
  readonly file: string;
  /** Addresses with ports that are scraped every second. */
  readonly targets: readonly string[];
  /** Labels of every series besides `job` (`op`) and `instance`. */
  readonly labels: Readonly<Record<string, string>>;
  /** Groups of rules, evaluated every second. */
  readonly rules: unknown;
}

/** One series of a response with its newest value. */
export interface InstantSample {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [number, string];
}

/** Times in seconds since 1970. */
export interface QueryRange {
  readonly start: number;
  readonly end: number;
  readonly step: number;
}

/** One series of a response with its values over time. */
export interface RangeSamples {
  readonly metric: Readonly<Record<string, string>>;
  readonly values: readonly (readonly [seconds: number, value: string])[];
}

interface Alert {
  readonly labels: Readonly<Record<string, string>>;
  readonly state: 'pending' | 'firing';
}

/** A real Prometheus on loopback with an empty database. Disposing it ends the process and removes its files. */
export class PrometheusServer implements AsyncDisposable {
  readonly #url: string;
  readonly #child: ChildProcess;
  readonly #directory: string;

  private constructor(url: string, child: ChildProcess, directory: string) {
    this.#url = url;
    this.#child = child;
    this.#directory = directory;
  }

  static async start({ file, targets, labels, rules }: PrometheusServerOptions): Promise<PrometheusServer> {
    const directory = await mkdtemp(join(tmpdir(), 'prometheus-'));
    await writeFile(join(directory, 'rules.yaml'), dump(rules));
    await writeFile(
      join(directory, 'prometheus.yaml'),
      dump({
        global: { scrape_interval: '1s', evaluation_interval: '1s' },
        rule_files: ['rules.yaml'],
        scrape_configs: [{ job_name: 'op', static_configs: [{ targets, labels }] }],
      }),
    );
    const [port = 0] = await freePorts(1);
    const flags = [
      '--config.file=prometheus.yaml',
      '--storage.tsdb.path=data',
      `--web.listen-address=127.0.0.1:${port}`,
    ];
    const child = spawn(file, flags, { cwd: directory, stdio: ['ignore', 'ignore', 'pipe'] });
    await untilReady(child);
    return new PrometheusServer(`http://127.0.0.1:${port}`, child, directory);
  }

  /** Base address of its API. */
  get url(): string {
    return this.#url;
  }

  /** The newest values. Throws with Prometheus' message when it cannot evaluate the expression. */
  async query(expr: string): Promise<readonly InstantSample[]> {
    const reply = await this.#get(`/api/v1/query?${new URLSearchParams({ query: expr }).toString()}`);
    const { result } = reply as { readonly result: readonly InstantSample[] };
    return result;
  }

  /** Values over time, a value each `step` seconds. */
  async queryRange(expr: string, { start, end, step }: QueryRange): Promise<readonly RangeSamples[]> {
    const range = { query: expr, start: String(start), end: String(end), step: String(step) };
    const reply = await this.#get(`/api/v1/query_range?${new URLSearchParams(range).toString()}`);
    const { result } = reply as { readonly result: readonly RangeSamples[] };
    return result;
  }

  /** Names of the alerts that fire, in order of the alphabet. */
  async firing(): Promise<readonly string[]> {
    const { alerts } = (await this.#get('/api/v1/alerts')) as { readonly alerts: readonly Alert[] };
    const firing = alerts.filter(({ state }) => state === 'firing');
    const names = new Set(firing.map(({ labels }) => labels['alertname'] ?? ''));
    return [...names].toSorted((a, b) => a.localeCompare(b));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const exited = once(this.#child, 'exit');
    if (this.#child.exitCode === null && this.#child.kill('SIGKILL')) await exited;
    await rm(this.#directory, { recursive: true, force: true });
  }

  async #get(path: string): Promise<unknown> {
    const response = await fetch(new URL(path, this.#url));
    const reply = (await response.json()) as { readonly data?: unknown; readonly error?: string };
    if (reply.error !== undefined) throw new Error(`${path}: ${reply.error}`);
    return reply.data;
  }
}

async function untilReady({ stderr }: ChildProcess): Promise<void> {
  if (stderr === null) throw new Error('Prometheus has no pipe');
  const lines: string[] = [];
  const ready = Promise.withResolvers<void>();
  createInterface({ input: stderr })
    .on('line', (line) => {
      lines.push(line);
      if (line.includes('Server is ready to receive web requests')) ready.resolve();
    })
    .on('close', () => ready.reject(new Error(`Prometheus ended: ${lines.slice(-5).join(' ')}`)));
  await ready.promise;
}

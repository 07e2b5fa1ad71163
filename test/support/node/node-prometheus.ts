import { mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { GuardedProcess } from '../control-plane/guarded-process.ts';
import type { InstantSample } from '../prometheus/prometheus-server.ts';
import type { TestNode } from './test-node.ts';

/** In the network of the node, which has no other Prometheus. */
const ADDRESS = '127.0.0.1:9090';

/** A Prometheus in the network of a node, where the addresses of Services are reached. */
export class NodePrometheus implements AsyncDisposable {
  readonly #node: TestNode;
  readonly #server: GuardedProcess;

  private constructor(node: TestNode, server: GuardedProcess) {
    this.#node = node;
    this.#server = server;
  }

  /** @param target address and port that is scraped every second */
  static async start(node: TestNode, file: string, target: string): Promise<NodePrometheus> {
    const directory = await mkdtemp(join(node.directory, 'prometheus-'));
    const config = join(directory, 'prometheus.json');
    const scrape = { job_name: 'operator', static_configs: [{ targets: [target] }] };
    await writeFile(config, JSON.stringify({ global: { scrape_interval: '1s' }, scrape_configs: [scrape] }));
    const flags = [`--config.file=${config}`, `--storage.tsdb.path=${join(directory, 'data')}`];
    const server = await node.startProgram('prometheus', file, ...flags, `--web.listen-address=${ADDRESS}`);
    return new NodePrometheus(node, server);
  }

  /** The newest values; none while it does not respond. */
  async query(expr: string): Promise<readonly InstantSample[]> {
    const url = `http://${ADDRESS}/api/v1/query?${new URLSearchParams({ query: expr }).toString()}`;
    const { exitCode, stdout } = await this.#node.run('curl', '--silent', '--fail', url);
    if (exitCode !== 0) return [];
    const { data } = JSON.parse(stdout) as { readonly data: { readonly result: readonly InstantSample[] } };
    return data.result;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.kill();
  }
}

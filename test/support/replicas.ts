import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, vi } from 'vitest';
import { freePorts } from './control-plane/free-ports.ts';
import { DaemonProcess } from './daemon-process.ts';
import type { FaultProxy } from './fault-proxy.ts';
import type { World } from './world.ts';
import { shHook } from './world-files.ts';

/** Times of the lease in tests, as flags: on a busy machine a leader needs seconds for a request, and to end its hooks. */
const LEASE_FLAGS = { 'lease-duration': '12s', 'lease-renew-deadline': '7s', 'lease-retry-period': '1s' };

const HANDED_OVER = 'Restarting because the leadership was handed over';

const LEASE_NAME = 'addon-operator-leader-election';
const PRELOADED = ['cluster-dns.ts', 'throw-on-signal.ts'].map(
  (file) => `--import=${pathToFileURL(join(import.meta.dirname, file)).href}`,
);

/** Several daemons with high availability on one world, each a process with an address of its own. */
export class Replicas {
  readonly #world: World;
  readonly #port: number;

  private constructor(world: World, port: number) {
    this.#world = world;
    this.#port = port;
  }

  static async on(world: World): Promise<Replicas> {
    const [port = 0] = await freePorts(1);
    return new Replicas(world, port);
  }

  /**
   * Starts the replica `pod-<number>` at `127.0.0.<number>`.
   *
   * @param proxy its only way to the API server
   */
  async start(
    number: number,
    proxy?: FaultProxy,
    flags: Readonly<Record<string, string>> = {},
  ): Promise<DaemonProcess> {
    const { directory } = this.#world;
    const own = (name: string): string => join(directory, `${name}-${number}`);
    if (proxy !== undefined) await writeFile(own('kubeconfig'), proxy.kubeconfig);
    return DaemonProcess.start(
      this.#world,
      {
        ...LEASE_FLAGS,
        'tmp-dir': own('tmp'),
        'debug-unix-socket': own('debug.socket'),
        'prometheus-listen-address': this.address(number),
        'prometheus-listen-port': String(this.#port),
        ...(proxy === undefined ? {} : { 'kube-config': own('kubeconfig') }),
        ...flags,
      },
      {
        ADDON_OPERATOR_HA: 'true',
        ADDON_OPERATOR_POD: `pod-${number}`,
        NODE_OPTIONS: PRELOADED.join(' '),
      },
    );
  }

  address(number: number): string {
    return `127.0.0.${number}`;
  }

  /** The address and port of the HTTP server of a replica. */
  host(number: number): string {
    return `${this.address(number)}:${this.#port}`;
  }

  /** What the HTTP server of a replica answers. */
  async ask(number: number, path: string): Promise<{ readonly status: number; readonly body: string }> {
    const response = await fetch(`http://${this.host(number)}${path}`);
    return { status: response.status, body: await response.text() };
  }
}

/** Waits until the replica leads. */
export async function untilLeading(daemon: DaemonProcess): Promise<void> {
  await daemon.log.untilMessage('this replica is the leader');
}

/** The `spec` of the Lease. */
export async function leaseOf(world: World): Promise<Readonly<Record<string, unknown>>> {
  const { spec } = (await world.expect({ path: leasePath(world) })) as { spec: Record<string, unknown> };
  return spec;
}

export function leasePath(world: World): string {
  return `/apis/coordination.k8s.io/v1/namespaces/${world.namespace}/leases/${LEASE_NAME}`;
}

/** A hook that never ends, ignores TERM, fills a pipe in a second, and notes every 20 ms that it lives: `<ms> <pod>`. */
export const BEATING_HOOK = shHook(
  'onStartup: 1',
  `
trap '' TERM
echo "hook runs"
(while :; do echo "$(date +%s%3N) $ADDON_OPERATOR_POD" >> "$WORLD/beats"; sleep 0.02; done) &
line=$(head -c 2000 /dev/zero | tr '\\0' x)
while :; do echo "$line"; sleep 0.02; done`,
);

/** The same as a script in a thread: it never ends and hears nothing. */
export const BEATING_SCRIPT = `
import { appendFileSync } from 'node:fs';
import { defineHook } from 'addon-operator/sdk';
export default defineHook({ onStartup: 1 }, () => {
  const { WORLD, ADDON_OPERATOR_POD } = process.env;
  const pause = new Int32Array(new SharedArrayBuffer(4));
  for (;;) {
    appendFileSync(WORLD + '/beats', Date.now() + ' ' + ADDON_OPERATOR_POD + '\\n');
    Atomics.wait(pause, 0, 0, 20);
  }
});
`;

/** First and last sign of life of the hook on a replica, in milliseconds; undefined when there is none. */
export async function beatsOf(
  world: World,
  number: number,
): Promise<{ readonly firstMs: number; readonly lastMs: number } | undefined> {
  const text = await readFile(join(world.directory, 'beats'), 'utf8').catch(() => '');
  const times = text
    .split('\n')
    .filter((line) => line.endsWith(` pod-${number}`))
    .map((line) => Number.parseInt(line, 10));
  const [firstMs] = times;
  const lastMs = times.at(-1);
  return firstMs === undefined || lastMs === undefined ? undefined : { firstMs, lastMs };
}

/** Waits until the hook runs on a replica. */
export async function untilBeating(world: World, number: number): Promise<void> {
  await vi.waitFor(
    async () => {
      if ((await beatsOf(world, number)) === undefined) throw new Error(`no hook runs on pod-${number}`);
    },
    { timeout: 60_000, interval: 50 },
  );
}

/** Time between the last sign of life of the hook of the first and the first sign of that of the second. */
export async function gapMs(world: World): Promise<number> {
  const [one, two] = [await beatsOf(world, 1), await beatsOf(world, 2)];
  if (one === undefined || two === undefined) throw new Error('a hook did not run');
  return two.firstMs - one.lastMs;
}

/** Exit code 0, and the record that says why the daemon has given up the leadership. */
export async function expectSteppedDown(daemon: DaemonProcess, reason: string): Promise<void> {
  expect(await daemon.exited).toEqual({ code: 0, signal: null });
  expect(daemon.log.records).toContainEqual(
    expect.objectContaining({ msg: HANDED_OVER, error: expect.stringContaining(reason) }),
  );
}

import type { Clock } from '@addon-operator/base/clock';
import type { ApiProbe } from '../control-plane/api-probe.ts';
import { type NodeIdentity, PROXY_HEALTH } from './kubelet-files.ts';
import type { Machine } from './machine.ts';
import { isNodeReady } from './node-condition.ts';
import { KUBELET_SERVICES, type KubeletService } from './node-services.ts';

export interface FurtherNodeParts {
  readonly identity: NodeIdentity;
  readonly machine: Machine<KubeletService>;
  readonly probe: ApiProbe;
  readonly clock: Clock;
  /** Images that are on it from its first start. */
  readonly images: readonly string[];
  /** Connects the network of the machine to that of the first node. */
  readonly connect: (firstProcess: number) => Promise<void>;
}

/** A second machine of the cluster, joined by a cable: it runs kubelet, kube-proxy and pods, and no control plane. */
export class FurtherNode implements AsyncDisposable {
  readonly #parts: FurtherNodeParts;
  #hasImages = false;

  constructor(parts: FurtherNodeParts) {
    this.#parts = parts;
  }

  /** As the API server names it. */
  get name(): string {
    return this.#parts.identity.name;
  }

  /** Starts it on its disk. Resolves when it is ready for pods. */
  async powerOn(signal: AbortSignal): Promise<void> {
    const { machine, clock, probe, images, connect } = this.#parts;
    const startedAt = new Date(Math.floor(clock.wallMs() / 1000) * 1000);
    await machine.powerOn(signal);
    await connect(machine.firstProcess);
    await machine.startService('containerd');
    await machine.until(async () => await machine.succeeds('ctr', 'version'), signal);
    if (!this.#hasImages) for (const image of images) await machine.load(image);
    this.#hasImages = true;
    for (const name of KUBELET_SERVICES) if (!machine.isStarted(name)) await machine.startService(name);
    const isReady = async (): Promise<boolean> =>
      (await isNodeReady(probe, this.name, startedAt)) &&
      (await machine.succeeds('curl', '--silent', '--fail', `http://${PROXY_HEALTH}/healthz`));
    await machine.until(isReady, signal);
  }

  /** All of its processes, pods and links are gone at once, without a word to the API server; its disk stays. */
  async powerCut(): Promise<void> {
    await this.#parts.machine.powerCut();
  }

  /** Imports an image for its pods, unless it is off. */
  async load(archive: string): Promise<void> {
    const { machine } = this.#parts;
    if (machine.isOn) await machine.load(archive);
  }

  /** Ends it, and removes it from the cluster with its pods. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.powerCut();
    await this.#parts.probe.request({ method: 'DELETE', path: `/api/v1/nodes/${this.name}` });
  }
}

import type { KubeObject } from '@addon-operator/kube-client/kube-object';
import { keyOf, type ReflectorEvent, type ReflectorSink } from '@addon-operator/kube-client/reflector-sink';

/** Keeps the state a reflector reports, notes every event, and fails on one that cannot be. */
export class RecordingSink implements ReflectorSink {
  readonly state = new Map<string, KubeObject>();
  /** `Added a/b@7`; a deletion known only from a list has no version. */
  readonly log: string[] = [];
  readonly problems: string[] = [];
  /** The first whole state. */
  initial: ReadonlyMap<string, KubeObject> | undefined;
  #staged: KubeObject[] = [];
  #isBusy = false;

  async stage(objects: readonly KubeObject[]): Promise<void> {
    await this.#alone(() => {
      this.#staged.push(...objects);
    });
  }

  discard(): void {
    this.#staged = [];
  }

  commit(): void {
    for (const object of this.#staged) this.state.set(keyOf(object), object);
    this.initial = new Map(this.state);
  }

  async apply(event: ReflectorEvent): Promise<void> {
    await this.#alone(() => this.#apply(event));
  }

  #apply(event: ReflectorEvent): void {
    const { type, key, object } = event;
    const before = this.state.get(key);
    this.log.push(`${type} ${key}${object === undefined ? '' : `@${object.metadata.resourceVersion}`}`);
    if (this.initial === undefined) this.problems.push(`${type} before the first state`);
    if ((before === undefined) !== (type === 'Added')) this.problems.push(`${type} out of turn for ${key}`);
    if (type !== 'Deleted') {
      const isSame = before === undefined || before.metadata.uid === event.object.metadata.uid;
      if (!isSame) this.problems.push(`another object under the name ${key}`);
      this.state.set(key, event.object);
    } else {
      this.state.delete(key);
    }
  }

  async #alone(act: () => void): Promise<void> {
    if (this.#isBusy) this.problems.push('called while busy');
    this.#isBusy = true;
    await Promise.resolve();
    act();
    this.#isBusy = false;
  }
}

import type { ReleaseFacts } from '../status/module-facts.ts';
import type { ConvergeEvent } from './tasks.ts';

/** What the daemon knows of the release of a module without a request to the cluster. */
export class KnownRelease {
  #deployed: ReleaseFacts | undefined;
  #isKept = false;
  #activation: ConvergeEvent | '' = '';

  /** What was deployed last; undefined before. */
  get deployed(): ReleaseFacts | undefined {
    return this.#deployed;
  }

  /** The release carries the note that it stays when the module is gone. */
  get isKept(): boolean {
    return this.#isKept;
  }

  /** What the last run of helm was about, for metrics; empty if it was for none of the events of a converge. */
  get activation(): ConvergeEvent | '' {
    return this.#activation;
  }

  noteDeploy(activation: ConvergeEvent | ''): void {
    this.#activation = activation;
  }

  noteDeployed(release: ReleaseFacts): void {
    this.#deployed = release;
  }

  noteKept(isKept: boolean): void {
    this.#isKept = isKept;
  }
}

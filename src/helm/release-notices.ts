import type { Logger } from '../lib/log.ts';
import type { ChartTraits } from './chart-functions.ts';

/** What is worth saying about a release once, not on every run. */
export class ReleaseNotices {
  readonly #log: Logger;
  readonly #said = new Set<string>();

  constructor(log: Logger) {
    this.#log = log;
  }

  /** Charts whose rendering is not determined by their files and values. */
  onChart(release: string, traits: ChartTraits): void {
    const { changingFunctions, outsideFunctions } = traits;
    if (changingFunctions.length > 0) {
      this.#warnOnce(
        { release, functions: changingFunctions },
        'chart renders differently each time: it is upgraded only when its files or values change',
      );
    }
    if (outsideFunctions.length > 0) {
      this.#warnOnce(
        { release, functions: outsideFunctions },
        'chart reads the cluster while it renders: helm must render it on every run of the module',
      );
    }
  }

  onAdoption(release: string): void {
    this.#warnOnce(
      { release },
      'release was not created by this operator: adopting it, because a module has its name',
    );
  }

  #warnOnce(
    fields: { readonly release: string; readonly functions?: readonly string[] },
    message: string,
  ): void {
    const key = `${message} ${JSON.stringify(fields)}`;
    if (this.#said.has(key)) return;
    this.#said.add(key);
    this.#log.warn(fields, message);
  }
}

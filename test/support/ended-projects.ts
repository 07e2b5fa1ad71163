import { channel } from 'node:diagnostics_channel';
import type { Reporter, TestModule, TestSpecification } from 'vitest/node';

/** Gets the name of each project whose last test file has ended. Set-up files are loaded apart from reporters. */
const ENDED = channel('addon-operator:ended-project');

/** Notifies the set-up of a project that its tests have ended, while those of others go on. */
export class EndedProjectsReporter implements Reporter {
  readonly #left = new Map<string, number>();

  onTestRunStart(specifications: readonly Pick<TestSpecification, 'project'>[]): void {
    this.#left.clear();
    for (const { project } of specifications) {
      this.#left.set(project.name, (this.#left.get(project.name) ?? 0) + 1);
    }
  }

  onTestModuleEnd({ project }: Pick<TestModule, 'project'>): void {
    const left = (this.#left.get(project.name) ?? 0) - 1;
    this.#left.set(project.name, left);
    if (left === 0) ENDED.publish(project.name);
  }
}

/** Calls `onEnd` when the last test file of the project has ended, until the function it returns is called. */
export function whenProjectEnds(name: string, onEnd: () => void): () => void {
  const listener = (ended: unknown): void => {
    if (ended === name) onEnd();
  };
  ENDED.subscribe(listener);
  return () => ENDED.unsubscribe(listener);
}

import { basename } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that take more than 50 s in the gate, the slowest first. */
const SLOW = [
  'kill-in-request',
  'kill',
  'plan-causes',
  'starter-modules',
  'examples',
  'helm-lookup',
  'differential-commands',
  'helm-interrupted',
  'helm-recovery-deploy-helm-3-19',
  'helm-recovery-uninstall-helm-3-19',
  'example-commands-extensions',
  'helm',
  'network',
  'commands',
  'reflector',
  'example-catalogue-applications',
  'example-catalogue-bindings',
  'api-server',
  'deploy-chart-values',
  'stopped-leader',
  'example-commands',
  'helm-recovery-deploy-helm-3',
  'helm-recovery-uninstall-helm-3',
  'helm-recovery-interrupted-helm-3',
  'helm-recovery-uninstall-helm-4',
  'hook-processes',
  'release-steps',
  'in-process-hooks',
  'leader',
].map((name) => `${name}.test.ts`);

/**
 * Begins with the slow files of each project, so that at its end no worker is busy alone. vitest has the durations of the
 * last run for that; where there was none, as in CI, it goes by the size of files, and the slowest have three lines.
 */
export class SlowFilesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isRecorded = (file: TestSpecification): boolean =>
      this.ctx.cache.getTestSpecificationResult(file) !== undefined;
    const sorted = await super.sort(files);
    if (files.every(isRecorded)) return sorted;
    const projects = [...new Set(sorted.map(({ project }) => project))];
    return projects.flatMap((project) =>
      sorted.filter((file) => file.project === project).toSorted((a, b) => rank(a) - rank(b)),
    );
  }
}

function rank({ moduleId }: TestSpecification): number {
  const place = SLOW.indexOf(basename(moduleId));
  return place === -1 ? SLOW.length : place;
}

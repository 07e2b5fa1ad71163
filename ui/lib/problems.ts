import type { Problem } from './responses.ts';

/** What a problem is looked for by; absent: anything. */
export interface ProblemPlace {
  readonly module?: string | undefined;
  readonly queue?: string | undefined;
  readonly hook?: string | undefined;
}

/** The most important problem of a place; undefined if it has none. */
export function problemOf(
  problems: readonly Problem[],
  { module, queue, hook }: ProblemPlace,
): Problem | undefined {
  return problems.find(
    (problem) =>
      (module === undefined || problem.module === module) &&
      (queue === undefined || problem.queue === queue) &&
      (hook === undefined || problem.hook === hook),
  );
}

/** The problem behind a condition of a module: that of the queue or hook in its way, else one of the module. */
export function problemOfRef(
  problems: readonly Problem[],
  module: string,
  ref: string | null,
): Problem | undefined {
  const [, kind, name = ''] = /^(queue|hook|module)\/(.+)$/s.exec(ref ?? '') ?? [];
  if (kind === 'queue') return problemOf(problems, { queue: name });
  if (kind === 'hook') return problemOf(problems, { hook: name });
  return problemOf(problems, { module: kind === 'module' ? name : module });
}

import { type Answer, textAnswer } from './answer.ts';

export const OPERATIONS = ['reconcile', 'force-reconcile', 'abort'] as const;
export type Operation = (typeof OPERATIONS)[number];

/** Has something done with a module. Returns whether that is possible: the module is enabled, or on its way out. */
export type AskOperation = (module: string, operation: Operation) => boolean;

const ANSWERS: Readonly<Record<Operation, string>> = {
  reconcile: 'is run',
  'force-reconcile': 'is run, and helm applies its chart although nothing may have changed',
  abort: 'is aborted: what is going on with it ends, and it counts as failed until something changes',
};

/** Has an operation done with a module, as a form says it: `operation`. */
export function operationAnswer(ask: AskOperation, module: string, form: URLSearchParams): Answer {
  const word = form.get('operation') ?? '';
  const operation = OPERATIONS.find((known) => known === word);
  if (operation === undefined)
    return textAnswer(`there is no operation "${word}", there are ${OPERATIONS.join(', ')}\n`, 400);
  if (!ask(module, operation)) return textAnswer(`module ${module} is disabled\n`, 409);
  return textAnswer(`module ${module} ${ANSWERS[operation]}\n`);
}

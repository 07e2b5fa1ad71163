import { parseValue, toJson } from '@addon-operator/jq';
import { execa } from 'execa';
import { type AskJq, COMPILE_ERROR, CRASH } from '../../../packages/jq/test/ask-jq.ts';

/** A jq binary, called as the operator calls it. */
export function askBinary(file: string): AskJq {
  return async (program, input) => {
    const wrapped = `def env: {}; {} as $ENV | try [${program}\n\n] catch {error: .}`;
    const result = await execa(file, ['-c', '-S', wrapped], {
      input: toJson(parseValue(input)),
      reject: false,
      env: {},
      extendEnv: false,
    });
    if (result.signal !== undefined) return CRASH;
    if (result.exitCode !== 0) return COMPILE_ERROR;
    return result.stdout === '' ? '' : toJson(parseValue(result.stdout));
  };
}

export interface JqQuestion {
  readonly program: string;
  /** JSON text. */
  readonly input: string;
}

/** Questions for one process; its start takes far longer than they do. */
const BATCH = 20;

/**
 * The responses of a binary to many questions, in their order. Those that do not get the response `expected` in a common process
 * (which knows other places in the text, and ends at the first program that does not compile) get a process of their own.
 */
export async function askBinaryAll<T extends JqQuestion>(
  file: string,
  questions: readonly T[],
  expected: (question: T) => string,
): Promise<readonly string[]> {
  const ask = askBinary(file);
  const responses: string[] = [];
  for (let index = 0; index < questions.length; index += BATCH) {
    const batch = questions.slice(index, index + BATCH);
    const programs = batch.map(
      ({ program }, place) => `(.[${place}] | try [${program}\n\n] catch {error: .})`,
    );
    const common = await ask(programs.join(',\n'), `[${batch.map(({ input }) => input).join()}]`);
    const found = common === COMPILE_ERROR || common === CRASH ? [] : listOf(common);
    for (const [place, question] of batch.entries()) {
      const response = found[place];
      responses.push(
        response === expected(question) ? response : await ask(question.program, question.input),
      );
    }
  }
  return responses;
}

function listOf(response: string): readonly string[] {
  const values = parseValue(response);
  return Array.isArray(values) ? values.map((value) => toJson(value)) : [];
}

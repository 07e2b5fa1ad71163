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

import { messageOf } from '@addon-operator/base/errors';

/** The value of an option that has only some values; undefined without one. */
export function oneOf<T extends string>(
  name: string,
  value: string | undefined,
  allowed: readonly T[],
): T | undefined {
  if (value === undefined) return undefined;
  const found = allowed.find((each) => each === value);
  if (found === undefined) throw new Error(`--${name} ${value}: expected ${allowed.join(', ')}`);
  return found;
}

/**
 * Debian packages of `--with`: `python3,apt:gettext-base`.
 *
 * @throws Error for another source of packages
 */
export function debianPackages(value: string | undefined): readonly string[] {
  return (value ?? '')
    .split(',')
    .filter((item) => item !== '')
    .map((item) => {
      const [, source = 'apt', name = ''] = /^(?:([a-z]+):)?(.*)$/.exec(item) ?? [];
      if (source !== 'apt' || !/^[a-z0-9][a-z0-9+.=:~-]*$/.test(name))
        throw new Error(
          `--with ${item}: expected Debian packages, such as python3 or apt:python3; examples/dockerfiles shows how to add others`,
        );
      return name;
    });
}

/** Lines of an engine that say which step it is at. */
export function isStep(line: string): boolean {
  return /^(?:\[\d+\/\d+\] )?STEP \d|^#\d+ \[/.test(line);
}

/** Runs a script until its end or a signal; an error is printed and makes the exit code 1. */
export async function runScript(name: string, main: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const abort = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => abort.abort(new Error(`interrupted by ${signal}`)));
  }
  try {
    await main(abort.signal);
  } catch (error) {
    console.error(`${name}: ${messageOf(error)}`);
    process.exitCode = 1;
  }
}

const WAIT = /\bvi\s*\.waitFor\(|\bvi\s*\.waitUntil\(|\bexpect\s*\.poll\(/g;
const DURATION = /\bexpect\((?:[\w.]*\b(?:now|steadyMs|wallMs)\(\)) - \w+\)\.toBeLess/g;
const CLOSING: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' };

/**
 * One sentence for each place of a test that hangs on the speed of the machine: a wait without a limit of its own, which
 * lasts a second, and a duration on a clock that decides whether a test passes.
 */
export function waitProblems(source: string): string[] {
  const lineOf = (index: number): number => source.slice(0, index).split('\n').length;
  const waits = [...source.matchAll(WAIT)].filter(
    ({ index, 0: call }) => argumentsFrom(source, index + call.length) < 2,
  );
  const durations = [...source.matchAll(DURATION)];
  return [
    ...waits.map(({ index }) => `line ${lineOf(index)} waits for a second: give it { timeout: 60_000 }`),
    ...durations.map(
      ({ index }) => `line ${lineOf(index)} measures by a clock: count, or take cpuTimeMs() of test/support`,
    ),
  ];
}

/** How many arguments a call has whose first one begins there. */
function argumentsFrom(source: string, start: number): number {
  const open: string[] = [')'];
  let commas = 0;
  let isEmpty = true;
  for (let index = start; index < source.length; index += 1) {
    const character = source[index] ?? '';
    if (character === open.at(-1)) {
      open.pop();
      // The last comma of several lines is followed by no argument.
      if (open.length === 0) return isEmpty ? commas : commas + 1;
    } else if (character in CLOSING) open.push(CLOSING[character] ?? '');
    else if (source.startsWith('//', index)) index = source.indexOf('\n', index);
    else if (/['"`]/.test(character)) index = endOfText(source, index);
    if (open.length === 1 && character === ',') [commas, isEmpty] = [commas + 1, true];
    else if (/\S/.test(character)) isEmpty = false;
  }
  return commas;
}

/** Where a text in quotes ends that begins there. */
function endOfText(source: string, start: number): number {
  let index = start + 1;
  while (index < source.length && source[index] !== source[start]) index += source[index] === '\\' ? 2 : 1;
  return index;
}

import { expect, test } from 'vitest';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import type { CliHost } from '../cli-host.ts';
import { fieldOfEach, inFormat } from './data-format.ts';
import type { OutputFormat } from './output-format.ts';

const MODULES = '{"modules":[{"name":"web"},{"name":"db"}]}';

/** The output of a command in a format: the command itself knows text and JSON. */
async function printed(format: OutputFormat, json = MODULES): Promise<readonly [string, number]> {
  let text = '';
  const host: CliHost = {
    env: {},
    cwd: '/',
    clock: new FakeClock(),
    stdout: { write: (part: string) => (text += part) },
    stderr: { write: () => undefined },
    stopSignal: () => new AbortController().signal,
  };
  const namesIn = (data: unknown): readonly string[] =>
    fieldOfEach((data as Readonly<Record<string, unknown>>)['modules'], 'name');
  const exitCode = await inFormat(format, host, namesIn, (kind, { stdout }) => {
    stdout.write(kind === 'json' ? json : 'two modules\n');
    return Promise.resolve(3);
  });
  return [text, exitCode];
}

test.each<[OutputFormat, string]>([
  ['table', 'two modules\n'],
  ['wide', 'two modules\n'],
  ['text', 'two modules\n'],
  ['json', MODULES],
  ['yaml', 'modules:\n  - name: web\n  - name: db\n'],
  ['name', 'web\ndb\n'],
])('inFormat() prints %s, and returns the exit code of the command', async (format, text) => {
  expect(await printed(format)).toEqual([text, 3]);
});

test('inFormat() prints nothing if the command printed nothing', async () => {
  expect(await printed('yaml', '')).toEqual(['', 3]);
});

test.each([
  { what: 'a list', list: [{ name: 'a' }, { name: 1 }, {}, 'x'], names: ['a', '', '', ''] },
  { what: 'no list', list: { name: 'a' }, names: [] },
])('fieldOfEach() of $what', ({ list, names }) => {
  expect(fieldOfEach(list, 'name')).toEqual(names);
});

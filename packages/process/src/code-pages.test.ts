import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { expect, test } from 'vitest';
import { cleanMappings } from './code-pages.ts';

const facts = (more: Readonly<Record<string, number>> = {}): string =>
  Object.entries({ Rss: 20, Shared_Dirty: 0, Private_Dirty: 0, Anonymous: 0, Swap: 0, ...more })
    .map(([name, size]) => `${name}:${' '.repeat(12)}${size} kB`)
    .concat('VmFlags: rd ex mr mw me')
    .join('\n');

test('finds mappings of files that hold nothing but what is in the file', () => {
  const smaps = [
    '00400000-00600000 r-xp 00001000 fe:00 531 /usr/bin/no de',
    facts(),
    '00600000-00700000 r--p 00201000 fe:00 531 /usr/bin/node',
    facts({ Private_Dirty: 4, Anonymous: 4 }),
    '00700000-00800000 r--p 00301000 fe:00 531 /usr/bin/node',
    facts({ Swap: 4 }),
    '00800000-00900000 rw-p 00301000 fe:00 531 /usr/bin/node',
    facts(),
    '7f0000000000-7f0000001000 r-xp 00000000 00:00 0 ',
    facts(),
    '7ffd00000000-7ffd00002000 r-xp 00000000 00:00 0 [vdso]',
    facts(),
    '7fff00000000-7fff00001000 r--p 00000000 fe:00 7 /lib/libc.so.6',
    facts(),
    '',
  ].join('\n');
  expect(cleanMappings(smaps)).toEqual([
    { start: 0x40_0000n, end: 0x60_0000n },
    { start: 0x7fff_0000_0000n, end: 0x7fff_0000_1000n },
  ]);
  expect(cleanMappings(smaps, (file) => file === '/usr/bin/no de')).toEqual([
    { start: 0x40_0000n, end: 0x60_0000n },
  ]);
  expect(cleanMappings('')).toEqual([]);
});

test.skipIf(process.platform !== 'linux')('a program goes on without its pages, in less memory', () => {
  const modules = ['code-pages.ts', 'native-libc.ts'].map((file) =>
    JSON.stringify(path.join(import.meta.dirname, file)),
  );
  const program = `
    import { readFileSync } from 'node:fs';
    import { returnCodePages } from ${modules[0]};
    import { loadLibc } from ${modules[1]};
    const kib = (name) => Number(new RegExp(name + ':\\\\s+(\\\\d+)').exec(readFileSync('/proc/self/status', 'utf8'))[1]);
    const libc = await loadLibc();
    const before = kib('RssFile');
    const peakBefore = kib('VmHWM');
    returnCodePages(libc);
    console.log(JSON.stringify({ before, peakBefore, after: kib('RssFile'), peak: kib('VmHWM') }));`;
  const args = ['--no-warnings', '--input-type=module', '-e', program];
  const { before, after, peakBefore, peak } = JSON.parse(
    execFileSync(process.execPath, args, { encoding: 'utf8' }),
  );
  expect(after).toBeLessThan(0.7 * before);
  expect(peak).toBeLessThan(peakBefore);
});

test.skipIf(process.platform !== 'linux')(
  'a program with threads goes on without the pages of its code',
  () => {
    const program = `
    import { readFileSync } from 'node:fs';
    import { Worker } from 'node:worker_threads';
    import { returnIdleCode } from ${JSON.stringify(path.join(import.meta.dirname, 'idle-code.ts'))};
    const kib = () => Number(/RssFile:\\s+(\\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))[1]);
    const worker = new Worker('setInterval(() => JSON.parse("[1]"), 1)', { eval: true });
    const before = kib();
    await returnIdleCode();
    console.log(JSON.stringify({ before, after: kib(), twice: [3, 1, 2].toSorted().map((x) => 2 * x) }));
    await worker.terminate();`;
    const args = ['--no-warnings', '--input-type=module', '-e', program];
    const { before, after, twice } = JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' }));
    expect(twice).toEqual([2, 4, 6]);
    expect(after).toBeLessThan(0.7 * before);
  },
);

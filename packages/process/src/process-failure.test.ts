import { headlineOf, linesBelow } from '@addon-operator/strings/headline';
import { expect, test } from 'vitest';
import { failureReason, killedReason, tellingLine } from './process-failure.ts';

const PYTHON = `starting
Traceback (most recent call last):
  File "/hooks/a.py", line 3, in <module>
    main()
  File "/hooks/a.py", line 2, in main
    raise ConnectionRefusedError("error: no database")
ConnectionRefusedError: error: no database

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/hooks/a.py", line 5, in <module>
    raise SystemError("cannot start")
SystemError: cannot start
giving up with error`;

const NODE = `/hooks/a.js:3
  throw new Error('boom');
        ^

Error: boom
    at error (/hooks/a.js:3:9)
    at Module._compile (node:internal/modules/cjs/loader:1554:14)

Node.js v24.1.0`;

const GO = `panic: runtime error: index out of range [1] with length 0

goroutine 1 [running]:
main.error(...)
\t/src/main.go:5 +0x1d
exit status 2`;

test.each([
  ['nothing', '', ''],
  ['one line', 'no disk\n', 'no disk'],
  ['several lines', 'looking for a disk\nno disk\n', 'no disk'],
  ['a line with error', 'start\nError: no disk\nusage: a.sh DISK', 'Error: no disk'],
  ['the first of several errors', 'error: no disk\nerror: cannot go on', 'error: no disk'],
  ['an error that is indented', 'start\n  error: no disk\nend', 'error: no disk'],
  ['a traceback of Python', PYTHON, 'SystemError: cannot start'],
  ['a traceback that breaks off', 'Traceback (most recent call last):\n  File "a.py"', 'File "a.py"'],
  ['a stack of Node', NODE, 'Error: boom'],
  ['a panic of Go', GO, 'panic: runtime error: index out of range [1] with length 0'],
  [
    'a stack of Java',
    'Exception in thread "main" java.lang.Error: x\n\tat a.B.error(B.java:3)',
    'Exception in thread "main" java.lang.Error: x',
  ],
  [
    'a stack of Ruby',
    "a.rb:3:in 'b': no disk (IOError)\n\tfrom a.rb:7:in 'error'",
    "a.rb:3:in 'b': no disk (IOError)",
  ],
  ['commands that set -x prints', '+ echo error\n+ mount /dev/sda\nmount: no disk', 'mount: no disk'],
  ['frames alone', '    at a.js:1\n    at b.js:2', 'at b.js:2'],
])('the telling line of %s', (_what, output, line) => {
  expect(tellingLine(output)).toBe(line);
});

test.each([
  [137, 'a program that it ran was killed by SIGKILL, perhaps out of memory (exit status 137)'],
  [139, 'a program that it ran was killed by SIGSEGV (exit status 139)'],
  [143, 'a program that it ran was killed by SIGTERM (exit status 143)'],
  [1, undefined],
  [128, undefined],
  // SIGCHLD ends no program.
  [145, undefined],
  [255, undefined],
])('exit status %i is read as %s', (exitCode, reason) => {
  expect(killedReason({ type: 'exited', exitCode })).toBe(reason);
});

test.each([
  ['a signal', { type: 'signalled', signal: 'SIGKILL' }, 'killed by SIGKILL, perhaps out of memory'],
  ['another signal', { type: 'signalled', signal: 'SIGSEGV' }, 'killed by SIGSEGV'],
  ['a time-out', { type: 'timed-out', timeoutMs: 500 }, 'it ran longer than its limit of 0.5 s'],
] as const)('%s comes first, and what was printed stays as lines', (_what, outcome, how) => {
  expect(failureReason({ outcome, stderr: '\n' })).toBe(how);
  const reason = failureReason({ outcome, stderr: '  first\n    second\n' });
  expect(headlineOf(reason)).toBe(`${how}: second`);
  expect(linesBelow(reason)).toBe('  first\n    second');
});

test('an exit code is only named where the process printed nothing', () => {
  const outcome = { type: 'exited', exitCode: 3 } as const;
  expect(failureReason({ outcome, stderr: ' \n' })).toBe('cmd run: exit status 3');
  expect(failureReason({ outcome, stderr: 'no disk\n' })).toBe('no disk');
});

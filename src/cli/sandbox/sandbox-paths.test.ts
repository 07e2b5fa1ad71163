import { expect, test } from 'vitest';
import { sandboxFiles } from './sandbox-paths.ts';

test('sandboxFiles() are in the state directory', () => {
  expect(sandboxFiles('/project/.sandbox', '/tmp')).toEqual({
    stateDir: '/project/.sandbox',
    apiDir: '/project/.sandbox/api',
    kubeconfig: '/project/.sandbox/kubeconfig',
    log: '/project/.sandbox/daemon.log',
    tmpDir: '/project/.sandbox/tmp',
    binDir: '/project/.sandbox/bin',
    debugSocket: '/project/.sandbox/debug.socket',
  });
});

const directoryOf = (socketBytes: number): string => `/${'x'.repeat(socketBytes - '//debug.socket'.length)}`;

test.each([
  { bytes: 103, isBeside: true },
  { bytes: 104, isBeside: false },
])(
  'the debug socket with a path of $bytes bytes is in the state directory: $isBeside',
  ({ bytes, isBeside }) => {
    const directory = directoryOf(bytes);
    const { debugSocket } = sandboxFiles(directory, '/tmp');
    expect(Buffer.byteLength(`${directory}/debug.socket`)).toBe(bytes);
    expect(debugSocket.startsWith(isBeside ? directory : '/tmp/addon-operator-')).toBe(true);
  },
);

test('sockets of several sandboxes outside of their directories are different, and the same at each start', () => {
  const [one, other] = ['a', 'b'].map((name) => `${directoryOf(200)}${name}`);
  const socketOf = (directory = ''): string => sandboxFiles(directory, '/tmp').debugSocket;
  expect(socketOf(one)).toBe(socketOf(one));
  expect(socketOf(one)).not.toBe(socketOf(other));
});

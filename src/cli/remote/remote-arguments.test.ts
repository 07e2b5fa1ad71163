import { expect, test } from 'vitest';
import { readRemoteCommand } from './remote-arguments.ts';

test.each([
  ['status', undefined],
  ['', undefined],
  ['--namespace infra', undefined],
  ['--namespace infra --log-level debug', undefined],
  ['-n infra start', undefined],
  ['--kube-context prod plan', undefined],
  ['--kube-context prod status', { target: { context: 'prod' }, args: ['status'] }],
  [
    '--kube-context=prod -n infra queue list -o json',
    { target: { context: 'prod', namespace: 'infra' }, args: ['queue', 'list', '-o', 'json'] },
  ],
  [
    '--kubeconfig=/a=b --context x --pod p-0 module list',
    { target: { kubeconfig: '/a=b', context: 'x', pod: 'p-0' }, args: ['module', 'list'] },
  ],
  ['-n infra status -n other', { target: { namespace: 'infra' }, args: ['status', '-n', 'other'] }],
])('readRemoteCommand() reads {%s}', (line, expected) => {
  expect(
    readRemoteCommand(
      line.split(' ').filter((word) => word !== ''),
      { env: {} },
    ),
  ).toEqual(expected);
});

test.each([
  ['status', { target: {}, args: ['status'] }],
  ['-n infra status', { target: { namespace: 'infra' }, args: ['status'] }],
  ['help', undefined],
  ['', undefined],
  ['--version', undefined],
])('readRemoteCommand() reads {%s} of the plug-in of kubectl', (line, expected) => {
  const env = { ADDON_OPERATOR_KUBECTL_PLUGIN: 'true' };
  expect(
    readRemoteCommand(
      line.split(' ').filter((word) => word !== ''),
      { env },
    ),
  ).toEqual(expected);
});

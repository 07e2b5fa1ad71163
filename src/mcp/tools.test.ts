import { expect, test } from 'vitest';
import { type Tool, toolArguments, toolsFor } from './tools.ts';

function tool(name: string): Tool {
  const found = toolsFor(true).find((one) => one.name === name);
  if (found === undefined) throw new Error(`no tool ${name}`);
  return found;
}

test.each([
  ['status', {}, '/api/v1/now'],
  ['explain_module', { module: 'a/b?c' }, '/api/v1/modules/a%2Fb%3Fc'],
  [
    'runs',
    { hook: 'web/a.sh', result: 'failed', limit: 5 },
    '/api/v1/runs?hook=web%2Fa.sh&result=failed&limit=5',
  ],
  ['runs', {}, '/api/v1/runs'],
  ['run_output', { id: 12 }, '/api/v1/runs/12'],
  ['next', { hours: 2 }, '/api/v1/next?hours=2'],
])('%s with %j requests %s', (name, args, path) => {
  const { source } = tool(name);
  const checked = toolArguments(tool(name), args);
  if (source.type !== 'operator' || typeof checked === 'string') throw new Error('no request');
  expect(source.request(checked)).toEqual({ path });
});

test('an action is a POST with its fields', () => {
  const { source } = tool('pause_module');
  if (source.type !== 'operator') throw new Error('no request');
  expect(source.request({ module: 'web', reason: 'INC-7', for: '2h' })).toEqual({
    path: '/api/v1/modules/web/actions',
    body: { action: 'pause', reason: 'INC-7', for: '2h' },
  });
});

test.each([
  ['runs', { limit: 0 }, 'the argument "limit" must be a whole number from 1'],
  ['runs', { limit: 501 }, 'the argument "limit" must be a whole number from 1'],
  ['runs', { limit: '5' }, 'the argument "limit" must be a whole number from 1'],
  ['runs', { result: 'good' }, /must be one of success, failed/],
  ['runs', { module: '' }, /must be a string that is not empty/],
  ['runs', { module: 'a'.repeat(1_001) }, /must not be longer/],
  ['runs', { other: 1 }, 'unknown argument "other"'],
  ['explain_module', {}, 'the argument "module" is missing'],
  ['pause_module', { module: 'web' }, 'the argument "reason" is missing'],
])('%s with %j is refused', (name, args, problem) => {
  const result = toolArguments(tool(name), args);
  expect(result).toMatch(problem);
});

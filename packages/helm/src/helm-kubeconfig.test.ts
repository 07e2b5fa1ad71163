import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { helmKubeconfig } from './helm-kubeconfig.ts';

let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'helm-kubeconfig-'));
});

afterEach(() => {
  rmSync(root, { recursive: true });
});

test('helm gets the kubeconfig that the user named, with its context, and it is never removed', () => {
  const given = join(root, 'theirs');
  const source = { type: 'file', path: given } as const;
  const { remove, ...found } = helmKubeconfig({ source, context: 'prod', directory: join(root, 'ours') });
  expect(found).toEqual({ path: given, context: 'prod' });
  remove();
  expect(existsSync(root)).toBe(true);
});

test('without one a kubeconfig is written for the user of the daemon alone, until it ends', () => {
  const directory = join(root, 'run-1-helm');
  const document = { users: [{ name: 'u', user: { token: 't' } }] };
  const source = { type: 'document', document } as const;
  const { path, context, remove } = helmKubeconfig({ source, context: 'ignored', directory });
  expect([dirname(path), context]).toEqual([directory, '']);
  expect([statSync(directory).mode & 0o777, statSync(path).mode & 0o777]).toEqual([0o700, 0o600]);
  expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual(document);
  remove();
  expect(existsSync(directory)).toBe(false);
});

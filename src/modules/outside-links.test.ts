import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { refuseOutsideLinks } from './outside-links.ts';

let root = '';
let module = '';

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'outside-links-')));
  module = join(root, 'modules/010-web');
  for (const file of [
    'shared/a.sh',
    'modules/010-web/values.yaml',
    'modules/010-web/lib/a.sh',
    'modules/010-web2/a.sh',
  ]) {
    mkdirSync(join(root, dirname(file)), { recursive: true });
    writeFileSync(join(root, file), '');
  }
});

afterEach(() => rmSync(root, { recursive: true }));

function link(path: string, target: string): void {
  mkdirSync(dirname(join(module, path)), { recursive: true });
  symlinkSync(target, join(module, path));
}

const check = (path = module): void => refuseOutsideLinks('web', path);

test.each([
  ['hooks/a.sh', '../../../shared/a.sh'],
  ['hooks/a.sh', '/etc/passwd'],
  ['hooks/deep/lib', '../../../../shared'],
  ['enabled', '../../shared/a.sh'],
  ['module.yaml', '/etc/passwd'],
  ['openapi', '../../shared'],
  ['templates/secret.yaml', '/proc/self/environ'],
  ['charts/common', '../../../shared'],
  ['crds', '/'],
  ['hooks/a.sh', '../../010-web2/a.sh'],
  ['hooks/a.sh', '../../../nothing'],
  ['up', '..'],
])('a link %s to %s is refused with its target and the setting', (path, target) => {
  link(path, target);
  expect(check).toThrow(
    expect.objectContaining({
      code: 'MODULE_INVALID',
      message: expect.stringMatching(
        /^module 'web': the link .* has a target outside of the module, \/.*--allow-links-outside/,
      ),
    }),
  );
});

test('a link is refused, when it leads out by way of another link', () => {
  link('first', 'second');
  link('second', '../../shared');
  expect(check).toThrow(/outside of the module/);
});

test('links in a circle are refused', () => {
  link('a', 'b');
  link('b', 'a');
  expect(check).toThrow('cannot be followed: ELOOP');
});

test('links within the module are accepted, as are those that lead to nothing in it', () => {
  link('hooks/a.sh', '../lib/a.sh');
  link('..data', '..2026_01_02');
  link('config.yaml', '..data/config.yaml');
  link('whole', '.');
  link('absolute', join(module, 'values.yaml'));
  expect(check).not.toThrow();
});

test('the directory of the module may be a link, and its virtual environment may link to the system', () => {
  link('hooks/venv/bin/python3', '/usr/bin/python3');
  link('hooks/a.sh', '../lib/a.sh');
  symlinkSync('modules/010-web', join(root, 'linked'));
  expect(() => check(join(root, 'linked'))).not.toThrow();
});

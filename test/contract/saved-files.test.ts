import { chmodSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { StartedCommand } from '../support/started-command.ts';
import { shHook, writeTree } from '../support/world-files.ts';

/** One start of the built program. */
const LIMIT = { timeout: 90_000 };
const EXECUTABLE = fileURLToPath(new URL('../../bin/addon-operator', import.meta.url));
let directory = '';
let command: StartedCommand | undefined;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'saved-files-'));
});
afterEach(async () => {
  command?.kill('SIGTERM');
  await command?.exitCode;
  command = undefined;
  rmSync(directory, { recursive: true });
});

async function save(files: Readonly<Record<string, string>>): Promise<void> {
  await writeTree(directory, files);
}

function sandbox(...args: readonly string[]): StartedCommand {
  const paths = [
    ['--state-dir', join(directory, 'state')],
    ['--modules-dir', join(directory, 'modules')],
    ['--global-hooks-dir', join(directory, 'global-hooks')],
  ].flat();
  // A machine whose own node would fail each hook written for it.
  const env = { ...process.env, PATH: `${join(directory, 'old')}:${process.env['PATH']}` };
  command = new StartedCommand(EXECUTABLE, ['sandbox', ...paths, ...args], env);
  return command;
}

const nodeHook = (says: string): string => `#!/usr/bin/env node
if (process.argv[2] === '--config') console.log('{"configVersion":"v1","onStartup":1}');
else console.log(\`${says} \${process.version} \${process.env.FRAMEWORK_DIR ? 'with' : 'without'} the library\`);
`;

test('the sandbox waits for a broken file, and says what it does with each saved file', LIMIT, async () => {
  await save({
    'modules/values.yaml': 'webEnabled: true\n',
    'modules/010-web/hooks/sync.sh': shHook(
      'kubernetes:\n- {name: maps, kind: ConfigMap, nameSelector: {matchNames: [none]}, namespace: {nameSelector: {matchNames: [none]}}}\nbeforeHelm: 1',
      'echo first',
    ),
    'global-hooks/start.js': '#!/usr/bin/env node\nthis is no program',
    'old/node': '#!/bin/sh\necho "the node of the machine" >&2\nexit 1\n',
  });
  const started = sandbox();
  await started.until(/the start waits until they are corrected.*start\.js/);
  await save({ 'global-hooks/start.js': nodeHook('one') });
  await started.until('the files are loaded now');
  await started.until(`one ${process.version} with the library`);
  await started.until('What happens from now on');

  await save({ 'global-hooks/start.js': nodeHook('two') });
  await started.until('saved start.js: hook start.js runs again now (onStartup)');
  await started.until(`two ${process.version}`);

  await save({
    'modules/010-web/hooks/sync.sh': shHook(
      'kubernetes:\n- {name: maps, kind: ConfigMap, nameSelector: {matchNames: [none]}, namespace: {nameSelector: {matchNames: [none]}}}\nbeforeHelm: 1',
      'echo second',
    ),
  });
  await started.until(
    'hook web/hooks/sync.sh runs again now (Synchronization of maps), runs in the converge that follows (beforeHelm)',
  );
  await started.until(/hook web\/hooks\/sync\.sh ran \(kubernetesSynchronization, .*second/);

  writeFileSync(join(directory, 'global-hooks/nox.sh'), shHook('onStartup: 1', 'echo never'), {
    mode: 0o644,
  });
  await started.until('saved nox.sh: it is not used as a hook, and nothing runs again');

  writeFileSync(join(directory, 'modules/010-web/hooks/new.sh'), shHook('beforeHelm: 2', 'echo third'));
  await started.until(/not executable and is not used as a hook.*chmod \+x .*new\.sh/);
  chmodSync(join(directory, 'modules/010-web/hooks/new.sh'), 0o755);
  await started.until('saved new.sh: module web starts anew with all its hooks');
  await started.until(/hook web\/hooks\/new\.sh ran \(beforeHelm, .*third/);

  renameSync(join(directory, 'modules/010-web'), join(directory, 'modules/020-web'));
  await started.until(/saved (?:sync|new)\.sh, (?:sync|new)\.sh: module web starts anew/);
  renameSync(join(directory, 'modules/020-web'), join(directory, 'elsewhere'));
  await started.until('module web is gone: what it runs ends, and its release is removed');
  expect(started.output).not.toContain('the node of the machine');
});

test('a sandbox that ends after its converge waits for no file', LIMIT, async () => {
  await save({
    'modules/values.yaml': '{}\n',
    'global-hooks/start.sh': '#!/bin/sh\nexit 3\n',
  });
  const started = sandbox('--exit-after-converge');
  expect(await started.exitCode).toBe(1);
  expect(started.output).toMatch(/start\.sh.*exit status 3/);
});

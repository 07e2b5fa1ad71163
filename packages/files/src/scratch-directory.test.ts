import { execFileSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { expect, test } from 'vitest';
import { scratchDirectory } from './scratch-directory.ts';

test('scratchDirectory() is private, another one each time, and gone with its content at the end', async () => {
  const running = new AsyncDisposableStack();
  const [one, other] = [await scratchDirectory(running), await scratchDirectory(running)];
  expect(one).not.toBe(other);
  expect(isAbsolute(one)).toBe(true);
  expect(statSync(one).mode & 0o777).toBe(0o700);
  await mkdir(join(one, 'a'));
  await writeFile(join(one, 'a/file'), '');
  await running.disposeAsync();
  expect([existsSync(one), existsSync(other)]).toEqual([false, false]);
});

test('scratchDirectory() is gone when the process exits before its end', () => {
  const script = `import { existsSync, writeFileSync } from 'node:fs';
const { scratchDirectory } = await import(process.argv[1]);
const directory = await scratchDirectory(new AsyncDisposableStack());
writeFileSync(directory + '/file', '');
console.log(directory, existsSync(directory));
process.exit(130);`;
  const file = join(import.meta.dirname, 'scratch-directory.ts');
  const run = `'${process.execPath}' --input-type=module --eval "$SCRIPT" '${file}'; echo "exit code $?"`;
  const env = { ...process.env, SCRIPT: script };
  const output = execFileSync('sh', ['-c', run], { encoding: 'utf8', env });
  const [, directory = '', exists] = /^(\S+) (\S+)\nexit code 130\n$/.exec(output) ?? [];
  expect(exists).toBe('true');
  expect(existsSync(directory)).toBe(false);
});

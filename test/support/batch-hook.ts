/** What a fake of a program of module-sdk has in it. */
export interface FakeBatch {
  /** Bindings of each hook, by name; the order is that of the indexes. */
  readonly hooks: Readonly<Record<string, object>>;
  /** What each hook does, by name, in the language of the fake; default: nothing. */
  readonly runs?: Readonly<Record<string, string>>;
  readonly readiness?: object;
  /** What `hook ready` does. */
  readonly ready?: string;
  /** What `hook check` does. */
  readonly check?: string;
  /** The older form, a bare list. */
  readonly isList?: boolean;
}

/** What the program prints for `hook config`. */
export function batchConfig({ hooks, readiness, check, isList = false }: FakeBatch): string {
  const list = Object.entries(hooks).map(([name, bindings]) => ({
    configVersion: 'v1',
    metadata: { name, path: `hooks/${name}.go` },
    ...bindings,
  }));
  return JSON.stringify(
    isList
      ? list
      : {
          version: 'v1',
          hooks: list,
          ...(readiness !== undefined && { readiness }),
          ...(check !== undefined && { has_settings_check: true }),
        },
  );
}

/** The record with which the SDK reports a panic, after which it exits with 0. */
export const PANIC = JSON.stringify({
  level: 'error',
  logger: 'panic',
  msg: 'panic recover',
  error: 'boom',
  stacktrace: 'goroutine 1 [running]:\nmain.handle()\n\t/src/hooks/one.go:12',
});

/** A fake in bash: it fails for `--config` without a word, as the SDK does. */
export function bashBatch(fake: FakeBatch): string {
  const runs = Object.keys(fake.hooks).map(
    (name, index) => `'hook run ${index}')\n${fake.runs?.[name] ?? ':'}\n;;`,
  );
  return `#!/bin/bash
case "$*" in
'hook list') echo 'Found ${runs.length} items:' ;;
'hook config') cat <<'CONFIG'
${batchConfig(fake)}
CONFIG
;;
${runs.join('\n')}
'hook ready')
${fake.ready ?? 'exit 1'}
;;
'hook check')
${fake.check ?? 'exit 1'}
;;
*) exit 1 ;;
esac
`;
}

/** A fake in TypeScript, which Node runs as it is. Bodies see \`contexts\`, \`write(variable, value)\` and \`fail(message)\`. */
export function nodeBatch(fake: FakeBatch): string {
  const runs = Object.keys(fake.hooks).map(
    (name, index) => `'hook run ${index}': (): void => {${fake.runs?.[name] ?? ''}},`,
  );
  return `#!/usr/bin/env node
import { appendFileSync, readFileSync } from 'node:fs';

type Context = { readonly snapshots?: Readonly<Record<string, readonly { readonly filterResult?: unknown }[]>> };
const file = (variable: string): string => process.env[variable] ?? '';
const contexts = (): readonly Context[] => JSON.parse(readFileSync(file('BINDING_CONTEXT_PATH'), 'utf8'));
const write = (variable: string, value: unknown): void => appendFileSync(file(variable), JSON.stringify(value) + '\\n');
const fail = (message: string): never => {
  process.stderr.write(JSON.stringify({ message: 'execute: ' + message }) + '\\n\\n');
  process.exit(1);
};
const commands: Readonly<Record<string, () => void>> = {
  'hook list': () => console.log('Found ${runs.length} items:'),
  'hook config': () => console.log(${JSON.stringify(batchConfig(fake))}),
  ${runs.join('\n  ')}
  'hook ready': () => {${fake.ready ?? 'process.exit(1);'}},
  'hook check': () => {${fake.check ?? 'process.exit(1);'}},
};
const command = commands[process.argv.slice(2).join(' ')];
if (command === undefined) process.exit(1);
command();
`;
}

import { readdir, readFile, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { messageOf, OperatorError } from '@addon-operator/base/errors';
import { silentLogger } from '@addon-operator/base/log';
import { didYouMean } from '@addon-operator/json/similar-word';
import type { ApiRequest } from '@addon-operator/kube-sandbox';
import { MemoryClient } from '@addon-operator/kube-sandbox/memory-client';
import { parseGoDuration } from '@addon-operator/strings/go-duration';
import { errorLog } from '../../devkit/error-log.ts';
import type { HookLab, LabHookOptions } from '../../devkit/hook-lab.ts';
import { placeOf } from '../../devkit/hook-place.ts';
import { createOperatorObjects } from '../../devkit/operator-objects.ts';
import { changedBindings, missingVariables, recordingsOf, replayedHook } from '../../devkit/replayed-hook.ts';
import { type Hook, moduleNameOf } from '../../hooks/hook.ts';
import type { HookRuns } from '../../hooks/run-hook.ts';
import { findModules } from '../../modules/find-modules.ts';
import {
  fullNameOf,
  type Recording,
  type ReplayedHook,
  type ReplayResult,
  replayOne,
} from '../../recordings/hook-recordings.ts';
import type { DirectorySettings } from '../../settings/directory-settings.ts';
import type { CliHost } from '../cli-host.ts';
import { harmless } from '../harmless.ts';
import { paintFor, wantsColor } from '../output/paint.ts';
import { printData } from '../output/print-data.ts';
import { withSandboxLab } from '../sandbox/sandbox-lab.ts';
import { plainDiff, readRecordings } from './read-recordings.ts';
import { ReplayReport } from './replay-text.ts';

export interface HookReplayOptions {
  /** Files with recordings, and directories of them. */
  readonly paths: readonly string[];
  /** File of the hook that is run; absent: of each recording the hook of its name. */
  readonly hook?: string;
  /** Limit of one run of a hook that has none of its own. */
  readonly timeout: string;
  readonly format: 'text' | 'json';
  readonly hasColor: boolean;
  /** Settings that were given as flags. */
  readonly flags: Readonly<Record<string, string>>;
}

/** Counts nothing: a replay waits for the hook alone. */
const NO_ACTIVITY = { touch: (): void => undefined, begin: () => () => undefined };

/**
 * Runs today's hooks with the input of recorded runs, and compares what they write. Returns the exit code: 0 all came to the
 * same, 1 one did not, 2 a recording cannot be used.
 */
export async function hookReplayCommand(options: HookReplayOptions, host: CliHost): Promise<number> {
  const signal = host.stopSignal();
  const timeoutMs = parseGoDuration(options.timeout);
  if (timeoutMs === undefined || timeoutMs <= 0)
    throw new OperatorError(
      'CONFIG_INVALID',
      `--timeout must be a duration such as 30s, not "${options.timeout}"`,
    );
  const isText = options.format === 'text';
  const paint = paintFor(options.hasColor && wantsColor(host.stdout.isTTY === true, host.env));
  const report = new ReplayReport(paint, (text) => {
    if (isText) host.stdout.write(harmless(text));
  });
  const recordings = await readRecordings(options.paths, host.cwd, report);
  if (recordings.length > 0)
    await withReplayLab(
      host,
      { ...options, timeoutMs },
      async (lab) => {
        for (const { file, recording } of await lab.chosen(recordings))
          report.add({ file, ...(await lab.replay(recording)) });
        for (const note of lab.notes) report.note(note);
      },
      signal,
    );
  if (isText) report.end();
  else printData(host, `${JSON.stringify(report.json, null, 2)}\n`);
  return report.exitCode;
}

interface LabOptions extends Pick<HookReplayOptions, 'hook' | 'flags'> {
  readonly timeoutMs: number;
}

async function withReplayLab(
  host: CliHost,
  options: LabOptions,
  use: (lab: OpenHooks) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const requests: string[] = [];
  const onRequest = ({ method, path }: ApiRequest): undefined => {
    requests.push(`${method} ${path}`);
  };
  await withSandboxLab(
    host,
    { onRequest, flags: options.flags },
    async ({ lab, sandbox, settings }) => {
      await using running = new AsyncDisposableStack();
      const kube = new MemoryClient(sandbox, NO_ACTIVITY, 'replay');
      await createOperatorObjects(kube, {}, signal);
      const takeRequests = (): readonly string[] => requests.splice(0);
      await use(new OpenHooks(host.cwd, { ...options, lab, kube, settings, running, takeRequests, signal }));
    },
    signal,
  );
}

interface OpenHooksParts extends LabOptions {
  readonly lab: HookLab;
  readonly kube: MemoryClient;
  readonly settings: LabHookOptions['settings'] & DirectorySettings;
  readonly running: AsyncDisposableStack;
  readonly takeRequests: () => readonly string[];
  readonly signal: AbortSignal;
}

interface OpenHook {
  readonly hook: Hook;
  readonly replayed: ReplayedHook;
}

const MAX_SOURCE_BYTES = 1024 * 1024;

/** The names that a file of a directory of hooks, or below it, mentions. */
async function namesRead(names: readonly string[], directory: string): Promise<readonly string[]> {
  const read = new Set<string>();
  for (const entry of await readdir(directory, { withFileTypes: true, recursive: true })) {
    const path = join(entry.parentPath, entry.name);
    if (!entry.isFile() || (await stat(path)).size > MAX_SOURCE_BYTES) continue;
    const source = await readFile(path, 'utf8');
    for (const name of names) if (source.includes(name)) read.add(name);
  }
  return names.filter((name) => read.has(name));
}

/** Replays recordings, each on the hook it belongs to. Loads each hook once. */
class OpenHooks {
  /** Why runs may differ although the hook did not change. */
  readonly notes = new Set<string>();
  readonly #cwd: string;
  readonly #parts: OpenHooksParts;
  readonly #open = new Map<string, Promise<OpenHook>>();

  constructor(cwd: string, parts: OpenHooksParts) {
    this.#cwd = cwd;
    this.#parts = parts;
  }

  /** The recordings that belong to the hook that is run. */
  async chosen<T extends { readonly recording: Recording }>(recordings: readonly T[]): Promise<readonly T[]> {
    const { hook: file } = this.#parts;
    if (file === undefined) return recordings;
    const { hook } = await this.#at(resolve(this.#cwd, file));
    return recordingsOf(recordings, { name: hook.name, module: moduleNameOf(hook) }, '--hook');
  }

  async replay(recording: Recording): Promise<ReplayResult> {
    const { hook: name, module, binding } = recording;
    let open: OpenHook;
    try {
      open = await this.#at(await this.#pathOf(recording));
    } catch (error) {
      this.#parts.signal.throwIfAborted();
      // With --hook all recordings are of this hook: none of them could be replayed.
      if (this.#parts.hook !== undefined) throw error;
      return { hook: name, module, binding, result: 'failed', reason: messageOf(error) };
    }
    await this.#note(recording, open.hook);
    const result = await replayOne(recording, open.replayed, plainDiff);
    this.#parts.signal.throwIfAborted();
    return result;
  }

  async #note(recording: Recording, hook: Hook): Promise<void> {
    const name = fullNameOf(recording);
    for (const binding of changedBindings(recording, hook))
      this.notes.add(
        `the binding ${binding} of ${name} was configured differently: the operator would give the hook other contexts than the recorded ones`,
      );
    if (hook.transport !== 'executable') return;
    const unset = missingVariables(recording, new Set(Object.keys(this.#parts.lab.hookEnv)));
    // A machine has many variables that no hook reads.
    const missing = unset.length === 0 ? [] : await namesRead(unset, dirname(hook.path));
    if (missing.length > 0)
      this.notes.add(
        `variables that ${name} had when it was recorded are not set here: ${missing.join(', ')}`,
      );
  }

  async #pathOf({ hook, module }: Recording): Promise<string> {
    const { hook: file, settings } = this.#parts;
    if (file !== undefined) return resolve(this.#cwd, file);
    if (module === '') return join(resolve(this.#cwd, settings.globalHooksDir), hook);
    const { modules } = await findModules({
      dirs: settings.modulesDirs.map((dir) => resolve(this.#cwd, dir)),
      defaultOrder: settings.unnumberedModulesOrder,
      isStrict: false,
      allowsLinksOutside: settings.allowsLinksOutside,
      log: silentLogger,
    });
    const found = modules.find(({ name }) => name === module);
    if (found !== undefined) return join(found.path, hook);
    const names = modules.map(({ name }) => String(name));
    throw new OperatorError(
      'CONFIG_INVALID',
      `there is no module ${module} in ${settings.modulesDirs.join(', ')}${didYouMean(module, names)}: set --modules-dir, or name the file of the hook with --hook`,
    );
  }

  #at(path: string): Promise<OpenHook> {
    const known = this.#open.get(path);
    if (known !== undefined) return known;
    const opening = this.#openHook(path);
    this.#open.set(path, opening);
    return opening;
  }

  async #openHook(path: string): Promise<OpenHook> {
    const { lab, kube, settings, running, signal } = this.#parts;
    let runs: HookRuns | undefined;
    const { runtime } = await lab.open({
      settings,
      host: { log: errorLog(() => undefined) },
      path,
      place: placeOf(path, resolve(this.#cwd, settings.globalHooksDir)),
      tap: (given) => {
        runs = given;
        return given;
      },
      running,
      stop: signal,
      clients: { main: kube, patcher: kube },
      env: {},
    });
    if (runs === undefined) throw new OperatorError('INTERNAL', 'the hook has no way to be run');
    const { hook } = runtime;
    return { hook, replayed: replayedHook({ ...this.#parts, hook, runs }) };
  }
}

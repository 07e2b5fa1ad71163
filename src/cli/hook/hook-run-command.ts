import { HookTap } from '../../devkit/hook-tap.ts';
import { runnableBindings } from '../../devkit/planned-runs.ts';
import { type TrialRun, tryHook } from '../../devkit/try-hook.ts';
import { title } from '../../hooks/hook.ts';
import type { CliHost } from '../cli-host.ts';
import { harmless, harmlessData } from '../harmless.ts';
import { paintFor, wantsColor } from '../output/paint.ts';
import { printData } from '../output/print-data.ts';
import { type HookTrialOptions, withHookTrial } from './hook-trial.ts';
import { printedLineText, runText, runTitle } from './hook-trial-text.ts';

export interface HookRunOptions extends HookTrialOptions {
  readonly format: 'text' | 'json';
  readonly hasColor: boolean;
}

/** Runs a hook on a sandbox, shows what came of it, and returns the exit code: 1 when the hook failed. */
export async function hookRunCommand(options: HookRunOptions, host: CliHost): Promise<number> {
  const paint = paintFor(options.hasColor && wantsColor(host.stdout.isTTY === true, host.env));
  const isText = options.format === 'text';
  const write = (text: string): void => {
    if (isText) host.stdout.write(text);
  };
  const tap = new HookTap(false);
  return await withHookTrial(options, tap, host, async ({ hook, request, changes }, signal) => {
    const { redactor } = hook;
    const { hook: loaded } = hook.runtime;
    write(`${paint('bold', harmless(title(loaded)))} ${placeText(options)}\n`);
    const runs: TrialRun[] = [];
    let isTitled = false;
    const titleOnce = (contexts: unknown): void => {
      if (!isTitled) write(`${paint('cyan', `run for ${harmless(runTitle(contexts))}`)}\n`);
      isTitled = true;
    };
    const parts = {
      hook,
      tap,
      changes,
      clock: host.clock,
      onLine: (line: Parameters<typeof printedLineText>[0]) => {
        titleOnce(tap.contexts);
        write(redactor.text(printedLineText(harmlessData(line), paint)));
      },
    };
    for await (const run of tryHook(parts, request, signal)) {
      titleOnce(run.contexts);
      isTitled = false;
      write(redactor.text(runText(harmlessData(run), paint, options.apply)));
      runs.push(run);
    }
    const others = otherBindings(loaded.config, runs);
    if (others.length > 0)
      write(paint('dim', `Not run: ${harmless(others.join(', '))}. Choose one with --binding.\n`));
    if (!isText)
      printData(
        host,
        `${JSON.stringify(redactor.data({ hook: loaded.name, owner: loaded.owner, runs }), null, 2)}\n`,
      );
    return runs.some(({ failure }) => failure !== undefined) ? 1 : 0;
  });
}

function placeText({ kubeContext, apply }: HookTrialOptions): string {
  if (kubeContext === undefined) return 'on a sandbox';
  const cluster = `on the cluster of context ${harmless(kubeContext)}`;
  return apply === true
    ? `${cluster}, which is changed`
    : `${cluster}, of which nothing is changed: writes are dry runs, and the hook itself has no access`;
}

/** Prints the binding contexts that a hook would be given, without running it. */
export async function hookContextsCommand(options: HookTrialOptions, host: CliHost): Promise<number> {
  const tap = new HookTap(true);
  return await withHookTrial(options, tap, host, async ({ hook, request, changes }, signal) => {
    const parts = { hook, tap, changes, clock: host.clock, onLine: () => undefined };
    const contexts: unknown[] = [];
    for await (const run of tryHook(parts, request, signal))
      if (Array.isArray(run.contexts)) contexts.push(...(run.contexts as readonly unknown[]));
    printData(host, `${JSON.stringify(hook.redactor.data(contexts), null, 2)}\n`);
    return 0;
  });
}

/** Prints the configuration of a hook with all defaults. */
export async function hookConfigCommand(
  options: Pick<HookTrialOptions, 'hook'>,
  host: CliHost,
): Promise<number> {
  const tap = new HookTap(true);
  return await withHookTrial({ ...options, cluster: [] }, tap, host, async ({ hook }) => {
    const { name, owner, transport, config } = hook.runtime.hook;
    printData(host, `${JSON.stringify({ name, owner, transport, config }, null, 2)}\n`);
    return 0;
  });
}

/** Bindings of the hook that were not run, by name. */
function otherBindings(
  config: Parameters<typeof runnableBindings>[0],
  runs: readonly TrialRun[],
): readonly string[] {
  const run = new Set(
    runs.flatMap(({ contexts }) =>
      (contexts as readonly { readonly binding: string }[]).map(({ binding }) => binding),
    ),
  );
  return [...runnableBindings(config).keys()].filter((name) => !run.has(name));
}

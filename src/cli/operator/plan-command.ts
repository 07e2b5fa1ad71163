import { inspect } from '../../app/inspect.ts';
import { collectPlan } from '../../plan/collect-plan.ts';
import { outcomeOf } from '../../plan/plan.ts';
import { type CliHost, fail } from '../cli-host.ts';
import { harmlessData } from '../harmless.ts';
import { paintFor, wantsColor } from '../output/paint.ts';
import { printData } from '../output/print-data.ts';
import { quietHost } from '../quiet-host.ts';
import { type ClusterOfCommand, operatorSettings, withCluster } from './operator-settings.ts';
import { planText } from './plan-text.ts';

export interface PlanOptions {
  /** Values given on the command line, by flag name. */
  readonly flags: Readonly<Record<string, string>>;
  /** Names of modules; none for all. */
  readonly modules: readonly string[];
  readonly format: 'text' | 'json';
  readonly hasColor: boolean;
}

/** Exit codes: nothing would change, something would change, unknown. */
const EXIT_CODES = { nothing: 0, changes: 2, unknown: 1 } as const;

/** Prints what a daemon would do, and returns the exit code. */
export async function planCommand(options: PlanOptions, host: CliHost): Promise<number> {
  const { settings } = await operatorSettings(options.flags, host);
  return await withCluster(settings, host, async ({ isMadeUp, ...cluster }) => {
    if (isMadeUp)
      host.stderr.write(
        'Note: no cluster is configured (--kube-config): this is the plan for an empty one\n',
      );
    return await planOn(cluster, options);
  });
}

async function planOn(
  { settings, host }: Omit<ClusterOfCommand, 'isMadeUp'>,
  options: PlanOptions,
): Promise<number> {
  const signal = host.stopSignal();
  return await inspect(
    settings,
    quietHost(host),
    async (inspection) => {
      const known = inspection.operator.registry.modules.map(({ name }) => name);
      const releases = (await inspection.base.helm.listReleases(signal)).map(({ name }) => name);
      const unknown = options.modules.filter((name) => ![...known, ...releases].includes(name));
      if (unknown.length > 0) {
        const directories = settings.modulesDirs.join(':');
        return fail(
          host,
          `no module or release named ${unknown.join(', ')}; modules are read from ${directories} (--modules-dir)`,
        );
      }
      const plan = await collectPlan(inspection, options.modules, signal);
      const paint = paintFor(options.hasColor && wantsColor(host.stdout.isTTY === true, host.env));
      const { redactor } = inspection;
      if (options.format === 'json')
        printData(host, `${JSON.stringify(redactor.data({ outcome: outcomeOf(plan), ...plan }), null, 2)}\n`);
      else host.stdout.write(redactor.text(planText(harmlessData(plan), paint)));
      return EXIT_CODES[outcomeOf(plan)];
    },
    signal,
  );
}

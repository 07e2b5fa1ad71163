import { World } from '../../support/world.ts';
import { shHook } from '../../support/world-files.ts';
import type { Scenario } from '../scenario.ts';

const writing = (order: number, metrics: string): string =>
  shHook(`onStartup: ${order}`, `cat > "$METRICS_PATH" <<'METRICS'\n${metrics}METRICS`);

export const metricsScenario: Scenario = {
  title: 'the metrics of the pages are exported',
  takes: ['metrics-written', 'metrics-expire'],
  gives: ['metrics-exported', 'metrics-after-expire'],
  async run(backend, taken) {
    await using world = await World.create(backend, {
      globalHooks: { 'backup.sh': writing(1, taken('metrics-written')) },
    });
    await world.converge();
    const exported = await scrape(world);
    await world.stop();
    await world.write('global-hooks', { 'cleaner.sh': writing(2, taken('metrics-expire')) });
    await world.converge();
    return { 'metrics-exported': exported, 'metrics-after-expire': await scrape(world) };
  },
};

async function scrape(world: World): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${world.daemon.httpPort}/metrics/hooks`);
  const lines = (await response.text())
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('# HELP'));
  return `${lines.join('\n')}\n`;
}

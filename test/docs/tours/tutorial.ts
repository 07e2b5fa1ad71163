import type { CommandScenario } from '../command-scenario.ts';
import { Terminal } from '../terminal.ts';

export const tutorialTour: CommandScenario = {
  title: 'the tutorial builds, tests and runs a module with a CRD, a schedule and a webhook',
  runs: [
    'tutorial-module',
    'tutorial-crd',
    'tutorial-schedule',
    'tutorial-schedule-test',
    'tutorial-schedule-hook',
    'tutorial-webhook-test',
    'tutorial-webhook',
    'tutorial-run',
    'tutorial-trigger',
    'tutorial-look',
  ],
  async run(programs) {
    const terminal = await Terminal.open(programs);
    await terminal.paste('tutorial-module');
    await terminal.paste('tutorial-crd');
    await terminal.paste('tutorial-schedule');
    await terminal.paste('tutorial-schedule-test', /1 failed/, 1);
    await terminal.paste('tutorial-schedule-hook');
    await terminal.paste('tutorial-webhook-test', /1 passed, 1 failed, 0 skipped/, 1);
    await terminal.paste('tutorial-webhook');
    const sandbox = await terminal.start('tutorial-run', 'What happens from now on');
    await sandbox.until('sandbox: webhooks are not called');
    await terminal.paste('tutorial-trigger');
    await terminal.look(
      'tutorial-look',
      /clean\.ts +0 3 \* \* \* +schedule\n[^]*- previews\n {4}verbs:\n {6}- get\n {6}- delete$/,
    );
    return terminal.taken;
  },
};

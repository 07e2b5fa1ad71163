import { expect, test } from 'vitest';
import { operatorLab } from '../../test/support/operator-lab.ts';
import { factsOfModule } from '../views/collect-module-facts.ts';

const PODS = [{ kind: 'Pod', name: 'pods', queue: 'own' }];

/** Says everything that a node could be guessed from. */
const misleading = (): never => {
  throw new Error('the afterHelm hook, a beforeHelm hook and helm failed');
};

test.each([
  ['onStartup', { onStartup: 1 }, 'synchronized'],
  ['beforeHelm', { beforeHelm: 1 }, 'before-helm'],
  ['afterHelm', { afterHelm: 1 }, 'ready'],
  ['kubernetes', { kubernetes: PODS }, 'synchronized'],
])(
  'a failing %s hook is in the way where its binding is, whatever it prints',
  async (_binding, config, node) => {
    await using lab = await operatorLab(['web'], { 'web/a.sh': config });
    lab.behaviours.set('web/a.sh', misleading);
    await lab.converge();
    const facts = factsOfModule(lab.operator, 'web');
    expect(facts?.explanation.causes[0]).toMatchObject({
      node,
      reason: 'RunFailed',
      remedy: expect.stringContaining('/web/a.sh'),
    });
  },
);

test.each([
  ['schedule', { schedule: [{ name: 's', crontab: '* * * * *', queue: 'side' }] }],
  ['kubernetes', { kubernetes: PODS }],
])(
  'a failing %s hook of a module that has been deployed is in the way as one of its hooks',
  async (binding, config) => {
    await using lab = await operatorLab(['web'], { 'web/a.sh': config });
    await lab.converge();
    lab.behaviours.set('web/a.sh', misleading);
    if (binding === 'schedule') lab.tick('web/a.sh');
    else lab.emit('web/a.sh/pods');
    await lab.settle();
    const facts = factsOfModule(lab.operator, 'web');
    expect(facts?.explanation.causes[0]).toMatchObject({
      node: 'hooks',
      remedy: expect.stringContaining('/web/a.sh'),
    });
    expect(facts?.explanation.failure?.error).toContain('afterHelm');
  },
);

test('a failure of helm is one of helm, also after a hook has failed', async () => {
  await using lab = await operatorLab(['web'], { 'web/a.sh': { beforeHelm: 1 } });
  lab.behaviours.set('web/a.sh', misleading);
  await lab.converge();
  lab.behaviours.delete('web/a.sh');
  lab.obstacles.set('deploy web', misleading);
  lab.operator.router.main.cutDelay();
  await lab.settle();
  expect(factsOfModule(lab.operator, 'web')?.explanation.causes[0]).toMatchObject({ node: 'helm' });
});

import { expect, test } from 'vitest';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { operatorLab } from '../../test/support/operator-lab.ts';
import type { BuiltOperator } from './build-options.ts';
import type { Cluster } from './connect-cluster.ts';
import { operatorForDelivery } from './operator-for-delivery.ts';

test('a module is disabled by a flag once a discovery has read the flags', async () => {
  await using lab = await operatorLab(['web', 'db']);
  const shown = operatorForDelivery(
    { clock: new FakeClock(), version: '1.3.0' },
    {} as unknown as Cluster,
    'default',
  );
  shown.show({ explained: lab.operator } as unknown as BuiltOperator);
  const whyDisabled = (module: string) => shown.operator.whyDisabled(module);
  lab.enabled.delete('web');
  expect([whyDisabled('web'), whyDisabled('unknown')]).toEqual([undefined, undefined]);
  await lab.converge();
  expect([whyDisabled('web'), whyDisabled('db')]).toEqual([
    'no source sets the flag of the module',
    undefined,
  ]);
});

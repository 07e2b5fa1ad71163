import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import type { ReleaseSteps } from '../../src/releases/release-steps.ts';
import { describeHelm } from './helm-suite.ts';

const signal = new AbortController().signal;
const SEEN = '(lookup "v1" "ConfigMap" .Release.Namespace "source").data.a';

/** What differs each time: values, a line, the name of an object, the spelling of another date. */
const TEMPLATE = `apiVersion: v1
kind: ConfigMap
metadata: {name: web}
data:
  seen: {{ ${SEEN} | quote }}
  day: {{ now | date "2006-01-02" | quote }}
  dice: {{ randInt 0 2 | quote }}
  cert: {{ (genSelfSignedCert "a" nil nil 1).Cert | quote }}
  mixed: |
    at={{ now | unixEpoch }}
    seen={{ ${SEEN} }}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: "job-{{ .Release.Revision }}-{{ randAlphaNum 5 | lower }}"}
data: {seen: {{ ${SEEN} | quote }}}
`;

describeHelm('a chart that reads the cluster and differs each time', (lab) => {
  async function see(value: string, method: 'POST' | 'PUT'): Promise<void> {
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'source' }, data: { a: value } };
    const path = lab.world.path(method === 'POST' ? 'configmaps' : 'configmaps/source');
    await lab.world.probe.expect({ method, path, body });
  }

  test('is upgraded when what it reads has changed, and only then', async () => {
    await lab.world.put({ 'templates/map.yaml': TEMPLATE });
    await see('1', 'POST');
    expect(await lab.deploy()).toMatchObject({ action: 'installed' });
    expect(await lab.deploy()).toMatchObject({ action: 'skipped' });
    await see('2', 'PUT');
    expect(await lab.deploy()).toMatchObject({ action: 'upgraded', revision: 2 });
    expect(await lab.greeting()).toMatchObject({ seen: '2' });
    const again = await lab.deploy();
    expect(again).toMatchObject({ action: 'skipped' });
    const objects = again.objects.map(({ name }) => name);
    expect(objects).toEqual(['web', expect.stringMatching(/^job-2-/)]);
  });

  test('is not upgraded for the time in a packed subchart, or in values that become a template', async () => {
    const time = '{{ now | unixEpoch | quote }}';
    const sub = join(lab.world.modulePath, 'charts', 'sub');
    const map = (name: string, data: string): string =>
      `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\ndata: {${data}}\n`;
    await lab.world.put({
      'templates/map.yaml': map('web', `seen: {{ ${SEEN} | quote }}, at: {{ tpl .Values.web.at . }}`),
      'charts/sub/Chart.yaml': 'apiVersion: v2\nname: sub\nversion: 1.0.0\n',
      'charts/sub/templates/map.yaml': map('sub', `at: ${time}`),
    });
    await execa('tar', ['-czf', `${sub}-1.0.0.tgz`, '-C', join(sub, '..'), 'sub']);
    await rm(sub, { recursive: true });
    await see('1', 'POST');
    expect(await lab.deploy({ at: time })).toMatchObject({ action: 'installed' });
    expect(await lab.deploy({ at: time })).toMatchObject({ action: 'skipped', revision: 1 });
    expect(await lab.world.object('configmaps/sub')).toBeDefined();
  });

  test('is not upgraded on every run when it is rendered for an extension', async () => {
    await lab.world.put({
      'templates/map.yaml': `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata: {a: {{ randAlpha 9 }}}\n`,
    });
    let color = 'red';
    const nothing = async (): Promise<void> => await Promise.resolve();
    const steps: ReleaseSteps = {
      digest: '',
      isOpen: true,
      transform: (objects) =>
        Promise.resolve(
          objects.map((object) => ({ ...object, data: { ...(object['data'] as object), color } })),
        ),
      beforeApply: nothing,
      afterApply: nothing,
    };
    const module = { name: 'web', path: lab.world.modulePath };
    const deploy = async (): Promise<unknown> =>
      await lab.driver.deploy({ module, values: { web: {} }, steps }, signal);
    expect(await deploy()).toMatchObject({ action: 'installed' });
    expect(await deploy()).toMatchObject({ action: 'skipped', revision: 1 });
    color = 'blue';
    expect(await deploy()).toMatchObject({ action: 'upgraded', revision: 2 });
    expect(await lab.greeting()).toMatchObject({ color: 'blue' });
    expect(await deploy()).toMatchObject({ action: 'skipped', revision: 2 });
  });

  test('is upgraded when an object of it is missing', async () => {
    await lab.world.put({ 'templates/map.yaml': TEMPLATE });
    await see('1', 'POST');
    await lab.deploy();
    await lab.world.delete('configmaps/web');
    expect(await lab.deploy()).toMatchObject({ action: 'upgraded', revision: 2 });
  });
});

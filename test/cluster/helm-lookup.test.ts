import { expect, test } from 'vitest';
import { describeHelm } from './helm-suite.ts';

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
    for (let run = 0; run < 3; run += 1) expect(await lab.deploy()).toMatchObject({ action: 'skipped' });
    await see('2', 'PUT');
    expect(await lab.deploy()).toMatchObject({ action: 'upgraded', revision: 2 });
    expect(await lab.greeting()).toMatchObject({ seen: '2' });
    for (let run = 0; run < 3; run += 1) expect(await lab.deploy()).toMatchObject({ action: 'skipped' });
    const objects = (await lab.deploy()).objects.map(({ name }) => name);
    expect(objects).toEqual(['web', expect.stringMatching(/^job-2-/)]);
  });

  test('is upgraded when an object of it is missing', async () => {
    await lab.world.put({ 'templates/map.yaml': TEMPLATE });
    await see('1', 'POST');
    await lab.deploy();
    await lab.world.delete('configmaps/web');
    expect(await lab.deploy()).toMatchObject({ action: 'upgraded', revision: 2 });
  });
});

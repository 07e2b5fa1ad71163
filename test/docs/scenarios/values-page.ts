import { load } from 'js-yaml';
import { expect } from 'vitest';
import type { Backend } from '../../support/world.ts';
import { World } from '../../support/world.ts';
import { configMapChart, under } from '../../support/world-files.ts';
import { kept, recordingHook } from '../recorder.ts';
import type { Scenario } from '../scenario.ts';

const SHOW = recordingHook('configVersion: v1\nbeforeHelm: 2');

export const layersScenario: Scenario = {
  title: 'layers of values merge as the page shows',
  takes: ['layers-files', 'layers-config-map', 'layers-patch'],
  gives: ['layers-values', 'layers-config-values'],
  async run(backend, taken) {
    const patch = `cat > "$VALUES_JSON_PATCH_PATH" <<'PATCH'\n${taken('layers-patch')}PATCH`;
    await using world = await World.create(backend, {
      config: load(taken('layers-config-map')) as Readonly<Record<string, string>>,
      modules: {
        'values.yaml': taken('layers-files'),
        '001-web/hooks/token.sh': recordingHook('configVersion: v1\nbeforeHelm: 1', patch),
        '001-web/hooks/show.sh': SHOW,
      },
    });
    await world.converge();
    return {
      'layers-values': await kept(world, 'show.sh', 0, 'VALUES_PATH'),
      'layers-config-values': await kept(world, 'show.sh', 0, 'CONFIG_VALUES_PATH'),
    };
  },
};

export const schemasScenario: Scenario = {
  title: 'the schemas of the page check and give defaults',
  takes: ['schema-config-values', 'schema-values'],
  gives: ['schema-errors'],
  async run(backend, taken) {
    const web = {
      '001-web/values.yaml': 'webEnabled: true\n',
      '001-web/openapi/config-values.yaml': taken('schema-config-values'),
      '001-web/openapi/values.yaml': taken('schema-values'),
      ...under('001-web', configMapChart('web', 'web')),
    };
    await expectTokenDemanded(backend, web);
    const patch = `echo '{"op": "add", "path": "/web/token", "value": "x"}' > "$VALUES_JSON_PATCH_PATH"`;
    await using world = await World.create(backend, {
      config: { web: 'host: example.com' },
      modules: {
        ...web,
        '001-web/hooks/token.sh': recordingHook('configVersion: v1\nbeforeHelm: 1', patch),
        '001-web/hooks/show.sh': SHOW,
      },
    });
    await world.converge();
    expect(JSON.parse(await kept(world, 'show.sh', 0, 'VALUES_PATH'))).toMatchObject({
      web: { host: 'example.com', replicas: 2, token: 'x' },
    });
    await world.putConfig({ web: 'host: example.com\nsice: 1\nreplicas: "many"' });
    await world.untilDelayed();
    return { 'schema-errors': `${world.daemon.operator.router.main.entries[0]?.lastError ?? ''}\n` };
  },
};

/** Without a hook that sets it, what `x-required-for-helm` names is missing before helm. */
async function expectTokenDemanded(backend: Backend, web: Readonly<Record<string, string>>): Promise<void> {
  await using world = await World.create(backend, { config: { web: 'host: example.com' }, modules: web });
  await world.start();
  await world.untilDelayed();
  expect(world.daemon.operator.router.main.entries[0]?.lastError).toContain('web.token in body is required');
}

export const secretReferenceScenario: Scenario = {
  title: 'a value refers to a Secret as the page shows',
  takes: ['secret-reference'],
  gives: [],
  async run(backend, taken) {
    await using world = await World.create(backend, {
      config: { web: taken('secret-reference') },
      flags: { 'secret-references': 'web,global' },
      modules: { 'values.yaml': 'webEnabled: true\n', '001-web/hooks/show.sh': SHOW },
    });
    const secret = { kind: 'Secret', metadata: { name: 'web-db' }, stringData: { password: 'swordfish' } };
    await world.create('secrets', secret);
    await world.converge();
    const web = async (input: 'VALUES_PATH' | 'CONFIG_VALUES_PATH'): Promise<unknown> => {
      const document = JSON.parse(await kept(world, 'show.sh', 0, input)) as { readonly web: unknown };
      return document.web;
    };
    expect(await web('VALUES_PATH')).toEqual({ host: 'example.com', password: 'swordfish' });
    expect(await web('CONFIG_VALUES_PATH')).toEqual(load(taken('secret-reference')));
    return {};
  },
};

import { afterEach, beforeEach, expect, test } from 'vitest';
import type { HelmDriver } from '../../src/releases/helm-driver.ts';
import {
  describeCluster,
  describeEachHelm,
  helmPath,
  lacksHelm,
} from '../support/control-plane/cluster-suite.ts';
import { HelmWorld, shareHelmTools } from './helm-world.ts';

const signal = new AbortController().signal;

const configMap = (name: string, text: string): string =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\ndata: {text: "${text} {{ .Values.web.word }}"}\n`;

describeCluster('a rollback', (cluster) => {
  const tools = shareHelmTools();
  describeEachHelm((version) => {
    let world: HelmWorld;
    let driver: HelmDriver;

    beforeEach(async (context) => {
      if (lacksHelm(version)) {
        context.skip();
        return;
      }
      world = await HelmWorld.start(cluster(), helmPath(cluster(), version), tools());
      driver = await world.driver();
      await put('one');
      await deploy('one', 'old');
      await put('two');
      await world.put({ 'templates/extra.yaml': configMap('extra', 'two') });
      await deploy('two', 'new');
    });
    afterEach(async () => {
      await driver.monitors.stopAll();
      await world.stop();
    });

    async function put(text: string): Promise<void> {
      await world.put({ 'templates/web.yaml': configMap('web', text) });
    }

    async function deploy(files: string, word: string) {
      const source = {
        files,
        version: `1.0.0-${files}`,
        section: { word },
        schemas: async () => await Promise.resolve({ config: 'type: object' }),
      };
      const module = { name: 'web', path: world.modulePath };
      const { action, revision } = await driver.deploy(
        { module, values: { global: {}, web: { word } }, source },
        signal,
      );
      return { action, revision };
    }

    async function text(name = 'web'): Promise<unknown> {
      const path = `/api/v1/namespaces/${world.namespace}/configmaps/${name}`;
      const { status, body } = await world.probe.request({ path });
      return status === 404 ? undefined : (body as { readonly data: { readonly text: string } }).data.text;
    }

    async function history() {
      const list = await driver.history.list('web', signal);
      return list.map(({ revision, outcome, files, version: of }) => [revision, outcome, files, of]);
    }

    test('makes a new revision of the old manifest, which counts as deployed for the same chart and values', async () => {
      const before = await driver.history.manifest('web', 1, signal);
      const result = await driver.rollback({ release: 'web', revision: 1 }, signal);
      expect(result).toMatchObject({ revision: 3, objects: [{ kind: 'ConfigMap', name: 'web' }] });
      expect([await text(), await text('extra')]).toEqual(['one old', undefined]);
      expect(await driver.history.manifest('web', 3, signal)).toBe(before);
      expect(await history()).toEqual([
        [3, 'running', 'one', '1.0.0-one'],
        [2, 'rolled-back', 'two', '1.0.0-two'],
        [1, 'replaced', 'one', '1.0.0-one'],
      ]);
      expect(await deploy('two', 'new')).toEqual({ action: 'upgraded', revision: 4 });
      expect(await driver.rollback({ release: 'web', revision: 3 }, signal)).toMatchObject({ revision: 5 });
      await world.put({ 'templates/extra.yaml': undefined });
      await put('one');
      expect(await deploy('one', 'old')).toEqual({ action: 'skipped', revision: 5 });
    });

    test('goes back from a failed revision, whose files and reason are in the history', async () => {
      await world.put({
        'templates/bad.yaml': 'apiVersion: v1\nkind: Service\nmetadata: {name: bad}\nspec: {ports: 1}\n',
      });
      await expect(deploy('three', 'new')).rejects.toMatchObject({ code: 'HELM_FAILED' });
      const [failed] = await driver.history.list('web', signal);
      expect(failed).toMatchObject({
        outcome: 'failed',
        files: 'three',
        reason: expect.stringMatching(/failed/),
      });
      const { revision } = await driver.rollback({ release: 'web', revision: 2 }, signal);
      expect(await text()).toBe('two new');
      expect((await driver.listReleases(signal))[0]).toMatchObject({
        revision,
        status: 'deployed',
        isOwned: true,
      });
    });

    test('keeps the mark of a release that stays without its module', async () => {
      await driver.keep('web', true, signal);
      await driver.rollback({ release: 'web', revision: 1 }, signal);
      expect((await driver.listReleases(signal))[0]).toMatchObject({ revision: 3, isKept: true });
    });

    test('is refused for a revision that does not exist', async () => {
      await expect(driver.rollback({ release: 'web', revision: 9 }, signal)).rejects.toThrow(
        'Release "web" has no revision 9',
      );
    });

    test('what revisions were deployed from is removed with the release', async () => {
      const path = `/api/v1/namespaces/${world.namespace}/secrets?labelSelector=addon-operator/source-of`;
      const names = async () => {
        const { items } = (await world.probe.expect({ path })) as { readonly items: readonly unknown[] };
        return items.length;
      };
      expect(await names()).toBe(2);
      await driver.uninstall('web', signal);
      await expect.poll(names, { timeout: 60_000, interval: 200 }).toBe(0);
    });

    test('new files without effect on the chart are recorded with the revision that runs', async () => {
      expect(await deploy('hooks', 'new')).toEqual({ action: 'skipped', revision: 2 });
      expect((await history())[0]).toEqual([2, 'running', 'hooks', '1.0.0-hooks']);
    });
  });
});

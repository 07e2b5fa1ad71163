import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { describeHelm } from './helm-suite.ts';

const signal = new AbortController().signal;
const WAIT_MS = 60_000;
const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

describeHelm('a release with a kind that the cluster does not serve any more', (lab) => {
  let group: string;

  beforeEach(async () => {
    group = `${randomBytes(4).toString('hex')}.example.com`;
    await lab.world.probe.expect({ method: 'POST', path: CRDS, body: definition(['v1', 'v2']) });
    await untilServed('v1');
    await lab.world.put({ 'templates/box.yaml': box('v1') });
    await lab.deploy();
  });
  afterEach(async () => {
    await lab.world.probe.request({ method: 'DELETE', path: definitionPath() });
  });

  test('is upgraded when its chart no longer contains the kind', async () => {
    await removeDefinition();
    await lab.world.put({ 'templates/box.yaml': undefined });
    expect(await lab.deploy({ greeting: 'good day' })).toMatchObject({ action: 'upgraded' });
    expect(await lab.greeting()).toMatchObject({ greeting: 'good day' });
  });

  test('is uninstalled', async () => {
    await removeDefinition();
    expect(await lab.driver.uninstall('web', signal)).toBe('uninstalled');
    expect(await lab.greeting()).toBeUndefined();
  });

  test('keeps an object that is served in another version, when the chart has it in that version', async () => {
    const { uid } = await untilServed('v2');
    await serve(['v2']);
    await lab.world.put({ 'templates/box.yaml': box('v2') });
    expect(await lab.deploy()).toMatchObject({ action: 'upgraded' });
    expect((await untilServed('v2')).uid).toBe(uid);
  });

  test('deletes an object that is served in another version when it is uninstalled', async () => {
    await serve(['v2']);
    expect(await lab.driver.uninstall('web', signal)).toBe('uninstalled');
    expect((await untilServed('v2')).uid).toBeUndefined();
  });

  function box(version: string): string {
    return `apiVersion: ${group}/${version}\nkind: Box\nmetadata: {name: box}\n`;
  }

  function definitionPath(): string {
    return `${CRDS}/boxes.${group}`;
  }

  function definition(served: readonly string[]): object {
    const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
    const names = { plural: 'boxes', singular: 'box', kind: 'Box', listKind: 'BoxList' };
    const versions = ['v1', 'v2'].map((name) => ({
      name,
      schema,
      served: served.includes(name),
      storage: name === 'v2',
    }));
    return {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: `boxes.${group}` },
      spec: { group, scope: 'Namespaced', names, versions },
    };
  }

  async function serve(served: readonly string[]): Promise<void> {
    const { spec } = definition(served) as { spec: object };
    await lab.world.probe.expect({
      method: 'PATCH',
      path: definitionPath(),
      contentType: 'application/merge-patch+json',
      body: { spec },
    });
    await untilGone();
  }

  async function removeDefinition(): Promise<void> {
    await lab.world.probe.expect({ method: 'DELETE', path: definitionPath() });
    await untilGone();
  }

  async function untilGone(): Promise<void> {
    await vi.waitFor(async () => {
      const { status } = await lab.world.probe.request({ path: `/apis/${group}/v1` });
      expect(status).toBe(404);
    }, WAIT_MS);
    // helm and the operator keep what the server said it serves for a while.
    lab.world.clock.jump(60_000);
  }

  /** Metadata of the box, read in a version once that is served; empty when there is none. */
  async function untilServed(version: string): Promise<{ readonly uid?: string }> {
    return await vi.waitFor(async () => {
      const { status, body } = await lab.world.probe.request({ path: `/apis/${group}/${version}` });
      expect([status, JSON.stringify(body)]).toEqual([200, expect.stringContaining('boxes')]);
      const path = `/apis/${group}/${version}/namespaces/${lab.world.namespace}/boxes/box`;
      const response = await lab.world.probe.request({ path });
      expect([200, 404]).toContain(response.status);
      return response.status === 404 ? {} : (response.body as { metadata: { uid: string } }).metadata;
    }, WAIT_MS);
  }
});

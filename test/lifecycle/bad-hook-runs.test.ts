import { expect, test, vi } from 'vitest';
import { gadgetDefinition } from '../support/gadget-definition.ts';
import { describeApiIndependent, describeLifecycle } from '../support/lifecycle-suite.ts';
import { World } from '../support/world.ts';
import { announcer, shHook } from '../support/world-files.ts';

/** Writes something good into every output, then lets `$WORLD/harm` have its way. */
const WRITER = `
echo '{"op":"add","path":"/web/saved","value":1}' > "$CONFIG_VALUES_JSON_PATCH_PATH"
echo '{"op":"add","path":"/web/patched","value":1}' > "$VALUES_JSON_PATCH_PATH"
echo '{"name":"hook_wrote","action":"set","value":1}' > "$METRICS_PATH"
cat > "$KUBERNETES_PATCH_PATH" <<OBJECT
operation: CreateOrUpdate
object: {apiVersion: v1, kind: ConfigMap, metadata: {name: made, namespace: $NAMESPACE}}
OBJECT
. "$WORLD/harm"`;

/** What is left of the writer's outputs. */
async function applied(world: World): Promise<Readonly<Record<string, boolean>>> {
  const metrics = await fetch(`http://127.0.0.1:${world.daemon.httpPort}/metrics/hooks`);
  return {
    isSaved: (await world.get('configmaps', 'addon-operator')) !== undefined,
    isPatched: 'patched' in world.daemon.built.configuration.values.values('web' as never),
    isMeasured: (await metrics.text()).includes('hook_wrote'),
    isMade: (await world.get('configmaps', 'made')) !== undefined,
  };
}

function watcher(name: string, binding: string): string {
  return shHook(`kubernetes:\n- ${binding}`, `echo "${name} $(cat "$BINDING_CONTEXT_PATH")"`);
}

/** Hooks that do wrong when they run; faults E1, E16 to E20 and A17 of the catalogue. */
describeLifecycle((backend) => {
  test('a binding to a kind that the cluster does not serve is retried while other queues continue; a CRD created later fixes it, and its deletion deletes the objects', async () => {
    await using world = await World.create(backend(), {});
    const group = `${world.namespace}.example.com`;
    const side = `{name: side, apiVersion: v1, kind: ConfigMap, nameSelector: {matchNames: [side]}, namespace: {nameSelector: {matchNames: [${world.namespace}]}}, executeHookOnSynchronization: false, keepFullObjectsInMemory: false, queue: side, waitForSynchronization: false}`;
    await world.write('global-hooks', {
      'a.sh': watcher('side', side),
      'b.sh': watcher(
        'gadget',
        `{name: gadgets, apiVersion: ${group}/v1, kind: Gadget, keepFullObjectsInMemory: false}`,
      ),
      'c.sh': announcer('c', { beforeAll: 1 }),
    });
    await world.start();
    await world.untilDelayed();
    expect(world.daemon.operator.router.main.entries[0]?.lastError).toMatch(
      new RegExp(`apiVersion '${group}/v1', kind 'Gadget' is not supported`),
    );
    const failure = world.log.records.find(({ level }) => level === 'error');
    expect(failure).toMatchObject({ hook: 'b.sh' });
    await world.create('configmaps', { metadata: { name: 'side' } });
    await world.log.untilPrinted('side [{"binding":"side","type":"Event","watchEvent":"Added"}]');
    const crd = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions`;
    await world.expect({ method: 'POST', path: crd, body: gadgetDefinition(group) });
    await vi.waitFor(
      async () => {
        const { status } = await backend().request({ path: `/apis/${group}/v1/gadgets` });
        if (status !== 200) throw new Error(`not served yet: ${status}`);
      },
      { timeout: 60_000 },
    );
    try {
      const isHealed = (): boolean => world.log.printed.includes('c beforeAll');
      while (!isHealed()) {
        await Promise.race([world.passDelay(), world.log.until(isHealed)]);
      }
      expect(world.log.printed).toContain(
        'gadget [{"binding":"gadgets","type":"Synchronization","objects":[]}]',
      );
      await world.expect({
        method: 'POST',
        path: `/apis/${group}/v1/namespaces/${world.namespace}/gadgets`,
        body: { apiVersion: `${group}/v1`, kind: 'Gadget', metadata: { name: 'one' } },
      });
      await world.log.untilPrinted('gadget [{"binding":"gadgets","type":"Event","watchEvent":"Added"}]');
    } finally {
      await world.expect({ method: 'DELETE', path: `${crd}/gadgets.${group}` });
    }
    await world.log.untilPrinted('gadget [{"binding":"gadgets","type":"Event","watchEvent":"Deleted"}]');
  });

  test('a binding to a namespace that does not exist gets events of objects created there later', async () => {
    await using world = await World.create(backend(), {});
    const later = `${world.namespace}-later`;
    await world.write('global-hooks', {
      'a.sh': watcher(
        'later',
        `{name: later, apiVersion: v1, kind: Secret, namespace: {nameSelector: {matchNames: [${later}]}}, keepFullObjectsInMemory: false}`,
      ),
    });
    await world.converge();
    await world.expect({
      method: 'POST',
      path: '/api/v1/namespaces',
      body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: later } },
    });
    await world.expect({
      method: 'POST',
      path: `/api/v1/namespaces/${later}/secrets`,
      body: { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'one' } },
    });
    await world.log.untilPrinted('later [{"binding":"later","type":"Event","watchEvent":"Added"}]');
    expect(world.log.printed).toHaveLength(2);
    await world.expect({ method: 'DELETE', path: `/api/v1/namespaces/${later}` });
  });
});

describeApiIndependent((backend) => {
  test('no output of a hook with one invalid file is applied, until it is corrected', async () => {
    await using world = await World.create(backend(), {
      modules: {
        'values.yaml': 'webEnabled: true\n',
        '001-web/hooks/write.sh': shHook('beforeHelm: 1', WRITER),
        '../harm': '',
      },
    });
    const harms: readonly (readonly [script: string, message: RegExp])[] = [
      ['echo "{" > "$CONFIG_VALUES_JSON_PATCH_PATH"', /bad json patch for config values/],
      ['echo \'{"op":"remove","path":"/web/x"}\' > "$CONFIG_VALUES_JSON_PATCH_PATH"', /config values/],
      [
        'echo \'{"op":"add","path":"/global/x","value":1}\' > "$CONFIG_VALUES_JSON_PATCH_PATH"',
        /'web' accepted/,
      ],
      ['echo "]" >> "$VALUES_JSON_PATCH_PATH"', /bad json patch for values/],
      ['echo \'{"op":"replace","path":"/web/x","value":1}\' > "$VALUES_JSON_PATCH_PATH"', /replace/],
      ['echo \'{"op":"test","path":"/web/x","value":1}\' >> "$VALUES_JSON_PATCH_PATH"', /test/],
      ['echo "not json" >> "$METRICS_PATH"', /bad metrics/],
      ['echo \'{"name":"x","action":"set"}\' >> "$METRICS_PATH"', /bad metrics.*'value' is required/s],
      [
        'echo "operation: Explode" > "$KUBERNETES_PATCH_PATH"',
        /bad kubernetes patch.*operation must be one of/,
      ],
      ['printf "\\n---\\nobject: [" >> "$KUBERNETES_PATCH_PATH"', /bad kubernetes patch/],
      ['rm "$METRICS_PATH"; ln -s /etc/passwd "$METRICS_PATH"', /METRICS_PATH/],
      ['rm "$METRICS_PATH"; mkfifo "$METRICS_PATH"', /METRICS_PATH.*not a regular file/],
      ['rm "$VALUES_JSON_PATCH_PATH"; mkdir "$VALUES_JSON_PATCH_PATH"', /VALUES_JSON_PATCH_PATH/],
      ['exit 3', /exit status 3/],
      ['kill -KILL $$', /SIGKILL/],
    ];
    const failures: unknown[] = [];
    for (const [index, [script]] of harms.entries()) {
      await world.write('modules', { '../harm': script });
      if (index === 0) await world.start();
      else await world.passDelay();
      await world.log.untilMessage('attempt failed, will retry', index + 1);
      failures.push(world.daemon.operator.router.main.entries[0]?.lastError);
      expect({ script, ...(await applied(world)) }).toEqual({
        script,
        isSaved: false,
        isPatched: false,
        isMeasured: false,
        isMade: false,
      });
    }
    expect(failures).toEqual(harms.map(([, message]) => expect.stringMatching(message)));
    for (const failure of failures) expect(failure).toContain('write.sh');
    await world.write('modules', { '../harm': '' });
    await world.passDelay();
    await world.daemon.firstConverge;
    expect(await applied(world)).toEqual({
      isSaved: true,
      isPatched: true,
      isMeasured: true,
      isMade: true,
    });
  });

  test('a hook that overwrites its input files has no effect on others', async () => {
    await using world = await World.create(backend(), {
      globalHooks: {
        'a.sh': shHook(
          'onStartup: 1',
          'for f in "$VALUES_PATH" "$BINDING_CONTEXT_PATH"; do echo "{" > "$f"; done',
        ),
        'b.sh': shHook('onStartup: 2', 'echo "values: $(cat "$VALUES_PATH")"'),
      },
      modules: { 'values.yaml': 'global: {a: 1}\n' },
    });
    await world.converge();
    expect(world.log.printed).toEqual(['values: {"global":{"a":1}}']);
  });

  test.each([
    ['--hook-timeout', { 'hook-timeout': '31s' }, '', 31],
    ['settings.timeout', { 'hook-timeout': '31s' }, '\nsettings: {timeout: 7s}', 7],
  ])(
    'a hook that runs longer than %s is stopped, fails and is retried',
    async (_case, flags, settings, limit) => {
      await using world = await World.create(backend(), {
        flags,
        globalHooks: {
          'slow.sh': shHook(
            `onStartup: 1${settings}`,
            '[ -e "$WORLD/hung" ] && echo "second run" && exit\ntouch "$WORLD/hung"; echo "hangs"; sleep 600 & wait',
          ),
        },
      });
      await world.start();
      await world.log.untilPrinted('hangs');
      await world.clock.passSleep(limit * 1_000);
      await world.log.untilMessage('attempt failed, will retry');
      expect(world.daemon.operator.router.main.entries[0]?.lastError).toBe(
        `global hook 'slow.sh' was stopped: it ran longer than its limit of ${limit} s`,
      );
      await world.passDelay();
      await world.daemon.firstConverge;
      expect(world.log.printed).toEqual(['hangs', 'second run']);
    },
  );
});

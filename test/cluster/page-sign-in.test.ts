import { createSign } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { loadAll } from 'js-yaml';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { controlPlaneBackend } from '../support/backends.ts';
import { UiWorld } from '../support/browser/ui-world.ts';
import { ApiProbe } from '../support/control-plane/api-probe.ts';
import { describeCluster } from '../support/control-plane/cluster-suite.ts';
import { CHART, helmOf, IMAGE } from '../support/control-plane/operator-chart.ts';
import { HELM_VERSIONS } from '../support/control-plane/programs.ts';
import { shHook } from '../support/world-files.ts';

const MODULE = 'page-sign-in';
const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const WAIT_MS = 60_000;

interface Answer {
  readonly status: number;
  readonly body: { readonly error?: { readonly message: string } } & Record<string, unknown>;
}

describeCluster('the page with tokens of the cluster', (cluster) => {
  let ui: UiWorld;
  let origin = '';

  beforeAll(async () => {
    const backend = await controlPlaneBackend(cluster());
    ui = await UiWorld.create(backend, {
      modules: {
        'values.yaml': 'pageSignInEnabled: true\n',
        [`001-${MODULE}/hooks/hook.sh`]: shHook('beforeHelm: 1', 'echo printed-by-the-hook'),
      },
      flags: { 'ui-auth': 'kubernetes', 'ui-actions': 'true', 'module-objects': 'true' },
    });
    await createRoles();
    for (const name of ['reader', 'operator', 'stranger']) await createAccount(name);
    await bind('reader', 'addon-operator-viewer');
    await bind('operator', 'addon-operator-operator');
    ui.launch();
    await ui.daemon.untilConverged();
    ({ origin } = await ui.address());
  }, 120_000);
  afterAll(async () => {
    await ui?.[Symbol.asyncDispose]();
  });

  /** The ClusterRoles of the chart. */
  const createRoles = async (): Promise<void> => {
    const flags = ['--set=ui.enabled=true,ui.auth=kubernetes', '--show-only=templates/ui-roles.yaml'];
    const helm = helmOf(cluster(), HELM_VERSIONS[0]);
    const { stdout } = await helm('template', 'op', CHART, ...IMAGE, ...flags);
    for (const role of loadAll(stdout) as { metadata: { name: string } }[]) {
      const path = `${RBAC}/clusterroles/${role.metadata.name}`;
      await ui.world.backend.request({ method: 'DELETE', path });
      await ui.world.expect({ method: 'POST', path: `${RBAC}/clusterroles`, body: role });
    }
  };
  const createAccount = async (name: string): Promise<void> => {
    await ui.world.create('serviceaccounts', { metadata: { name } });
  };
  const bind = async (account: string, role: string): Promise<void> => {
    const body = {
      metadata: { name: `${ui.world.namespace}-${account}` },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
      subjects: [{ kind: 'ServiceAccount', name: account, namespace: ui.world.namespace }],
    };
    await ui.world.expect({ method: 'POST', path: `${RBAC}/clusterrolebindings`, body });
  };
  /** As `kubectl create token`. */
  const tokenOf = async (account: string): Promise<string> => {
    const { status } = (await new ApiProbe(cluster().access).expect({
      method: 'POST',
      path: `/api/v1/namespaces/${ui.world.namespace}/serviceaccounts/${account}/token`,
      body: {
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'TokenRequest',
        spec: { expirationSeconds: 600 },
      },
    })) as { status: { token: string } };
    return status.token;
  };
  const send = async (token: string, path: string, action?: string): Promise<Answer> => {
    const response = await fetch(`${origin}/api/v1/${path}`, {
      method: action === undefined ? 'GET' : 'POST',
      headers: { 'X-Addon-Operator-Token': token, 'Content-Type': 'application/json' },
      ...(action !== undefined && { body: JSON.stringify({ action }) }),
    });
    return { status: response.status, body: (await response.json()) as Answer['body'] };
  };
  const userOf = (account: string): string => `system:serviceaccount:${ui.world.namespace}:${account}`;

  test('a reader sees modules, and is refused values, outputs and actions with the rule that is missing', async () => {
    const token = await tokenOf('reader');
    for (const path of ['now', 'modules', `modules/${MODULE}`, 'runs', 'about'])
      expect([path, (await send(token, path)).status]).toEqual([path, 200]);
    for (const path of [`modules/${MODULE}/values`, 'runs/1', 'stream?topics=log'])
      expect([path, (await send(token, path)).status]).toEqual([path, 403]);
    expect(await send(token, `modules/${MODULE}/actions`, 'reconcile')).toMatchObject({
      status: 403,
      body: {
        error: {
          message: `${userOf('reader')} lacks the verb "reconcile" on modules.addon-operator.io for "${MODULE}": bind the ClusterRole addon-operator-operator of the chart to this user, or another one with this rule`,
        },
      },
    });
    expect((await send(token, 'me')).body).toMatchObject({
      signIn: 'kubernetes',
      user: userOf('reader'),
      groups: expect.arrayContaining(['system:serviceaccounts', 'system:authenticated']) as string[],
      expiresAt: expect.stringMatching(/^20\d\d-.*Z$/) as string,
    });
  });

  test('an operator acts, and Event and log have the name', async () => {
    const token = await tokenOf('operator');
    const { body: me } = await send(token, `me?module=${MODULE}`);
    const actions = me['actions'] as readonly { verb: string; refusal: string | null }[];
    expect(actions.length).toBeGreaterThan(4);
    expect(actions.filter(({ refusal }) => refusal !== null)).toEqual([]);
    expect((await send(token, `modules/${MODULE}/values`)).status).toBe(200);
    expect((await send(token, `modules/${MODULE}/actions`, 'reconcile')).status).toBe(202);
    const by = `page (${userOf('operator')})`;
    await ui.daemon.log.until((records) =>
      records.some(({ msg, by: name }) => msg === 'an action is requested' && name === by),
    );
    const events = async (): Promise<readonly string[]> => {
      const { items } = (await ui.world.expect({ path: '/api/v1/events?limit=500' })) as {
        items: { reason: string; message: string; involvedObject: { name: string } }[];
      };
      return items
        .filter(({ reason, involvedObject }) => reason === 'Requested' && involvedObject.name === MODULE)
        .map(({ message }) => message);
    };
    // Events are about Module objects, which appear some time after the start.
    await vi.waitFor(
      async () => {
        await send(token, `modules/${MODULE}/actions`, 'reconcile');
        expect(await events()).toContain(`reconcile was requested with the ${by}`);
      },
      { timeout: WAIT_MS, interval: 1_000 },
    );
  });

  test('an account without rules learns which one it needs, and may ask who it is', async () => {
    const token = await tokenOf('stranger');
    const { status, body } = await send(token, 'now');
    expect([status, body.error?.message]).toEqual([
      403,
      expect.stringMatching(
        /lacks the verb "list" on modules\.addon-operator\.io: bind the ClusterRole addon-operator-viewer/,
      ),
    ]);
    expect(await send(token, 'me')).toMatchObject({ status: 200, body: { user: userOf('stranger') } });
  });

  test('tokens that have expired, are changed, or belong to an account that is gone are refused', async () => {
    const token = await tokenOf('reader');
    const [header = '', payload = '', signature = ''] = token.split('.');
    const key = await readFile(join(dirname(cluster().kubeconfigPath), 'sa.key'), 'utf8');
    const signed = (claims: object): string => {
      const content = `${header}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}`;
      return `${content}.${createSign('RSA-SHA256').update(content).sign(key, 'base64url')}`;
    };
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as { exp: number; iat: number };
    // Signed like this a token is accepted, so that it is the time for which the next one is refused.
    expect((await send(signed(claims), 'now')).status).toBe(200);
    const past = claims.iat - 7_200;
    const expired = signed({ ...claims, iat: past, nbf: past, exp: past + 3_600 });
    await createAccount('gone');
    const gone = await tokenOf('gone');
    await ui.world.expect({ method: 'DELETE', path: ui.world.path('serviceaccounts', 'gone') });
    const forged = `${header}.${payload}.${signature.slice(0, -8)}AAAAAAAA`;
    for (const refused of [expired, gone, forged, 'nonsense'])
      expect(await send(refused, 'now')).toMatchObject({
        status: 401,
        body: {
          error: { message: expect.stringContaining('the API server does not accept this token') as string },
        },
      });
    const logged = JSON.stringify(ui.daemon.log.records);
    for (const secret of [token, expired, gone]) expect(logged).not.toContain(secret.slice(-40));
  });
});

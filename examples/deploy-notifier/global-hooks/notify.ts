import { type BindingContext, defineHook } from 'addon-operator/sdk';

const ADDRESS = process.env['NOTIFY_URL'] ?? 'http://127.0.0.1:8788/';

const config = {
  afterLaunch: 10,
  afterAuthFail: 10,
  beforeUninstall: 10,
  settings: { timeout: '10s' },
} as const;

/** What the people in the channel get to read. */
function textFor(context: BindingContext<typeof config>): string {
  const { name, version = 'without a version' } = context.module;
  switch (context.binding) {
    case 'afterLaunch':
      return `${name} ${version}: revision ${context.release.revision} is deployed`;
    case 'beforeUninstall':
      return `${name}: revision ${context.release.previousRevision} is removed`;
    case 'afterAuthFail':
      return `${name} ${version} is refused: ${context.authorization.reason}`;
  }
}

/** Tells a server of every deploy that succeeded, every removal, and every module that is not authorized. */
export default defineHook(config, async ({ contexts, metrics, signal }) => {
  for (const context of contexts) {
    const module = context.module.name;
    // A group for each module: what is said of one replaces nothing that was said of another.
    if (context.binding === 'afterLaunch')
      metrics.set('deployed_revision', context.release.revision, { module }, { group: module });
    if (context.binding === 'beforeUninstall') metrics.expire(module);
    const body = JSON.stringify({ text: textFor(context) });
    const response = await fetch(ADDRESS, { method: 'POST', body, signal });
    if (!response.ok) throw new Error(`${ADDRESS} answered ${response.status}`);
  }
});

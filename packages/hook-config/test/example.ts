import { HookConfigParser } from '@addon-operator/hook-config/parse-hook-config';

const parser = new HookConfigParser({ crontab: () => undefined, jqFilter: async () => undefined });

const config = await parser.parse(
  'configVersion: v1\nkubernetes:\n- kind: Pod\n  jqFilter: .metadata.labels\n',
  'module',
);
const [pods] = config.kubernetes;
console.log(pods?.name, pods?.queue, pods?.watch.kind, pods?.watch.executeOnEvents.join());

const broken = 'configVersion: v1\nonStartup: soon\nschedules: []\n';
await parser.parse(broken, 'global').catch((error: unknown) => console.log(String(error)));

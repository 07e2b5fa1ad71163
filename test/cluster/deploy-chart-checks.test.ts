import { expect, test } from 'vitest';
import { describeCluster, describeEachHelm, lacksHelm } from '../support/control-plane/cluster-suite.ts';
import { CHART, helmOf, IMAGE } from '../support/control-plane/operator-chart.ts';

/** Values that cannot work, and a part of the message that leads out of it. */
const REFUSED: readonly (readonly [values: string, message: RegExp])[] = [
  ['replicas=2', /replicas: the chart has no such value.*set highAvailability\.enabled to true/],
  ['replicaCount=2', /replicaCount: the chart has no such value.*set highAvailability\.enabled to true/],
  ['highAvailability.replicas=3', /without highAvailability\.enabled there is one replica/],
  [
    'settings.HELM_TIMEUOT=10m',
    /settings\.HELM_TIMEUOT: the operator has no such setting.*docs\/settings\.md/,
  ],
  ['settings.LOG_LEVEL=debug', /settings\.LOG_LEVEL: the chart sets this variable itself/],
  ['resources.limits.memory=64Mi', /resources\.limits\.memory is 64Mi: with less than 128Mi/],
  ['resources.limits.memory=100000000', /with less than 128Mi/],
  ['temporaryStorage.sizeLimit=many', /temporaryStorage.*sizeLimit/],
  ['configMap=null', /configMap/],
  ['webhook.enabled=true', /webhook.*not allowed/],
  [
    'webhooks.enabled=true,settings.VALIDATING_WEBHOOK_SERVER_CERT=/certs/tls.crt',
    /names a file, but nothing is mounted: add the Secret/,
  ],
  [
    'settings.HELM_TIMEOUT=10',
    /settings\.HELM_TIMEOUT is 10: it must be a duration such as 90s, 20m or 1h30m/,
  ],
  ['metrics.serviceMonitor.interval=often', /metrics.*interval.*pattern/s],
  ['image.repository=', /image\.repository is empty: name the image.*--set image\.repository=/],
  ['commonLabels.app\\.kubernetes\\.io/name=mine', /commonLabels/],
  ['fullnameOverride=Not_A_Name', /fullnameOverride/],
  ['ui.ingress.enabled=true', /leads to a page that is off: set ui\.enabled to true/],
  ['ui.enabled=true,ui.ingress.enabled=true', /ui\.ingress\.host is empty/],
  [
    'ui.enabled=true,ui.ingress.enabled=true,ui.ingress.host=ops.example.com',
    /needs a proxy in the pod.*add one to containers/,
  ],
  ['ui.enabled=true,ui.auth=proxy', /ui\.proxy\.secretName is empty/],
  ['ui.enabled=true,ui.proxy.secretName=page', /ui\.auth is token: set it to proxy/],
  ['ui.enabled=true,ui.auth=none', /ui.*auth/s],
  ['moduleStore.storageClassName=fast,moduleStore.existingClaim=mine', /moduleStore has both/],
  [
    'highAvailability.enabled=true,moduleStore.existingClaim=mine',
    /each replica needs a store of its own: remove storageClassName and existingClaim/,
  ],
  ['moduleSources.platform.url=https://registry.example.com', /moduleSources.*url.*pattern/s],
  ['moduleSources.platform.interval=1m', /moduleSources.*url/s],
  ['moduleInstalls.web.source=platform', /moduleInstalls.*version/s],
  [
    'moduleInstalls.web.source=platform,moduleInstalls.web.version.channel=stable,moduleInstalls.web.version.exact=1.0.0',
    /moduleInstalls.web.version.*most 1|maxProperties.*want 1/s,
  ],
  [
    'settings.ADDON_OPERATOR_MODULE_STORE=/store',
    /ADDON_OPERATOR_MODULE_STORE: the chart sets this variable itself/,
  ],
];

const ACCEPTED = [
  'resources.limits.memory=128Mi',
  'resources.limits.memory=1Gi',
  'resources.limits.memory=2e9',
  'resources=null',
  'settings.OTEL_EXPORTER_OTLP_ENDPOINT=http://collector:4318',
  'settings.HELM_TIMEOUT=10m',
  'settings.HELM_TIMEOUT=1h30m0.5s',
  'highAvailability.enabled=true,highAvailability.replicas=3',
  'highAvailability.enabled=true,moduleStore.enabled=true',
  'moduleStore.storageClassName=fast',
];

describeCluster('values of the chart that cannot work', (cluster) => {
  describeEachHelm((version) => {
    test('are refused with the way out', async () => {
      if (lacksHelm(version)) return;
      const helm = helmOf(cluster(), version);
      for (const [values, message] of REFUSED) {
        const rendered = helm('template', 'op', CHART, ...IMAGE, '--set', values);
        await expect(rendered).rejects.toThrow(message);
      }
      for (const values of ACCEPTED) await helm('template', 'op', CHART, ...IMAGE, '--set', values);
    });
  });
});

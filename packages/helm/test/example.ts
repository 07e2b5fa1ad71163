import { parseManifest } from '@addon-operator/helm/manifest-document';
import { objectTitle, releaseObjects } from '@addon-operator/helm/manifest-object';
import { deployRecovery } from '@addon-operator/helm/recovery-table';
import { maskValues } from '@addon-operator/helm/redact';
import { ReleaseStore } from '@addon-operator/helm/release-store';

const manifest = `---
# Source: web/templates/service.yaml
{apiVersion: v1, kind: Service, metadata: {name: web}}
---
apiVersion: batch/v1
kind: Job
metadata:
  name: migrate
  annotations: {helm.sh/hook: pre-upgrade}
`;
console.log(releaseObjects(parseManifest(manifest)).map(objectTitle));
console.log(maskValues('cannot log in with hunter22', { database: { password: 'hunter22' } }));

// A cluster without releases: helm can install.
const kube = {
  request: () => Promise.resolve({ items: [], metadata: {} }),
  stream: () => Promise.reject(new Error('no watches here')),
};
const store = new ReleaseStore({ kube, namespace: 'shop', storageDriver: 'secret' });
const release = await store.latest('web', new AbortController().signal);
console.log(deployRecovery(release?.status ?? 'none', 'none'));
console.log(deployRecovery('pending-upgrade', 'cut-off'));

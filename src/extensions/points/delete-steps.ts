import type { UninstallSteps } from '../../helm/release-steps.ts';
import type { KubeObject } from '../../kube/kube-object.ts';
import type { Logger } from '../../lib/log.ts';
import type { HostSet } from './customizations.ts';
import { createDeleter } from './deleter.ts';
import { nextOf } from './point.ts';
import { pointOf, titleOf } from './point-of.ts';

/** Asks the extensions of each object, then lets helm delete what they have left to it. */
export function deleteSteps(hosts: HostSet, log: Logger): UninstallSteps {
  return {
    around: async (objects, uninstall, signal) => {
      const kept: KubeObject[] = [];
      for (const object of objects) {
        let isLeftToHelm = false;
        const next = nextOf<KubeObject, void>(() => {
          isLeftToHelm = true;
        });
        const objectLog = log.child({ object: titleOf(object) });
        await pointOf(createDeleter, hosts, object)(object, next, object.apiVersion ?? '', objectLog, signal);
        if (isLeftToHelm) continue;
        objectLog.info({}, 'an extension handles the deletion: helm keeps the object');
        kept.push(object);
      }
      await uninstall(kept);
    },
  };
}

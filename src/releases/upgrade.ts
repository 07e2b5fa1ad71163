// One run of `helm upgrade --install`, called by `deploy.ts`. helm renders and then blocks in its
// post-renderer (`RenderGate`). The rendering comes here: steps transform it, labels are added, and
// it is compared with what is deployed. If it is the same, helm is cancelled before it writes
// anything; otherwise conflicts and owners are checked, and helm applies the changed manifest. The
// record is labelled at the end, so that the next run can skip helm.

import { messageOf, OperatorError } from '@addon-operator/base/errors';
import { NO_SPAN, type Span, type SpanContext } from '@addon-operator/base/trace';
import { type ChartContents, largestFiles } from '@addon-operator/helm/chart-source';
import { addLabels, type LabelledManifest } from '@addon-operator/helm/extra-labels';
import type { HelmOutcome } from '@addon-operator/helm/helm-process';
import { agreesWithBoth } from '@addon-operator/helm/manifest-agreement';
import {
  identityOf,
  type ManifestObject,
  objectKey,
  objectTitle,
} from '@addon-operator/helm/manifest-object';
import { firstAbsent } from '@addon-operator/helm/object-presence';
import { metadataWhenDeployed, renderedChecksum } from '@addon-operator/helm/record-metadata';
import type { GateVerdict } from '@addon-operator/helm/render-gate';
import { withRunDirectory } from '@addon-operator/helm/run-directory';
import { manifestObjects, transformManifest } from '@addon-operator/helm/transform-manifest';
import type { KubeObject } from '@addon-operator/kube-client/kube-object';
import { type ConflictPolicy, checkConflicts, objectsOfOtherReleases } from './conflicts.ts';
import { type ChartModule, type DriverContext, type HelmDuration, lookupOptions } from './driver-context.ts';
import { type GatedRun, gateKeyOf, runGated } from './gated-run.ts';
import { withAdvice } from './helm-advice.ts';
import { exitCodeOf, startHelmSpan } from './helm-spans.ts';
import type { AppliedRelease, ReleaseSteps } from './release-steps.ts';
import { renderAgain } from './second-rendering.ts';

interface UpgradeRequest {
  readonly module: ChartModule;
  readonly chart: ChartContents;
  readonly values: unknown;
  readonly inputDigest: string;
  /** Latest revision before this run; 0 without a release. */
  readonly lastRevision: number;
  /**
   * Whether helm installs, possibly over records of an uninstalled release or of failed installs;
   * else it upgrades.
   */
  readonly isInstalled: boolean;
  /** Objects that are known to belong to this release. */
  readonly ownObjects: readonly ManifestObject[];
  /** If set, helm continues only if the rendering differs from it, or an object is missing. */
  readonly skipIf?: DeployedRendering | undefined;
  readonly conflicts: ConflictPolicy;
  readonly steps?: ReleaseSteps | undefined;
  readonly note?: string | undefined;
  /** Called when helm begins to apply. */
  readonly onApply?: (() => void) | undefined;
  /** Parent of the spans of helm; default: nothing is traced. */
  readonly span?: Span | undefined;
  /** The objects of the last deployed revision, for `steps`. */
  readonly deployedObjects: readonly ManifestObject[];
}

/** The deployed rendering, for the comparison with a new one. */
export interface DeployedRendering {
  readonly checksum: string | undefined;
  /**
   * Reads the deployed manifest if the inputs are the same: it then only has to match where two
   * renderings agree. Undefined when the inputs have changed, or the chart always renders the same.
   */
  readonly readManifest: ((signal: AbortSignal) => Promise<string>) | undefined;
}

type UpgradeOutcome =
  | { readonly type: 'applied'; readonly revision: number; readonly objects: readonly ManifestObject[] }
  | { readonly type: 'unchanged'; readonly objects: readonly ManifestObject[] }
  | FailedUpgrade;

export interface FailedUpgrade {
  readonly type: 'failed';
  readonly error: string;
  /** helm was stopped at its time limit: an immediate retry would most likely take as long. */
  readonly isTimedOut: boolean;
}

/**
 * Runs `helm upgrade --install` once, with an inspection between rendering and applying (see {@link
 * RenderGate}).
 */
export async function upgradeRelease(
  context: DriverContext,
  request: UpgradeRequest,
  signal: AbortSignal,
): Promise<UpgradeOutcome> {
  const upgrade = new Upgrade(context, request, signal);
  return await context.prepared.run(request.module.name, () => upgrade.run(), signal);
}

/** The result of the inspection between rendering and applying. */
interface Inspection {
  readonly manifest: LabelledManifest;
  readonly checksum: string;
  /** The deployed objects, if they equal the rendered ones. */
  readonly unchanged: readonly ManifestObject[] | undefined;
  /** The objects to apply; only read for `steps`. */
  readonly objects: readonly KubeObject[];
}

/** The reason in words for a log. */
export const UNCHANGED = 'its rendered manifests are already deployed';

/** The names of helm's spans. */
const STEPS = { template: 'render', 'check-upgrade': 'check', upgrade: 'apply' } as const;

class Upgrade {
  readonly #context: DriverContext;
  readonly #request: UpgradeRequest;
  readonly #signal: AbortSignal;
  /** Undefined after the end. */
  #phase: HelmDuration['operation'] | undefined = 'template';
  #phaseStartedAtMs: number;
  #inspection: Inspection | undefined;
  /** The span of helm, and of its current phase. */
  #spans: { readonly helm: Span; readonly step: Span } = { helm: NO_SPAN, step: NO_SPAN };

  constructor(context: DriverContext, request: UpgradeRequest, signal: AbortSignal) {
    this.#context = context;
    this.#request = request;
    this.#signal = signal;
    this.#phaseStartedAtMs = context.clock.steadyMs();
  }

  async run(): Promise<UpgradeOutcome> {
    const outcome = await this.#tracedRun();
    const inspection = this.#inspection;
    // A cancelled helm ends with an error, which is the intended result.
    if (inspection?.unchanged !== undefined) return { type: 'unchanged', objects: inspection.unchanged };
    if (outcome.type === 'failed') {
      const { module, chart } = this.#request;
      const error = this.#withPrefix(withAdvice(outcome.error, () => largestFiles(module, chart)));
      return { type: 'failed', error, isTimedOut: outcome.isTimedOut === true };
    }
    // helm must never apply a manifest that was not inspected.
    if (inspection === undefined) {
      throw new OperatorError(
        'HELM_FAILED',
        `helm deployed release "${this.#request.module.name}" without calling its post-renderer`,
      );
    }
    const recorded = await this.#recordSuccess(inspection);
    await this.#request.steps?.afterApply(this.#applied(inspection), this.#signal);
    return recorded;
  }

  async #tracedRun(): Promise<HelmOutcome> {
    try {
      const outcome = await this.#runHelm();
      const isCancelled = this.#inspection?.unchanged !== undefined;
      const error = outcome.type === 'failed' && !isCancelled ? outcome.error : undefined;
      this.#endPhase(undefined, error);
      const { helm } = this.#spans;
      helm.set(isCancelled ? { 'addon_operator.helm.skipped_reason': UNCHANGED } : exitCodeOf(outcome));
      helm.end(error === undefined ? {} : { error });
      return outcome;
    } catch (error) {
      this.#endPhase(undefined, messageOf(error));
      this.#spans.helm.end({ error: messageOf(error) });
      throw error;
    }
  }

  /** Begins the span of helm, which may have been started ahead. */
  #startSpan(ahead: SpanContext | undefined): Span {
    const { span: parent, module, inputDigest, lastRevision } = this.#request;
    const helm = startHelmSpan({ parent, release: module.name }, 'upgrade', ahead);
    helm.set({
      'addon_operator.helm.revision': lastRevision + 1,
      'addon_operator.helm.chart_digest': inputDigest,
    });
    this.#spans = { helm, step: helm.child({ name: 'render' }) };
    return helm;
  }

  async #runHelm(): Promise<HelmOutcome> {
    const { workDir, prepared } = this.#context;
    const { module, values, conflicts } = this.#request;
    const run: GatedRun = { ...this.#request, isForced: conflicts === 'overwrite' };
    const decide = async (rendered: string): Promise<GateVerdict> => await this.#inspect(rendered);
    // A prepared process is used only if its arguments and files are still the same.
    const ahead = await prepared.take(module.name, gateKeyOf(this.#context, run));
    const { context: span } = this.#startSpan(ahead?.span);
    if (ahead !== undefined) return await ahead.finish(values, decide, this.#signal);
    return await withRunDirectory(workDir, (directory) =>
      runGated(this.#context, run, { directory, values, decide, span }, this.#signal),
    );
  }

  async #inspect(rendered: string): Promise<GateVerdict> {
    this.#endPhase('check-upgrade');
    const manifest = addLabels(await this.#transformed(rendered), this.#context.extraLabels);
    const checksum = renderedChecksum(manifest.releaseText);
    const unchanged = await this.#unchangedObjects(manifest, checksum);
    const isUnchanged = unchanged !== undefined;
    const { steps } = this.#request;
    const isRead = !isUnchanged && steps !== undefined && steps.ignoresObjects !== true;
    const objects = isRead ? manifestObjects(manifest.releaseText, this.#context.readYaml) : [];
    this.#inspection = { manifest, checksum, unchanged, objects };
    if (!isUnchanged) {
      // Checks come before `beforeApply`, whose steps may have effects.
      await this.#check(manifest);
      await steps?.beforeApply(objects, this.#signal);
    }
    this.#endPhase(isUnchanged ? undefined : 'upgrade');
    if (isUnchanged) return { type: 'cancel' };
    const { log, namespace } = this.#context;
    const { module } = this.#request;
    log.info(
      { release: module.name, chart: module.path, namespace, operation: this.#operation },
      'Running helm upgrade for release',
    );
    // From here on helm writes to the cluster.
    this.#request.onApply?.();
    return { type: 'apply', manifest: manifest.text };
  }

  async #transformed(rendered: string): Promise<string> {
    const { steps } = this.#request;
    if (steps === undefined || steps.ignoresObjects === true) return rendered;
    return await transformManifest(rendered, this.#context.readYaml, (objects) =>
      steps.transform(objects, this.#signal),
    );
  }

  #applied({ objects }: Inspection): AppliedRelease {
    const { lastRevision, deployedObjects } = this.#request;
    const old = new Set(deployedObjects.map(objectKey));
    const added = objects.filter((object) => !old.has(objectKey(identityOf(object))));
    return { revision: lastRevision + 1, objects, added };
  }

  async #unchangedObjects(
    { releaseText, objects: rendered }: LabelledManifest,
    checksum: string,
  ): Promise<readonly ManifestObject[] | undefined> {
    const { skipIf, ownObjects } = this.#request;
    if (skipIf === undefined) return undefined;
    const isSame = checksum === skipIf.checksum;
    if (!isSame && !(await this.#differsByItselfOnly(releaseText, skipIf))) return undefined;
    // Generated names differ in each rendering, so the deployed ones are checked.
    const objects = isSame ? rendered : ownObjects;
    const { extraLabels } = this.#context;
    const absent = await firstAbsent(objects, extraLabels, lookupOptions(this.#context), this.#signal);
    return absent === undefined ? objects : undefined;
  }

  /**
   * Whether the deployed and the rendered manifest differ only where two renderings of the same
   * inputs differ.
   */
  async #differsByItselfOnly(releaseText: string, { readManifest }: DeployedRendering): Promise<boolean> {
    if (readManifest === undefined) return false;
    try {
      const again = await renderAgain(
        this.#context,
        { ...this.#request, span: this.#spans.step },
        this.#signal,
      );
      const { releaseText: second } = addLabels(await this.#transformed(again), this.#context.extraLabels);
      return agreesWithBoth(await readManifest(this.#signal), releaseText, second);
    } catch (error) {
      this.#signal.throwIfAborted();
      const { name: release } = this.#request.module;
      this.#context.log.warn(
        { release, error },
        'cannot check whether the chart still renders to what is deployed',
      );
      return false;
    }
  }

  /** Failed checks count as failures of the release, like those of helm. */
  async #check(manifest: LabelledManifest): Promise<void> {
    try {
      await this.#refuseForeign(manifest);
      await this.#checkConflicts(manifest);
    } catch (error) {
      if (this.#signal.aborted || !(error instanceof OperatorError)) throw error;
      throw (await this.#request.steps?.onFailure?.(error, this.#signal)) ?? error;
    }
  }

  /** Refuses objects of other releases, which helm's `--take-ownership` would take over. */
  async #refuseForeign({ objects }: LabelledManifest): Promise<void> {
    const { module, ownObjects } = this.#request;
    const own = new Set(ownObjects.map(objectKey));
    const unknown = objects.filter((object) => !own.has(objectKey(object)));
    const foreign = await objectsOfOtherReleases(
      unknown,
      module.name,
      lookupOptions(this.#context),
      this.#signal,
    );
    if (foreign.length === 0) return;
    const list = foreign.map(({ object, owner }) => `${objectTitle(object)} of release ${owner}`).join(', ');
    throw new OperatorError(
      'HELM_FAILED',
      `Cannot deploy release "${module.name}": objects of its chart belong to another release (${list}). ` +
        'Rename them in the chart, or remove them from the other release first. Nothing was changed.',
    );
  }

  async #checkConflicts({ releaseText }: LabelledManifest): Promise<void> {
    const { module, conflicts } = this.#request;
    const check = { release: module.name, manifest: releaseText, policy: conflicts };
    await checkConflicts(this.#context, check, this.#signal);
  }

  async #recordSuccess({ manifest, checksum }: Inspection): Promise<UpgradeOutcome> {
    const { store, log, namespace } = this.#context;
    const { module, lastRevision, inputDigest, note } = this.#request;
    const revision = lastRevision + 1;
    const metadata = metadataWhenDeployed({ revision, inputDigest, checksum }, manifest.objects, note);
    // helm wrote the record; labels and annotations that need the rendering are added to it.
    const record = await store.setMetadata(module.name, revision, metadata, this.#signal);
    if (record === undefined) {
      log.warn(
        { release: module.name, revision },
        'release has an unexpected revision: another helm client also upgrades it',
      );
    }
    log.info({ release: module.name, revision, chart: module.path, namespace }, 'Helm upgrade successful');
    return { type: 'applied', revision, objects: manifest.objects };
  }

  /** The name of the operation in helm's errors. */
  get #operation(): 'install' | 'upgrade' {
    return this.#request.isInstalled ? 'install' : 'upgrade';
  }

  #withPrefix(error: string): string {
    if (this.#inspection === undefined) return `run helm ${this.#operation}: ${error}`;
    return this.#request.isInstalled ? error : `helm upgrade failed: ${error}`;
  }

  /** Ends the current phase, also after a failure, and measures it. */
  #endPhase(next: HelmDuration['operation'] | undefined, error?: string): void {
    const nowMs = this.#context.clock.steadyMs();
    const { helm, step } = this.#spans;
    step.end({ endMs: nowMs, ...(error !== undefined && { error }) });
    if (next !== undefined) this.#spans = { helm, step: helm.child({ name: STEPS[next], startMs: nowMs }) };
    const { name: module } = this.#request.module;
    const operation = this.#phase;
    if (operation !== undefined)
      this.#context.reports.onOperation({ module, operation, durationMs: nowMs - this.#phaseStartedAtMs });
    this.#phase = next;
    this.#phaseStartedAtMs = nowMs;
  }
}

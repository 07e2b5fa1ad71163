/** Bindings of global hooks to the steps of the deploy of every module, in the order of a deploy and its end. */
export const DEPLOY_BINDINGS = [
  'beforeInstall',
  'afterInstall',
  'beforeLaunch',
  'afterLaunch',
  'afterAuthFail',
  'beforeUninstall',
] as const;

export type DeployBinding = (typeof DEPLOY_BINDINGS)[number];

/** The module that is deployed. */
export interface DeployedModule {
  readonly name: string;
  /** Directory of the module; absent when only its release is left. */
  readonly path?: string;
  /** Of module.yaml, else of Chart.yaml; absent without a semantic version. */
  readonly version?: string;
}

/** Why a module is not authorized. */
export interface AuthorizationFailure {
  /** `manifest`: what was found of the module; `installation`: what was made ready to be applied. */
  readonly place: 'manifest' | 'installation';
  readonly policy: string;
  readonly reason: string;
}

interface DeployStep {
  readonly module: DeployedModule;
  readonly release: {
    /** Revision that was deployed before; 0 when there was none. */
    readonly previousRevision: number;
  };
  /** Attempts of this deploy, this one included. */
  readonly attempt: number;
}

/** The input of a hook about the deploy, besides its binding and snapshots. */
export interface DeployFacts {
  readonly beforeInstall: DeployStep;
  readonly afterInstall: DeployStep;
  readonly beforeLaunch: DeployStep;
  readonly afterLaunch: DeployStep & {
    readonly release: {
      /** Revision that is deployed now. */
      readonly revision: number;
    };
  };
  readonly afterAuthFail: {
    readonly module: DeployedModule;
    readonly authorization: AuthorizationFailure;
  };
  readonly beforeUninstall: DeployStep;
}

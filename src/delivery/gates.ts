/** `gates[]` of a ModuleInstall: what must hold after a switch, or the version has failed. */
export type Gate =
  | {
      readonly type: 'ready';
      /** The module must be ready for so long. */
      readonly forMs: number;
    }
  | {
      readonly type: 'query';
      /** Base address of the Prometheus API. */
      readonly url: string;
      readonly promql: string;
      /** The largest good value. */
      readonly max: number;
      readonly forMs: number;
      readonly noData: 'hold' | 'pass' | 'fail';
    };

/** The state of a gate now. `hold` decides nothing: neither good nor bad, with the reason. */
export type GateResult =
  | { readonly type: 'passed' }
  | { readonly type: 'waiting'; readonly reason: string }
  | { readonly type: 'hold'; readonly reason: string }
  | { readonly type: 'failed'; readonly reason: string };

/** Which requests a webhook is asked about, as the API server takes it. */
export interface AdmissionRule {
  readonly apiVersions: readonly string[];
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly operations: readonly string[];
  readonly scope?: string;
}

/** Holds the greeting of the module's values. */
export const CONFIG_MAP = `apiVersion: v1
kind: ConfigMap
metadata: {name: "{{ .Release.Name }}"}
data: {greeting: "{{ .Values.web.greeting }}"}
`;
/** A Service with a port that values can set. */
export const SERVICE = `apiVersion: v1
kind: Service
metadata: {name: web}
spec: {ports: [{port: {{ .Values.web.port | default 80 }} }], selector: {app: web}}
`;
/** A Job that gets no Pods: helm waits for this hook until it is stopped, or the test completes the Job. */
export const HANGING_HOOK = `apiVersion: batch/v1
kind: Job
metadata: {name: hang, annotations: {"helm.sh/hook": "pre-upgrade,pre-delete"}}
spec: {parallelism: 0, template: {spec: {restartPolicy: Never, containers: [{name: a, image: a}]}}}
`;

import type { ToolBench } from './sandbox-lab.ts';

const FILES: Readonly<Record<string, string>> = {
  'web/Chart.yaml': 'apiVersion: v2\nname: web\nversion: 0.1.0\n',
  'web/values.yaml': 'replicas: 1\nport: 80\ngreeting: hello\n',
  'web/templates/config.yaml': `apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}
data:
  greeting: {{ .Values.greeting }}
`,
  'web/templates/deployment.yaml': `apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .Release.Name }}
spec:
  replicas: {{ .Values.replicas }}
  selector:
    matchLabels: {app: {{ .Values.app | default .Release.Name }}}
  template:
    metadata:
      labels: {app: {{ .Values.app | default .Release.Name }}}
    spec:
      containers:
        - name: main
          image: nginx:1.27
          ports:
            - {name: http, containerPort: {{ .Values.port }}}
          env:
            - {name: GREETING, value: {{ .Values.greeting }}}
`,
  'web/templates/service.yaml': `apiVersion: v1
kind: Service
metadata:
  name: {{ .Release.Name }}
spec:
  selector: {app: {{ .Release.Name }}}
  ports:
    - {name: http, port: 80, targetPort: http}
`,
  'web/templates/hook.yaml': `apiVersion: batch/v1
kind: Job
metadata:
  name: {{ .Release.Name }}-migrate
  annotations:
    helm.sh/hook: pre-install,pre-upgrade
    helm.sh/hook-delete-policy: before-hook-creation
spec:
  template:
    spec:
      restartPolicy: Never
      containers:
        - {name: main, image: busybox, command: ["true"]}
`,
};

/** Writes a small chart with a hook below the bench's directory; returns its path. */
export async function writeWebChart(bench: ToolBench): Promise<string> {
  for (const [name, text] of Object.entries(FILES)) await bench.file(name, text);
  return `${bench.directory}/web`;
}

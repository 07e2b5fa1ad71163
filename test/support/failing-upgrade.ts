import { configMapChart, type FileTree } from './world-files.ts';

/**
 * A chart with two ConfigMaps: the second, `<name>-old`, is there until `.Values.<key>.isBroken` is set. From then on there
 * is one in a namespace that does not exist in its place, so that each upgrade fails.
 */
export function changingChart(name: string, key: string): FileTree {
  return {
    ...configMapChart(name, key),
    'templates/other.yaml': `apiVersion: v1
kind: ConfigMap
metadata:
{{- if .Values.${key}.isBroken }}
  name: ${name}-new
  namespace: nowhere
{{- else }}
  name: ${name}-old
  namespace: {{ .Release.Namespace }}
{{- end }}
`,
  };
}

/** The definition of a namespaced kind Widget, version v1, as YAML. @param schema of the kind, in flow style */
export function widgetDefinition(group: string, schema = '{type: object}'): string {
  return `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.${group}}
spec:
  group: ${group}
  scope: Namespaced
  names: {plural: widgets, kind: Widget}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: ${schema}}}]
`;
}

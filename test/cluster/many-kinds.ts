/** A template with an object of each usual kind, written as people write them: short forms, defaults left out, odd spellings. */
export const MANY_KINDS = `apiVersion: apps/v1
kind: Deployment
metadata: {name: many, labels: {app: many}}
spec:
  replicas: 1
  strategy: {rollingUpdate: {maxSurge: 1, maxUnavailable: 0}}
  selector: {matchLabels: {app: many}}
  template:
    metadata: {labels: {app: many}, annotations: {checksum: "1"}}
    spec:
      serviceAccountName: many
      nodeSelector: {kubernetes.io/os: linux}
      securityContext: {}
      initContainers: []
      containers:
        - name: many
          image: many:1
          args: [--a, "1"]
          env: [{name: EMPTY, value: ""}, {name: POD, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]
          ports: [{containerPort: 80, name: http}, {containerPort: 443, name: https}]
          resources: {limits: {cpu: 1000m, memory: 1024Mi}, requests: {cpu: 0.5}}
          livenessProbe: {httpGet: {path: /, port: https}}
          volumeMounts: [{name: files, mountPath: /files}, {name: tmp, mountPath: /tmp}]
      volumes:
        - {name: files, secret: {secretName: many, defaultMode: 0644}}
        - {name: tmp, emptyDir: {}}
---
apiVersion: v1
kind: Service
metadata: {name: many}
spec: {selector: {app: many}, ports: [{port: 80, targetPort: 80, name: http}, {port: 53, protocol: UDP, name: dns}, {port: 443, name: https}]}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: many}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: many}
data: {empty: "", text: "a\\nb", }
---
apiVersion: v1
kind: ConfigMap
metadata: {name: many-empty}
data: {}
---
apiVersion: v1
kind: Secret
metadata: {name: many}
type: Opaque
data: {a: YQ==}
stringData: {b: b}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: many}
rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: many}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: many}
subjects: [{kind: ServiceAccount, name: many, namespace: "{{ .Release.Namespace }}"}]
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: many}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: many}
  maxReplicas: 3
  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 80}}}]
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: many, annotations: {a: "1"}}
spec: {rules: [{host: a.example.com, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: many, port: {number: 80}}}}]}}]}
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: many}
spec: {podSelector: {}, ingress: [{}]}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: many}
spec: {minAvailable: 50%, selector: {matchLabels: {app: many}}}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: many}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1024Mi}}}
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: many}
spec:
  schedule: "0 0 1 1 *"
  jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: a, image: a, command: [a]}]}}}}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: many}
spec:
  serviceName: many
  selector: {matchLabels: {app: many-set}}
  template: {metadata: {labels: {app: many-set}}, spec: {containers: [{name: a, image: a}]}}
  volumeClaimTemplates:
    - {metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: many}
spec:
  selector: {matchLabels: {app: many-all}}
  template:
    metadata: {labels: {app: many-all}}
    spec: {containers: [{name: a, image: a}], tolerations: [{operator: Exists}]}
`;

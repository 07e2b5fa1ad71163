import { join } from 'node:path';
import type { FileTree } from '../test/support/world-files.ts';
import { under } from '../test/support/world-files.ts';

/** Modules for a benchmark: a chart of three objects and a hook in each. */
export interface ModuleSet {
  readonly names: readonly string[];
  /** Those without enabled script. */
  readonly unscripted: readonly string[];
  /** Below the modules directory. */
  readonly files: FileTree;
  /** Below the modules directory, one for each module. */
  readonly hooks: readonly string[];
  readonly enabledScripts: readonly string[];
}

/** Plurals, with their API path, of what the charts are made of. */
export const CHART_COLLECTIONS: readonly (readonly [path: string, plural: string])[] = [
  ['api/v1', 'configmaps'],
  ['api/v1', 'services'],
  ['apis/apps/v1', 'deployments'],
];

/**
 * What a response of a hook or script costs: `usual` is written as most are, through `env`, the configuration of the hook
 * with `cat`; `least` does with what bash has built in.
 */
export type Cost = 'usual' | 'least';

interface Scripts {
  /** Fires so rarely that a benchmark only sees the run that asks for the configuration. */
  readonly hook: string;
  readonly enabled: string;
}

const SCRIPTS: Readonly<Record<Cost, Scripts>> = {
  usual: {
    hook: `#!/usr/bin/env bash
if [[ $1 == "--config" ]]; then
  cat <<EOF
configVersion: v1
schedule:
- name: yearly
  crontab: "0 0 1 1 *"
EOF
  exit
fi
`,
    enabled: `#!/usr/bin/env bash
echo true > "$MODULE_ENABLED_RESULT"
`,
  },
  least: {
    hook: `#!/bin/bash
if [[ $1 == --config ]]; then
  echo '{"configVersion": "v1", "schedule": [{"name": "yearly", "crontab": "0 0 1 1 *"}]}'
  exit
fi
`,
    enabled: `#!/bin/bash
echo true > "$MODULE_ENABLED_RESULT"
`,
  },
};

/** @param scripted which modules have an enabled script: every second one, or none */
export function moduleSet(count: number, scripted: 'half' | 'none', cost: Cost): ModuleSet {
  const names = Array.from({ length: count }, (_, index) => `mod${index}`);
  const directories = names.map((name, index) => `${String(index).padStart(3, '0')}-${name}`);
  const isScripted = (_: string, index: number): boolean => scripted === 'half' && index % 2 === 1;
  const withScript = directories.filter(isScripted);
  return {
    names,
    unscripted: names.filter((name, index) => !isScripted(name, index)),
    hooks: directories.map((directory) => join(directory, 'hooks', 'yearly.sh')),
    enabledScripts: withScript.map((directory) => join(directory, 'enabled')),
    files: Object.assign(
      { 'values.yaml': names.map((name) => `${name}Enabled: true\n${name}: {replicas: 1}\n`).join('') },
      ...names.map((name, index) => under(directories[index] ?? '', moduleFiles(name, SCRIPTS[cost].hook))),
      ...withScript.map((directory) => under(directory, { enabled: SCRIPTS[cost].enabled })),
    ) as FileTree,
  };
}

function moduleFiles(name: string, hook: string): FileTree {
  return {
    'Chart.yaml': `apiVersion: v2\nname: ${name}\nversion: 0.1.0\n`,
    'templates/all.yaml': `apiVersion: v1
kind: ConfigMap
metadata:
  name: ${name}
data:
  replicas: {{ .Values.${name}.replicas | quote }}
---
apiVersion: v1
kind: Service
metadata:
  name: ${name}
spec:
  selector: {app: ${name}}
  ports: [{port: 80}]
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: ${name}
spec:
  replicas: {{ .Values.${name}.replicas }}
  selector: {matchLabels: {app: ${name}}}
  template:
    metadata: {labels: {app: ${name}}}
    spec: {containers: [{name: app, image: app}]}
`,
    'hooks/yearly.sh': hook,
  };
}

import { dump } from 'js-yaml';
import type { NewFile } from './files.ts';
import { configOf, type Trigger } from './trigger.ts';

export const LANGUAGES = ['sh', 'python', 'ts', 'go', 'http'] as const;
export type Language = (typeof LANGUAGES)[number];

interface HookSubject {
  readonly name: string;
  /** Its output in each run. */
  readonly greeting: string;
  readonly trigger: Trigger;
}

/** The files of a hook below the directory of hooks; the first one is the hook. */
export function hookFilesIn(
  language: Language,
  subject: HookSubject,
): readonly (Omit<NewFile, 'path'> & { readonly path: string })[] {
  const { name } = subject;
  switch (language) {
    case 'sh':
      return [{ path: `${name}.sh`, text: shellText(subject), isExecutable: true }];
    case 'python':
      return [{ path: `${name}.py`, text: pythonText(subject), isExecutable: true }];
    case 'ts':
      return [{ path: `${name}.ts`, text: typescriptText(subject) }];
    case 'go':
      return [
        { path: name, text: goScript(name), isExecutable: true },
        { path: `lib/${name}/main.go`, text: goText(subject) },
      ];
    case 'http':
      return [{ path: `${name}.http.yaml`, text: httpText(subject) }];
  }
}

function configText({ trigger, name }: HookSubject): string {
  return dump({ configVersion: 'v1', ...configOf(trigger, name) }, { lineWidth: -1 });
}

function isAllowing({ trigger }: HookSubject): boolean {
  return trigger.type === 'validating';
}

function shellText(subject: HookSubject): string {
  const allow = isAllowing(subject) ? `echo '{"allowed": true}' > "$VALIDATING_RESPONSE_PATH"\n` : '';
  return `#!/bin/sh
set -eu
if [ "\${1:-}" = --config ]; then
  cat <<'CONFIG'
${configText(subject)}CONFIG
  exit
fi

# Why it runs is in "$BINDING_CONTEXT_PATH", values are in "$VALUES_PATH".
# Objects to create, change or delete go to "$KUBERNETES_PATCH_PATH".
echo ${JSON.stringify(subject.greeting)}
${allow}`;
}

function pythonText(subject: HookSubject): string {
  const allow = isAllowing(subject)
    ? `    with open(os.environ["VALIDATING_RESPONSE_PATH"], "w") as file:
        json.dump({"allowed": True}, file)\n`
    : '';
  return `#!/usr/bin/env python3
import json
import os
import sys

CONFIG = """
${configText(subject)}"""


def main():
    # Why it runs. Values are in VALUES_PATH; objects to create, change or delete go to KUBERNETES_PATCH_PATH.
    with open(os.environ["BINDING_CONTEXT_PATH"]) as file:
        contexts = json.load(file)
    print(${JSON.stringify(subject.greeting)}, [context["binding"] for context in contexts])
${allow}

if sys.argv[1:] == ["--config"]:
    print(CONFIG)
else:
    main()
`;
}

function typescriptText(subject: HookSubject): string {
  const { trigger, name, greeting } = subject;
  const config = JSON.stringify(configOf(trigger, name), null, 2)
    .replaceAll(/"([A-Za-z]+)":/g, '$1:')
    .split('\n')
    .join('\n  ');
  const allow = isAllowing(subject) ? '\n    input.admission.allow();' : '';
  return `import { defineHook } from 'addon-operator/sdk';

export default defineHook(
  ${config},
  (input) => {
    // Why it runs is in input.contexts; input.values and input.kubernetes change values and objects.
    input.log.info(${JSON.stringify(greeting)}, { bindings: input.contexts.map(({ binding }) => binding) });${allow}
  },
);
`;
}

function goScript(name: string): string {
  return `#!/bin/sh
# Compiles at each run. In an image, put the program in its place: go build -o hooks/${name} ./hooks/lib/${name}
exec go run "$(dirname "$0")/lib/${name}/main.go" "$@"
`;
}

function goText(subject: HookSubject): string {
  const allow = isAllowing(subject)
    ? `\tif err := os.WriteFile(os.Getenv("VALIDATING_RESPONSE_PATH"), []byte(\`{"allowed": true}\`), 0o600); err != nil {
\t\tpanic(err)
\t}\n`
    : '';
  return `package main

import (
\t"encoding/json"
\t"fmt"
\t"os"
)

const config = \`${configText(subject)}\`

// Why the hook runs.
type bindingContext struct {
\tBinding string \`json:"binding"\`
}

func main() {
\tif len(os.Args) > 1 && os.Args[1] == "--config" {
\t\tfmt.Print(config)
\t\treturn
\t}
\tcontent, err := os.ReadFile(os.Getenv("BINDING_CONTEXT_PATH"))
\tif err != nil {
\t\tpanic(err)
\t}
\tvar contexts []bindingContext
\tif err := json.Unmarshal(content, &contexts); err != nil {
\t\tpanic(err)
\t}
\t// Values are in VALUES_PATH; objects to create, change or delete go to KUBERNETES_PATCH_PATH.
\tfmt.Println(${JSON.stringify(subject.greeting)}, contexts)
${allow}}
`;
}

function httpText(subject: HookSubject): string {
  return `# The server gets a POST with the contexts and values of each run.
address: http://127.0.0.1:8787/${subject.name}
timeout: 10s
${configText(subject)}`;
}

import { chmod, mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** Files by path below a directory. A text that begins with `#!` becomes an executable, `{link}` a symbolic link. */
export type FileTree = Readonly<Record<string, string | { readonly link: string }>>;

export async function writeTree(root: string, tree: FileTree): Promise<void> {
  await mkdir(root, { recursive: true });
  for (const [name, content] of Object.entries(tree)) {
    const path = join(root, name);
    await mkdir(dirname(path), { recursive: true });
    if (typeof content === 'string') await writeWhole(path, content);
    else await symlink(content.link, path);
  }
}

/** Replaces a file in one step, so that no process can run half of it. */
async function writeWhole(path: string, content: string): Promise<void> {
  const draft = join(dirname(path), `.draft-${Math.random().toString(36).slice(2)}`);
  await rm(draft, { force: true });
  await writeFile(draft, content);
  await chmod(draft, content.startsWith('#!') ? 0o755 : 0o644);
  await rename(draft, path);
}

/** An executable hook in sh: prints its configuration for `--config`, else runs the body. */
export function shHook(config: string, body: string): string {
  return `#!/bin/sh
if [ "$1" = "--config" ]; then
cat <<'CONFIG'
configVersion: v1
${config.trim()}
CONFIG
exit 0
fi
${body.trim()}
`;
}

/** An in-process hook that throws in line 5. */
export const THROWING_HOOK = `import { defineHook } from 'addon-operator/sdk';
type Issuer = { readonly name: string };

function issue(issuer: Issuer): never {
  throw new Error(\`no issuer \${issuer.name}\`);
}
export default defineHook({ onStartup: 1 }, () => issue({ name: 'internal' }));
`;

/** A hook that prints `<name> <binding type>` for each lifecycle binding it is given an order for. */
export function announcer(name: string, orders: Readonly<Record<string, number>>): string {
  const config = Object.entries(orders)
    .map(([binding, order]) => `${binding}: ${order}`)
    .join('\n');
  return shHook(
    config,
    `echo "${name} $(sed -E 's/.*"binding":"([A-Za-z]+)".*/\\1/' "$BINDING_CONTEXT_PATH")"`,
  );
}

/** A chart with one ConfigMap whose data come from `.Values.<key>`. */
export function configMapChart(name: string, key: string): FileTree {
  return {
    'Chart.yaml': `apiVersion: v2\nname: ${name}\nversion: 0.1.0\n`,
    'templates/config-map.yaml': `apiVersion: v1
kind: ConfigMap
metadata:
  name: ${name}
  namespace: {{ .Release.Namespace }}
data:
  values: {{ .Values.${key} | toJson | quote }}
  global: {{ .Values.global | toJson | quote }}
`,
  };
}

/** The same tree below another directory. */
export function under(directory: string, tree: FileTree): FileTree {
  return Object.fromEntries(Object.entries(tree).map(([name, content]) => [`${directory}/${name}`, content]));
}

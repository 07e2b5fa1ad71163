import { permissionAdvice } from '@addon-operator/kube-client/api-refusal';

/** Advice for frequent errors that the API server or helm does not explain. */
const ADVICE: readonly { readonly sign: RegExp; readonly advice: string }[] = [
  {
    sign: /because it is being terminated/,
    advice:
      'The namespace is being deleted. The module continues when the namespace is gone and created again; if the deletion does not finish, its status names the finalizer that blocks it.',
  },
  {
    sign: /no matches for kind "/,
    advice:
      'The cluster does not serve this kind. If the chart contains its definition (CRD) in `templates/`, move it to the directory `crds/` of the module: ' +
      'it is applied before the chart. If another module installs it, that module must run first (`requires` in module.yaml).',
  },
  {
    sign: /helm did not end within /,
    advice:
      'It was stopped and will be retried. Check that the API server responds, and what the helm hooks of the chart wait for: each of them may take as long as ' +
      '--helm-timeout (a Job that never completes takes all of it), the whole helm run three times that plus 5 minutes.',
  },
  {
    sign: /No space left on device|no space left on device/,
    advice: 'Free space in the directory for temporary files (--tmp-dir).',
  },
];

/** The size of a file of a chart. */
interface FileSize {
  readonly path: string;
  readonly bytes: number;
}

const TOO_LARGE = /1048576 bytes|etcdserver: request is too large|Request entity too large/;

function tooLargeAdvice(largest: readonly FileSize[]): string {
  const sizes = largest.map(({ path, bytes }) => `${path} (${Math.ceil(bytes / 1024)} KiB)`).join(', ');
  return (
    "helm's record of the release would be larger than an object of the cluster may be (1 MiB), so helm refused it and changed nothing. " +
    'It holds the chart, the files that its templates may read with .Files, values and manifests, compressed. ' +
    (sizes === '' ? '' : `The largest files are ${sizes}. `) +
    'Exclude files that no template reads with .helmignore, move large data out of the values, or split the module.'
  );
}

/**
 * Adds advice to an error if there is any.
 *
 * @param largestFiles of the chart, called if its record is too large; default: none are known
 */
export function withAdvice(error: string, largestFiles: () => readonly FileSize[] = () => []): string {
  const found = ADVICE.filter(({ sign }) => sign.test(error)).map(({ advice }) => advice);
  if (TOO_LARGE.test(error)) found.push(tooLargeAdvice(largestFiles()));
  const permission = permissionAdvice(error);
  return [error, ...found, ...(permission === undefined ? [] : [permission])].join('\n');
}

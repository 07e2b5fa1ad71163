// `npm run image`: builds the image of the operator with the engine of this machine.
import { parseArgs } from 'node:util';
import { buildImage, saveImage } from './build-image.ts';
import { debianPackages, isStep, oneOf, runScript } from './command-line.ts';
import { ENGINE_NAMES } from './engine.ts';

const USAGE = `npm run image -- [--tag NAME] [--engine docker|podman|buildah] [--helm 3|4] [--with apt:python3,…]
  [--from IMAGE] [--bases registry|local] [--debian-snapshot TIME] [--output FILE.tar] [--verbose]`;

await runScript('image', async (signal) => {
  const { values } = parseArgs({
    options: {
      tag: { type: 'string' },
      engine: { type: 'string' },
      helm: { type: 'string' },
      with: { type: 'string' },
      from: { type: 'string' },
      bases: { type: 'string' },
      'debian-snapshot': { type: 'string' },
      output: { type: 'string' },
      verbose: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    console.log(USAGE);
    return;
  }
  const engine = oneOf('engine', values.engine, ENGINE_NAMES);
  const bases = oneOf('bases', values.bases, ['registry', 'local']);
  const helm = oneOf('helm', values.helm, ['3', '4']);
  const debianSnapshot = values['debian-snapshot'];
  const onProgress = (message: string): void => console.log(`image: ${message}`);
  const image = await buildImage(
    {
      ...(values.tag === undefined ? {} : { tag: values.tag }),
      ...(engine === undefined ? {} : { engine }),
      ...(bases === undefined ? {} : { bases }),
      ...(debianSnapshot === undefined ? {} : { debianSnapshot }),
      helmMajor: helm === '3' ? 3 : 4,
      extraPackages: debianPackages(values.with),
      ...(values.from === undefined ? {} : { from: values.from }),
      onProgress,
      onLine: (line) => {
        if (values.verbose || isStep(line)) onProgress(line);
      },
    },
    signal,
  );
  onProgress(`built ${image.name} in ${(image.durationMs / 1000).toFixed(1)} s`);
  if (values.output === undefined) return;
  await saveImage(image, values.output, signal);
  onProgress(`wrote ${values.output}`);
});
